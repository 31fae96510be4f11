"""Exact play of a small Reis nos cantos: the size of its tree, CFR+ and exact best responses.

`python -m training.frameworks.openspiel_exact` solves the smallest game in which both colours build
and prints how exploitable CFR+ is, and what exact best responses and those that our own
`training.best_response` learns get from bots. `--sizes` prints what other packs come to.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import best_response, expected_game_score
from rich.console import Console

import crapo_env.adapters.openspiel  # noqa: F401  registers the games
from crapo_env.bots import make_policy
from crapo_env.reis_nos_cantos_small import small_game
from training.best_response import Target, make_settings, respond

SIZE = {"ranks": 2, "suits": 2, "hand_cards": 1, "crosses": 0}
GAME = f"reis_nos_cantos_small({','.join(f'{name}={n}' for name, n in SIZE.items())})"
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


def as_policy(game: Any, spec: str) -> Any:
    """Return a bot as an OpenSpiel policy; random play with its true probabilities."""
    return policies.UniformRandomPolicy(game) if spec == "random" else BotPolicy(game, spec)


def best_response_values(game: Any, policy: Any) -> list[float]:
    """Return what an exact best response gets in each seat while a policy plays the other."""
    root, values = game.new_initial_state(), []
    for seat in range(game.num_players()):
        response = best_response.BestResponsePolicy(game, seat, policy)
        values.append(float(response.value(root)))
    return values


def learn_response(spec: str, decisions: int, folder: Path) -> list[float]:
    """Return our lower bound: what `training.best_response` gets from a bot in each seat, exactly.

    Args:
        spec: of the bot.
        decisions: budget of the response.
        folder: of the training run.
    """
    small = small_game(**SIZE)
    options = small.read_options({"target": 1, "first_player": 0})
    target = Target(spec, small, options, None)
    checkpoint = respond(target, make_settings(target, None, decisions, 0), folder, Console())
    game = pyspiel.load_game(GAME)
    response, opponent = BotPolicy(game, f"checkpoint:{checkpoint}"), as_policy(game, spec)
    values = []
    for seat in range(game.num_players()):
        players = [response, opponent] if seat == 0 else [opponent, response]
        value = expected_game_score.policy_value(game.new_initial_state(), players)
        values.append(float(value[seat]))
    return values


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=200, help="of CFR+")
    parser.add_argument("--decisions", type=int, default=30_000, help="of the learned response")
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
    torch.set_num_threads(1)
    game = pyspiel.load_game(GAME)
    print(f"CFR+ after {args.iterations} iterations: {solve(game, args.iterations):.6f}")
    for spec in ("random", "first_legal", "greedy"):
        exact = best_response_values(game, as_policy(game, spec))
        with TemporaryDirectory() as folder:
            bound = learn_response(spec, args.decisions, Path(folder) / "response")
        print(f"{spec}: a best response gets {exact} in the two seats, a learned one {bound}")


if __name__ == "__main__":
    main()
