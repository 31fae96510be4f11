"""OpenSpiel: exact chance, its own random-play test, redraws, search, learning, exact solutions."""

import itertools
import math
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chi_square import fits
from conftest import Setting

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.observation import make_observation

from crapo_env.adapters import openspiel
from crapo_env.crapo.chance import weigh_divisions
from crapo_env.game import Game
from crapo_env.lazy import LazyGame
from crapo_env.reis_nos_cantos_small import small_chance
from training.frameworks import openspiel_dqn, openspiel_exact

SHORT = "reis_nos_cantos(target=1,max_steps=40)"


def load(setting: Setting) -> Any:
    parameters = openspiel.as_parameters(setting.game, setting.game.read_options(setting.options))
    return pyspiel.load_game(setting.game.name, parameters)


def pick(play: LazyGame, rng: np.random.Generator) -> int:
    """Return an outcome of chance, as likely as it is, or a random action."""
    if play.node is not None:
        return rng.choice(play.node.outcomes, p=play.node.probabilities)
    return rng.choice(play.legal)


def walk(game: Any, seed: int, most: int = 10**6) -> Any:
    """Yield the states of a random game, chance as it is likely."""
    rng, state = np.random.default_rng(seed), game.new_initial_state()
    for _ in range(most):
        yield state
        if state.is_terminal():
            return
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))


def test_openspiels_own_test_passes(seating: Setting) -> None:
    pyspiel.random_sim_test(load(seating), num_sims=1, serialize=True, verbose=False)


def test_openspiels_own_test_passes_for_small_games_and_early_rewards() -> None:
    for name in ("reis_nos_cantos_small", "reis_nos_cantos(reward=points,target=5,num_players=4)"):
        game = pyspiel.load_game(name)
        pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    at_end, early = pyspiel.GameType.RewardModel.TERMINAL, pyspiel.GameType.RewardModel.REWARDS
    assert game.get_type().reward_model == early
    assert pyspiel.load_game("reis_nos_cantos").get_type().reward_model == at_end


def test_chance_gives_one_card_at_a_time_with_probabilities_that_add_up(setting: Setting) -> None:
    game = LazyGame(setting.game, setting.options)
    rng, nodes = np.random.default_rng(3), 0
    for _ in range(400):
        if game.is_over:
            break
        if game.node is not None:
            nodes += 1
            assert list(game.node.outcomes) == sorted(set(game.node.outcomes))
            assert min(game.node.probabilities) > 0
            assert sum(game.node.probabilities) == pytest.approx(1, abs=1e-12)
            game.apply(int(rng.choice(game.node.outcomes, p=game.node.probabilities)))
        else:
            game.apply(int(rng.choice(game.legal)))
    assert nodes > 9
    if game.dealt:
        setting.game.check_state(game.games)


