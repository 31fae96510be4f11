"""The tree search: what it knows, how it counts, what it keeps, who leads it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Setting
from tiny_training import positions, tiny_config, tiny_network

from crapo_env.batch import Batch
from crapo_env.bots import evaluators, list_policies, make_policy
from crapo_env.bots.random_bot import RandomPolicy
from crapo_env.bots.tree_search import TreeSearchPolicy
from crapo_env.game import Game
from training.checkpoint import make_card, save_checkpoint


def make_search(game: Game, spec: str = "ismcts:playouts=48", seed: int = 1) -> TreeSearchPolicy:
    policy = make_policy(spec, game, seed)
    assert isinstance(policy, TreeSearchPolicy)
    return policy


def middle_of_games(setting: Setting, n: int, steps: int) -> Batch:
    """Return games after so many greedy moves, in all of which there is something to choose."""
    batch = setting.batch(4 * n)
    batch.reset(9)
    greedy = make_policy("greedy", setting.game)
    for _ in range(steps):
        batch.step(greedy.act(batch.observations, batch.masks))
    rows = np.flatnonzero(batch.num_legal > 1)[:n]
    chosen = setting.batch(len(rows))
    chosen.games[:] = batch.games[rows]
    chosen.refresh()
    return chosen


def test_states_that_look_the_same_get_the_same_visits(seating: Setting) -> None:
    """The cards that a player cannot see are drawn anew in a second state behind his view."""
    batch = middle_of_games(seating, 4, 25)
    other = seating.batch(len(batch))
    other.games[:] = batch.games
    for i in range(len(batch)):
        seat = int(batch.current_player[i])
        other.games[i : i + 1] = seating.game.resample_hidden(batch.games[i : i + 1], seat, 77)
    other.refresh()
    assert batch.games.tobytes() != other.games.tobytes()
    first, second = make_search(seating.game), make_search(seating.game)
    chosen = first.act(batch.observations, batch.masks)
    assert second.act(other.observations, other.masks).tolist() == chosen.tolist()
    assert np.array_equal(first.visits, second.visits)


def test_the_budget_is_spent_on_legal_actions_and_the_most_visited_is_played(
    seating: Setting,
) -> None:
    batch = middle_of_games(seating, 4, 30)
    policy = make_search(seating.game)
    chosen = policy.act(batch.observations, batch.masks)
    for visits, mask, action in zip(policy.visits, batch.masks, chosen, strict=True):
        assert visits.sum() == 48
        assert (visits[mask == 0] == 0).all()
        assert visits[action] == visits.max()


def test_a_forced_move_costs_nothing(game: Game) -> None:
    batch = Setting(game, {}).batch(1)
    batch.reset(4)
    mask = np.zeros_like(batch.masks)
    only = int(batch.legal[0, batch.num_legal[0] - 1])
    mask[0, only] = 1
    policy = make_search(game)
    assert policy.act(batch.observations, mask).tolist() == [only]
    assert policy.visits[0].sum() == 0


def test_the_tree_goes_on_in_the_same_turn_and_begins_anew_after_a_draw(game: Game) -> None:
    """A move that shows no new card keeps what the search knows of the moves after it."""
    kept, fresh = 0, 0
    policy = make_search(game, "ismcts:playouts=64")
    batch = Setting(game, {}).batch(1)
    batch.reset(6)
    for _ in range(60):
        seat, before = int(batch.current_player[0]), len(policy._kept)
        action = policy.act(batch.observations, batch.masks)
        spent, is_kept = int(policy.visits[0].sum()), len(policy._kept) > before
        assert spent == 0 or spent >= 64
        kept += spent > 64
        observation = batch.observations.copy()
        batch.step(action)
        if is_kept:
            assert int(batch.current_player[0]) == seat
            assert batch.observations[0].tobytes() in policy._kept
        fresh += spent > 0 and not is_kept
        assert spent == 0 or observation[0].tobytes() not in policy._kept, "used up"
    assert kept > 0
    assert fresh > 0


def test_a_kept_tree_obeys_a_mask_that_forbids_more(game: Game) -> None:
    """The tree cannot know of arrangements from before its root (C36); the mask does."""
    policy = make_search(game, "ismcts:playouts=64")
    batch = Setting(game, {}).batch(1)
    batch.reset(6)
    forbidden = 0
    for _ in range(60):
        kept = policy._kept.get(batch.observations[0].tobytes())
        mask = batch.masks.copy()
        if kept and batch.num_legal[0] > 2:
            mask[0, max(kept.children, key=kept.visits_of)] = 0
            forbidden += 1
        action = policy.act(batch.observations, mask)
        assert mask[0, action[0]] == 1
        batch.step(action)
    assert forbidden > 0


def test_other_playouts_lead_to_other_counts(game: Game) -> None:
    batch = middle_of_games(Setting(game, {}), 6, 20)
    counts = []
    for setting in ("rollout=heuristic", "rollout=greedy", "trust=0", "explore=300", "width=4"):
        policy = make_search(game, f"ismcts:playouts=64,noise=0,{setting}")
        policy.act(batch.observations, batch.masks)
        counts.append(np.array(policy.visits).tobytes())
    assert len(set(counts)) == len(counts)
    with pytest.raises(ValueError, match=r"rollout=heuristic\|greedy \(who plays on\)"):
        make_policy("ismcts:rollout=nobody", game)


def test_leaves_get_shares_that_sum_to_one_and_ends_what_was_won(seating: Setting) -> None:
    batch = seating.batch(32, auto_reset=False)
    batch.reset(2)
    policy = make_policy("greedy", seating.game)
    while (batch.num_legal > 0).sum() > 16:  # half of the games to the end
        going = batch.num_legal > 0
        actions = np.full(32, -1)
        actions[going] = policy.act(batch.observations[going], batch.masks[going])
        batch.step(actions)
    search: Any = make_search(seating.game)
    seeds = np.arange(32, dtype=np.uint64)
    chances, shares = search._evaluator.evaluate(batch, batch.games[:1], seeds)
    assert shares.sum(axis=1) == pytest.approx(1)
    going = batch.num_legal > 0
    assert chances[going].sum(axis=1) == pytest.approx(1)
    assert (chances[batch.masks == 0] == 0).all()
    ended = ~going
    won = evaluators.shares_won(batch.games["rewards"][:, : shares.shape[1]])
    assert shares[ended] == pytest.approx(won[ended])
    assert (won[ended].max(axis=1) == 1).any()


def test_final_rewards_are_shares_of_the_win() -> None:
    rewards = np.array([[1.0, -1, 0, 0], [-1, -1, 0.5, 0.5], [0, 0, 0, 0]])
    expected = [[1, 0, 0, 0], [0, 0, 0.5, 0.5], [0.25] * 4]
    assert evaluators.shares_won(rewards).tolist() == expected


@pytest.fixture
def checkpoint(game: Game, tmp_path: Path) -> str:
    """Return the spec of an untrained network."""
    network = tiny_network(game)
    card = make_card(game, tiny_config(game).as_dict(), network, 0)
    save_checkpoint(tmp_path / "tiny.safetensors", network, card)
    return f"checkpoint:{tmp_path}/tiny.safetensors"


def test_a_network_leads_a_search(game: Game, checkpoint: str) -> None:
    observations, masks = positions(game, 12)
    policy = make_search(game, f"{checkpoint}+search:playouts=16,width=4")
    assert policy.name == "tiny+search:playouts=16,width=4"
    chosen = policy.act(observations, masks)
    assert masks[np.arange(12), chosen].all()
    assert {int(visits.sum()) for visits in policy.visits} <= {0, 16}


class Leader(RandomPolicy):
    """Says that the last legal action is likely and gives every position the same value."""

    def evaluate(self, observations: np.ndarray, masks: np.ndarray) -> tuple[Any, np.ndarray]:
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        chances = 0.1 * masks / masks.sum(axis=1, keepdims=True)
        chances[np.arange(len(masks)), last] += 0.9
        return chances, np.full(len(masks), 0.6)


def test_a_search_tries_most_what_its_leader_thinks_likely(game: Game) -> None:
    batch = middle_of_games(Setting(game, {}), 6, 21)
    policy = TreeSearchPolicy(
        game,
        1,
        evaluator=evaluators.PolicyEvaluator(Leader(game)),
        stage=None,
        playouts=40,
        ms=0,
        width=2,
        explore=100,
    )
    policy.act(batch.observations, batch.masks)
    for visits, n, legal in zip(policy.visits, batch.num_legal, batch.legal, strict=True):
        assert visits[legal[n - 1]] > 20, "more than half of them"


def test_a_network_counts_for_the_player_on_turn(seating: Setting) -> None:
    """What he does not expect to win is shared by the others."""
    batch = middle_of_games(seating, 8, 21)

    judge = evaluators.PolicyEvaluator(Leader(seating.game))
    _, shares = judge.evaluate(batch, batch.games[:1], np.zeros(8, np.uint64))
    n = shares.shape[1]
    rest = np.full((8, n), 0.2 / (n - 1))
    rest[np.arange(8), batch.current_player] = 0.8
    assert shares == pytest.approx(rest)


def test_only_what_says_chances_and_values_can_lead_a_search(game: Game, checkpoint: str) -> None:
    with pytest.raises(ValueError, match="greedy says no probabilities and values"):
        make_policy("greedy+search:playouts=4", game)
    with pytest.raises(ValueError, match=r"'nodes=4' in .* is no setting of search: playouts=400"):
        make_policy(f"{checkpoint}+search:nodes=4", game)
    assert "A tree search led by it" in list_policies(game)["checkpoint:PATH+search"]
