"""Trajectories belong to a seat: whoever moves in between, nothing that a seat receives is lost."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import Setting

pytest.importorskip("torch")

import torch
from tiny_training import make_collector, tiny_config, tiny_network

from crapo_env.game import Game
from training.collector import ENDED, OPEN, Collector
from training.league import LEARNER
from training.network import Network
from training.ppo import Decisions

PLAYED = 6  # collections


class Ledger:
    """Writes down, apart from the collector, what every seat decided and received."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.open: dict[int, list[float]] = defaultdict(list)  # by stream: rewards since decisions
        self.closed: list[tuple[list[float], float]] = []  # of streams: rewards, return of the seat
        self.received: dict[int, float] = defaultdict(float)
        self.owners: dict[int, list[int]] = {}
        self.homes: list[tuple[int, int, int]] = []  # a game, its home seat before and after a deal
        self._batch, self._step = collector.batch, collector.batch.step
        self._decide, self._deal = collector._decide, collector._deal
        collector._decide = self.note_decision  # type: ignore[method-assign]
        collector._deal = self.note_end  # type: ignore[method-assign]
        collector.batch.step = self.note_rewards  # type: ignore[method-assign]

    def note_decision(self, network: Network, rows: np.ndarray, actions: np.ndarray) -> None:
        for row in rows.tolist():
            self.open[self.stream(row, int(self._batch.current_player[row]))].append(0.0)
        self._decide(network, rows, actions)

    def note_rewards(self, actions: np.ndarray) -> None:
        for row in range(len(self._batch)):
            owners = self.collector.owners[row].tolist()
            assert self.owners.setdefault(row, owners) == owners, "changed in mid-game"
        self._step(actions)
        for row, seat in np.argwhere(self._batch.rewards != 0).tolist():
            stream = self.stream(row, seat)
            if self.open[stream]:
                self.open[stream][-1] += float(self._batch.rewards[row, seat])
                self.received[stream] += float(self._batch.rewards[row, seat])

    def note_end(self, rows: np.ndarray) -> None:
        for row in rows.tolist():
            self.owners.pop(row, None)
            for seat in range(self.collector.num_seats):
                stream = self.stream(row, seat)
                if rewards := self.open.pop(stream, None):
                    self.closed.append((rewards, self.received[stream]))
                self.received[stream] = 0.0
        before = self.collector.home[rows].tolist()
        self._deal(rows)
        after = self.collector.home[rows].tolist()
        self.homes += zip(rows.tolist(), before, after, strict=True)

    def stream(self, row: int, seat: int) -> int:
        return row * self.collector.num_seats + seat


def record(collector: Collector, network: Network) -> list[dict[str, Any]]:
    """Collect several times; return what each buffer held."""
    kept: list[dict[str, Any]] = []
    finish = collector._finish

    def keep(shaping: float) -> Decisions:
        size = collector._size
        streams = np.concatenate([chunk["streams"] for chunk in collector._chunks])
        kept.append(
            {
                "streams": streams,
                "next": collector._next[:size].copy(),
                "rewards": collector._rewards[:size].copy(),
            }
        )
        return finish(shaping)

    collector._finish = keep  # type: ignore[method-assign]
    for buffer in range(PLAYED):
        decisions = collector.collect(network, 0.0)
        kept[buffer]["decisions"] = decisions
        assert len(decisions) == np.count_nonzero(kept[buffer]["next"] != OPEN)
    return kept


def options_of(setting: Setting, **more: Any) -> dict[str, Any]:
    return {"options": setting.options, "rollout_decisions": 4000, **more}


def test_each_decision_gets_all_that_its_seat_received_until_its_next(seating: Setting) -> None:
    """Of all seats, the last reward of a game included (FIELD_REPORTS 1 and 2)."""
    points = any(o.name == "reward" for o in seating.game.options)
    paid = {"training_options": {"reward": "points"}} if points else {}
    collector = make_collector(
        tiny_config(seating.game, **options_of(seating, **paid)), seating.game
    )
    ledger = Ledger(collector)
    buffers = record(collector, tiny_network(seating.game))
    rewards_of: dict[int, list[float]] = defaultdict(list)
    finished: list[list[float]] = []
    for buffer in buffers:
        known = buffer["next"] != OPEN
        for stream, following, reward in zip(
            buffer["streams"][known].tolist(),
            buffer["next"][known].tolist(),
            buffer["rewards"][known].tolist(),
            strict=True,
        ):
            rewards_of[stream].append(reward)
            if following == ENDED:
                finished.append(rewards_of.pop(stream))
    assert len(finished) == len(ledger.closed) > 15
    as_paid = sorted([round(reward, 4) for reward in rewards] for rewards, _ in ledger.closed)
    assert sorted([round(reward, 4) for reward in rewards] for rewards in finished) == as_paid
    for rewards, total in ledger.closed:
        assert sum(rewards) == pytest.approx(total, abs=1e-5)
    totals = [sum(rewards) for rewards in finished]
    assert min(totals) < 0 < max(totals)