@pytest.mark.parametrize("kinds", [(2, 0, 0, 0), (1, 1, 1, 2), (2, 1, 2, 1), (0, 2, 2, 0)])
def test_divisions_are_weighed_as_counting_every_one_of_them_does(kinds: tuple[int, ...]) -> None:
    """The weight is that of crapo.hidden: C(m, m/2) / 2**m with m faces owned once each."""
    seen = [(0, 0)] * kinds[0] + [(1, 0)] * kinds[1] + [(0, 1)] * kinds[2] + [(1, 1)] * kinds[3]
    unseen = [face for face, (a, b) in enumerate(seen) for _ in range(2 - a - b)]
    for hidden in range(len(unseen) + 1):
        total = 0.0
        for chosen in itertools.combinations(range(len(unseen)), hidden):
            owned = [a for a, _ in seen]
            for k in chosen:
                owned[unseen[k]] += 1
            m = owned.count(1)
            total += math.comb(m, m // 2) / 2**m
        assert weigh_divisions(*kinds, hidden) == pytest.approx(total, rel=1e-12)


def test_cards_are_drawn_as_often_as_chance_says(game: Game) -> None:
    """Held against the engine's redraws of what is hidden, in the middle of games."""
    if "hands" in game.dtype.names:
        pytest.skip("chance knows the hands, a redraw does not; all cards of the stock are alike")
    draws = 20_000
    for seed in range(3):
        rng, play = np.random.default_rng(seed), LazyGame(game)
        while len(play.log) < 150 or play.node is None:
            before, action = play.games.copy(), int(pick(play, rng))
            play.apply(action)
        copies = np.repeat(before, draws)
        game.resample(copies, 0, np.arange(draws, dtype=np.uint64))
        found = Counter(play.chance.read(one, action, one)[0] for one in np.split(copies, draws))
        assert set(found) <= set(play.node.outcomes)
        assert fits([found[card] for card in play.node.outcomes], play.node.probabilities)


def test_pieces_of_the_observation_have_their_names(seating: Setting) -> None:
    game = load(seating)
    observation = make_observation(game)
    *_, state = walk(game, 4, 90)
    observation.set_from(state, 1)
    expected = seating.game.fields.split(state.play.observe(1))
    assert set(observation.dict) == set(expected)
    for name, piece in expected.items():
        assert observation.dict[name].shape == piece.shape
        assert np.array_equal(observation.dict[name], piece)


def test_states_are_copied_and_serialised(seating: Setting) -> None:
    game = load(seating)
    for count, state in enumerate(walk(game, 5, 150)):
        if count % 25 == 0:
            copies = (
                [state.clone(), game.deserialize_state(game.serialize_state(state))]
                if (hasattr(game, "serialize_state"))
                else [state.clone(), game.deserialize_state(state.serialize())]
            )
            copies.append(pickle.loads(pickle.dumps(state)))
            for other in copies:
                assert str(other) == str(state) and other.history() == state.history()
                assert other.legal_actions() == state.legal_actions()
                before = str(state)
                if not other.is_terminal():
                    other.apply_action(other.legal_actions()[0])
                    assert str(state) == before


def test_redrawn_games_go_on_with_other_cards(seating: Setting) -> None:
    """What other seats hold is redrawn, also in the history; the own history is the same."""
    rng, hands = np.random.default_rng(6), set()
    *_, state = walk(load(seating), 6, 70)
    for _ in range(12):
        other = state.resample_from_infostate(0, rng.random)
        assert other.information_state_string(0) == state.information_state_string(0)
        assert len(other.history()) == len(state.history())
        hands.add(other.play.games.tobytes())
    assert (len(hands) > 6) == ("hands" in seating.game.dtype.names)


@pytest.mark.parametrize("name", [SHORT, "crapo(max_steps=80)"])
def test_pythons_mcts_and_ismcts_play(name: str) -> None:
    """MCTS sees all; ISMCTS redraws what its seat cannot know."""
    game, rng = pyspiel.load_game(name), np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng)
    bots = [
        mcts.MCTSBot(game, 1.5, 3, evaluator, random_state=rng),
        ismcts.ISMCTSBot(game, evaluator, 1.5, 3, random_state=rng),
    ]
    state, moves = game.new_initial_state(), [0, 0]
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        else:
            seat = state.current_player()
            action = bots[seat].step(state)
            assert action in state.legal_actions()
            moves[seat] += 1
            state.apply_action(action)
    assert min(moves) > 0 and sum(state.returns()) == pytest.approx(0)


def test_dqn_learns() -> None:
    before, after = openspiel_dqn.main(["--episodes", "1500", "--evaluate", "300"])
    assert after > before + 0.5 and after > 0.3


def test_a_small_game_is_solved_exactly_and_bounds_hold() -> None:
    """Exact best responses to random play get 1 as the starter and 0.1 as the other, 1.1 in all."""
    game = pyspiel.load_game(openspiel_exact.GAME)
    histories, states = openspiel_exact.count_tree(game, 10**6)
    assert (histories, states) == (21857, 3756)
    tree = pyspiel.load_efg_game(openspiel_exact.as_efg(game))
    random_play = pyspiel.UniformRandomPolicy(tree)
    assert pyspiel.exploitability(tree, random_play) == pytest.approx(0.55)
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    assert pyspiel.exploitability(tree, solver.average_policy()) < 0.01


def test_our_learned_response_is_a_lower_bound_of_the_exact_one(tmp_path: Path) -> None:
    """Its value is worked out exactly too, so that no luck of the deal is in it."""
    game = pyspiel.load_game(openspiel_exact.GAME)
    exact = openspiel_exact.best_response_values(game, openspiel_exact.as_policy(game, "random"))
    assert exact == pytest.approx([1.0, 0.1])
    bound = openspiel_exact.learn_response("random", 10_000, tmp_path / "response")
    assert all(found <= best + 1e-9 for found, best in zip(bound, exact, strict=True))
    assert sum(bound) > sum(exact) - 0.3, "and it is near"


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ValueError, match=r"3 cards, but|need 7 cards, but the pack has 4"):
        small_chance(ranks=2, suits=2, hand_cards=2, crosses=1)
    with pytest.raises(ValueError, match="ranks must be from 1 to 13, not 14"):
        small_chance(ranks=14, suits=2, hand_cards=2, crosses=1)
    env = Setting(openspiel.SMALL_REIS.game, {}).env()
    env.reset(seed=1)
    env.step(int(np.argmax(env.last()[0]["action_mask"])))
    with pytest.raises(ValueError, match="freshly dealt"):
        openspiel.state_of(env)
