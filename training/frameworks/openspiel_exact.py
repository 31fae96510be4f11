"""Exact play of a small Reis nos cantos: the size of its tree, CFR+ and exact best responses.

`python -m training.frameworks.openspiel_exact` solves the smallest game in which both colours build
and prints how exploitable CFR+, uniformly random play and our own bots are. `--sizes` prints what
other packs come to.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import best_response

import crapo_env.adapters.openspiel  # noqa: F401  registers the games
from crapo_env.bots import make_policy

GAME = "reis_nos_cantos_small(ranks=2,suits=2,hand_cards=1,crosses=0)"
SIZES = (
    "ranks=4,suits=1,hand_cards=1,crosses=1",
    "ranks=5,suits=1,hand_cards=1,crosses=1",
    "ranks=2,suits=2,hand_cards=1,crosses=0",
    "ranks=3,suits=2,hand_cards=1,crosses=0",
    "ranks=3,suits=2,hand_cards=1,crosses=1",
    "ranks=2,suits=4,hand_cards=1,crosses=0",
)


def count_tree(game: Any, limit: int) -> tuple[int, int]:
    """Return how many histories and information states a game has; stop above a limit."""
    waiting, histories, seen = [game.new_initial_state()], 0, set()
    while waiting and histories <= limit:
        state = waiting.pop()
        histories += 1
        if not state.is_terminal():
            if not state.is_chance_node():
                seen.add(state.information_state_string())
            waiting += [state.child(action) for action in state.legal_actions()]
    return histories, len(seen)


def as_efg(game: Any) -> str:
    """Return the whole tree as Gambit's text, which OpenSpiel's compiled algorithms read."""
    lines = ['EFG 2 R "game" { "player_0" "player_1" }']
    numbers: list[dict[str, int]] = [{} for _ in range(game.num_players())]
    waiting, count = [game.new_initial_state()], 0
    while waiting:
        state = waiting.pop()
        count += 1
        if state.is_terminal():
            returns = " ".join(str(amount) for amount in state.returns())
            lines.append(f't "" {count} "" {{ {returns} }}')
            continue
        if state.is_chance_node():
            outcomes = " ".join(f'"{a}" {p:.16f}' for a, p in state.chance_outcomes())
            lines.append(f'c "" {count} "" {{ {outcomes} }} 0')
        else:
            player = state.current_player()
            known = numbers[player]
            number = known.setdefault(state.information_state_string(), len(known) + 1)
            actions = " ".join(f'"{action}"' for action in state.legal_actions())
            lines.append(f'p "" {player + 1} {number} "" {{ {actions} }} 0')
        waiting += [state.child(action) for action in reversed(state.legal_actions())]
    return "\n".join(lines) + "\n"


def solve(game: Any, iterations: int) -> float:
    """Return the exploitability of CFR+'s average policy."""
    tree = pyspiel.load_efg_game(as_efg(game))
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return float(pyspiel.exploitability(tree, solver.average_policy()))


class BotPolicy(policies.Policy):  # type: ignore[misc]
    """A deterministic bot of the package as an OpenSpiel policy."""

    def __init__(self, game: Any, spec: str) -> None:
        super().__init__(game, list(range(game.num_players())))
        self.bot = make_policy(spec, game.game)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Return the bot's action with certainty."""
        seat = state.current_player() if player_id is None else player_id
        mask = np.zeros(len(self.bot.game.actions), np.int8)
        mask[state.legal_actions()] = 1
        return {self.bot.act(state.play.observe(seat), mask): 1.0}


def best_response_values(game: Any, policy: Any) -> list[float]:
    """Return what an exact best response gets in each seat while a policy plays the other."""
    root, values = game.new_initial_state(), []
    for seat in range(game.num_players()):
        response = best_response.BestResponsePolicy(game, seat, policy)
        values.append(float(response.value(root)))
    return values


def learn_response(game: Any, seat: int, opponent: Any, episodes: int, seed: int) -> float:
    """Return our lower bound on the best response: what a learned one gets, over fresh games.

    A table of Monte Carlo values by information state, epsilon-greedy, is learned against the
    frozen opponent in the first half of the episodes; the second half plays it greedily.
    """
    rng = np.random.default_rng(seed)
    table: dict[str, dict[int, list[float]]] = {}
    results = []
    for k in range(episodes):
        learning = k < episodes // 2
        state, path = game.new_initial_state(), []
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                action = int(rng.choice(outcomes, p=chances))
            elif state.current_player() != seat:
                options = opponent.action_probabilities(state)
                action = int(rng.choice(list(options), p=list(options.values())))
            else:
                legal, key = state.legal_actions(), state.information_state_string()
                values = table.setdefault(key, {a: [0.0, 0.0] for a in legal})
                action = max(legal, key=lambda a: values[a][0])
                if learning and rng.random() < 0.3:
                    action = int(rng.choice(legal))
                path.append(values[action])
            state.apply_action(action)
        result = state.returns()[seat]
        if learning:
            for entry in path:
                entry[1] += 1
                entry[0] += (result - entry[0]) / entry[1]
        else:
            results.append(result)
    return float(np.mean(results))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default=GAME, help="name and parameters in OpenSpiel")
    parser.add_argument("--iterations", type=int, default=200, help="of CFR+")
    parser.add_argument("--episodes", type=int, default=20_000, help="of the learned response")
    parser.add_argument("--sizes", action="store_true", help="count the trees of other packs")
    parser.add_argument("--limit", type=int, default=1_000_000, help="histories counted at most")
    args = parser.parse_args(arguments)
    if args.sizes:
        for sizes in SIZES:
            game = pyspiel.load_game(f"reis_nos_cantos_small({sizes})")
            histories, states = count_tree(game, args.limit)
            more = "more than " if histories > args.limit else ""
            print(f"{sizes}: {more}{histories} histories, {states} information states")
        return
    game = pyspiel.load_game(args.game)
    print(f"CFR+ after {args.iterations} iterations: {solve(game, args.iterations):.6f}")
    random_play = policies.UniformRandomPolicy(game)
    others = [(spec, BotPolicy(game, spec)) for spec in ("first_legal", "greedy", "planner")]
    for name, policy in [("random", random_play), *others]:
        values = best_response_values(game, policy)
        seats = range(game.num_players())
        bounds = [learn_response(game, s, policy, args.episodes, seed=s) for s in seats]
        exact, bound = (sum(x) / len(x) for x in (values, bounds))
        print(f"{name}: exploitability {exact:.4f} exactly, learned bound {bound:.4f}")


if __name__ == "__main__":
    main()