def test_the_home_seat_moves_on_and_all_seats_learn(seating: Setting) -> None:
    collector = make_collector(tiny_config(seating.game, **options_of(seating)), seating.game)
    ledger = Ledger(collector)
    record(collector, tiny_network(seating.game))
    assert len(ledger.homes) > 10
    for _, before, after in ledger.homes:
        assert after == (before + 1) % collector.num_seats
    for row in range(len(collector.batch)):
        assert collector.owners[row, collector.home[row]] == LEARNER
    assert {LEARNER, 0, 1} >= set(np.unique(collector.owners).tolist()) > {LEARNER}


def test_advantages_are_those_of_the_definition(game: Game) -> None:
    """GAE worked out stream by stream in plain Python, potentials and all."""
    config = tiny_config(game, gamma=0.9, gae_lambda=0.8, reward_scale=2.0, rollout_decisions=1500)
    collector = make_collector(config, game)
    network = tiny_network(game)
    seen: list[dict[str, Any]] = []
    estimate = collector._estimate

    def keep(columns: dict[str, np.ndarray], shaping: float) -> np.ndarray:
        result = estimate(columns, shaping)
        known = {"next": collector._next.copy(), "rewards": collector._rewards.copy()}
        seen.append({**columns, **known, "advantages": result})
        return result

    collector._estimate = keep  # type: ignore[method-assign]
    for _ in range(3):
        collector.collect(network, 0.3)
    for buffer in seen:
        potential = 0.3 * buffer["positions"].astype(np.float64) @ game.features.potential
        expected = np.zeros(len(potential))
        for i in reversed(range(len(potential))):
            j = buffer["next"][i]
            if j == OPEN:
                continue
            ahead = 0.0 if j == ENDED else buffer["values"][j] + potential[j]
            delta = 2.0 * buffer["rewards"][i] - potential[i] + 0.9 * ahead - buffer["values"][i]
            assert j == ENDED or (j > i and buffer["streams"][j] == buffer["streams"][i])
            expected[i] = delta + 0.9 * 0.8 * (0.0 if j == ENDED else expected[j])
        assert np.allclose(buffer["advantages"], expected, atol=1e-4)
        assert np.count_nonzero(buffer["next"] >= 0) > 500


def test_decisions_wait_for_their_reward_across_updates(game: Game) -> None:
    collector = make_collector(tiny_config(game), game)
    buffers = record(collector, tiny_network(game))
    for before, after in pairwise(buffers):
        waiting = before["streams"][before["next"] == OPEN]
        assert np.array_equal(after["streams"][: len(waiting)], waiting)
        assert len(set(waiting.tolist())) == len(waiting) > 0


def test_a_truncated_game_is_worth_what_the_critic_says(game: Game) -> None:
    """A limit is no result: its value is estimated, not taken for a loss (FIELD_REPORTS 22)."""
    config = tiny_config(
        game, training_options={"max_steps": 20}, gamma=0.5, reward_scale=4.0, skip_forced=False
    )
    collector = make_collector(config, game)
    network = tiny_network(game)
    network.critic.layers[-1].bias.fill_(8.0)
    network.critic.layers[-1].weight.zero_()
    (first, *_) = record(collector, network)
    ended = first["next"] == ENDED
    assert ended.sum() > 16
    assert np.allclose(first["rewards"][ended], 0.5 * 8.0 / 4.0)
    assert collector.games.truncated == len(collector.games)


def test_the_learner_decides_by_his_network_among_legal_actions(game: Game) -> None:
    network = tiny_network(game)
    decisions = make_collector(tiny_config(game), game).collect(network, 0.0)
    assert (decisions.counts > 1).all()  # forced moves are skipped
    assert (decisions.chosen < decisions.counts).all()
    rows = decisions.rows_of(np.arange(len(decisions)))
    logits = network.scores(
        torch.from_numpy(decisions.afterstates[rows]), torch.from_numpy(decisions.counts)
    )
    log_probs = logits.log_softmax(1).numpy()
    own = log_probs[np.arange(len(decisions)), decisions.chosen]
    assert np.allclose(decisions.log_probs, own, atol=1e-5)
    values = network.values(torch.from_numpy(decisions.positions)).numpy()
    assert np.allclose(decisions.values, values, atol=1e-5)


@pytest.mark.parametrize("sees_hidden", [False, True])
def test_only_a_critic_that_may_see_hidden_cards_reads_them(game: Game, sees_hidden: bool) -> None:
    config = tiny_config(game, sees_hidden=sees_hidden)
    network = tiny_network(game, sees_hidden=sees_hidden)
    decisions = make_collector(config, game).collect(network, 0.0)
    features = game.features
    assert decisions.afterstates.shape[1] == len(features.position)
    extra = len(features.hidden) if sees_hidden else 0
    assert decisions.positions.shape[1] == len(features.position) + extra
    if sees_hidden:
        assert decisions.positions[:, len(features.position) :].any()
