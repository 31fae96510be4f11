"""`SelfPlayVecEnv`: what SB3 gets is what the engine did, seat by seat."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import SEATINGS, Setting

pytest.importorskip("stable_baselines3")

from crapo_env.adapters.sb3 import LEARNER, SelfPlayVecEnv
from crapo_env.bots import make_policy
from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.seeds import FIRST_EVALUATION_SEED

NUM_ENVS = 12
STEPS = 700
PAID = (
    SEATINGS
    + [  # other ways to pay, where a game has them
        Setting(seating.game, seating.options | {option.name: value})
        for seating in SEATINGS
        for option in seating.game.options
        if option.name == "reward"
        for value in option.values[1:]
    ]
)


class ExtremePolicy(Policy):
    """Plays the lowest or the highest legal id: every real choice tells the two apart."""

    def __init__(self, game: Game, name: str) -> None:
        super().__init__(game, name, deterministic=True)

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        lowest = np.argmax(masks != 0, axis=1)
        highest = masks.shape[1] - 1 - np.argmax(masks[:, ::-1] != 0, axis=1)
        return lowest if self.name == "lowest" else highest


class Ledger:
    """Watches the engine under an environment: the rewards of every seat and who made each move."""

    def __init__(self, env: SelfPlayVecEnv) -> None:
        self.env = env
        self.totals = np.zeros((len(env.batch), env.num_seats))  # in the game under way
        self.last_mover = np.full(len(env.batch), -1)
        self.movers: list[list[set[str]]] = []  # names seen, by game and seat
        self._step = env.batch.step
        env.batch.step = self.step  # type: ignore[method-assign]
        self.clear(np.arange(len(env.batch)))

    def clear(self, rows: np.ndarray) -> None:
        """Begin new games."""
        self.totals[rows] = 0
        self.movers = self.movers or [[] for _ in self.env.learner]
        for row in rows:
            self.movers[row] = [set() for _ in range(self.env.num_seats)]

    def step(self, actions: np.ndarray) -> None:
        """Step the engine and keep the books."""
        batch = self.env.batch
        seats = batch.current_player.copy()
        for row in np.flatnonzero((actions >= 0) & (seats != self.env.learner)):
            legal = batch.legal[row, : batch.num_legal[row]]
            if len(legal) > 1:
                names = {legal[0]: "lowest", legal[-1]: "highest"}
                self.movers[row][seats[row]].add(names.get(actions[row], "neither"))
        self._step(actions)
        self.totals += batch.rewards
        self.last_mover[actions >= 0] = seats[actions >= 0]


def make_env(
    setting: Setting, names: tuple[str, ...] = ("lowest", "highest"), **arguments: Any
) -> SelfPlayVecEnv:
    """Return an environment whose opponents are the two extremes."""
    opponents = [ExtremePolicy(setting.game, name) for name in names]
    return SelfPlayVecEnv(
        setting.game, NUM_ENVS, opponents, options=setting.options, seed=3, **arguments
    )


def learner_actions(env: SelfPlayVecEnv, steps: int) -> Iterator[np.ndarray]:
    """Yield random legal actions of the learner."""
    policy = make_policy("random", env.game, 5)
    for _ in range(steps):
        yield policy.act(env.batch.observations.copy(), env.action_masks().astype(np.int8))


def test_masks_and_observations_are_the_engines_at_every_step(seating: Setting) -> None:
    env = make_env(seating)
    observations = env.reset()
    ends = 0
    for actions in learner_actions(env, STEPS):
        games = env.batch.games.copy()
        seen, masks = np.zeros_like(observations), np.zeros_like(env.batch.masks)
        legal, num_legal = np.zeros_like(env.batch.legal), np.zeros_like(env.batch.num_legal)
        env.game.refresh(games, seen, masks, legal, num_legal)
        (answer,) = env.env_method("action_masks")
        assert answer.dtype == bool
        assert np.array_equal(answer, masks == 1)
        assert answer.any(axis=1).all()
        assert np.array_equal(observations, seen)
        assert np.array_equal(env.batch.current_player, env.learner)
        observations, _, dones, _ = env.step(actions)
        ends += int(dones.sum())
    assert ends >= NUM_ENVS  # right after a new deal too


@pytest.mark.parametrize("paid", PAID, ids=str)
def test_the_rewards_of_the_learner_are_those_of_his_seat(paid: Setting) -> None:
    env = make_env(paid)
    env.reset()
    ledger = Ledger(env)
    received = np.zeros(NUM_ENVS)
    outcomes: Counter[str] = Counter()
    deal = env._deal

    def check_and_deal(rows: np.ndarray) -> None:
        before = ledger.totals[rows, env.learner[rows]].copy()
        finals.update(zip(rows.tolist(), before.tolist(), strict=True))
        deal(rows)
        ledger.clear(rows)

    finals: dict[int, float] = {}
    env._deal = check_and_deal  # type: ignore[method-assign]
    for actions in learner_actions(env, STEPS):
        finals.clear()
        _, rewards, dones, infos = env.step(actions)
        received += rewards
        for row in np.flatnonzero(dones):
            assert received[row] == pytest.approx(finals[row], abs=1e-5)
            assert infos[row]["episode"]["r"] == pytest.approx(finals[row], abs=1e-5)
            outcomes[infos[row]["outcome"]] += 1
            received[row] = 0
    assert outcomes["win"] and outcomes["loss"], outcomes


def test_the_last_transition_of_a_loser_carries_the_loss_and_done(seating: Setting) -> None:
    env = make_env(seating)
    env.reset()
    ledger = Ledger(env)
    by_opponent = 0
    for actions in learner_actions(env, STEPS):
        learner = env.learner.copy()
        _, rewards, dones, infos = env.step(actions)
        for row in np.flatnonzero(dones):
            if infos[row]["outcome"] == "loss":
                assert rewards[row] <= -1 / env.num_seats
                by_opponent += ledger.last_mover[row] != learner[row]
        assert not rewards[~dones].any()
    assert by_opponent, "no game was ended by an opponent"


def test_one_opponent_plays_a_seat_for_a_whole_game(seating: Setting) -> None:
    env = make_env(seating)
    env.reset()
    ledger = Ledger(env)
    deal = env._deal
    games = 0

    def check_and_deal(rows: np.ndarray) -> None:
        nonlocal games
        for row in rows:
            for seat, names in enumerate(ledger.movers[row]):
                policy = None if seat == env.learner[row] else env.opponent_of(row, seat)
                assert names <= {policy.name if policy else ""}
            games += 1
        deal(rows)
        ledger.clear(rows)

    env._deal = check_and_deal  # type: ignore[method-assign]
    for k, actions in enumerate(learner_actions(env, STEPS)):
        if k % 10 == 0:  # new opponents must wait for the next deal
            name = ("lowest", "highest")[k // 10 % 2]
            env.set_opponents([ExtremePolicy(env.game, name)])
        env.step(actions)
        kept = env.opponents[np.arange(NUM_ENVS), env.learner] == LEARNER
        assert kept.all()
    assert games >= NUM_ENVS
    assert len(env._policies) <= NUM_ENVS * env.num_seats + 1  # those that play no more are let go


def test_returned_arrays_are_never_written_again(seating: Setting) -> None:
    env = make_env(seating)
    kept = [env.reset(), env.action_masks()]
    copies = [array.copy() for array in kept]
    for actions in learner_actions(env, 30):
        observations, rewards, dones, _ = env.step(actions)
        masks = env.action_masks()
        for array in (observations, rewards, dones, masks):
            assert not any(np.shares_memory(array, other) for other in kept)
            assert not np.shares_memory(array, env.batch.observations)
            kept.append(array)
            copies.append(array.copy())
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))


def test_the_learner_takes_every_seat_equally_often(seating: Setting) -> None:
    env = make_env(seating, skip_forced=True)
    deals = np.zeros((NUM_ENVS, env.num_seats), int)
    deal = env._deal

    def deal_and_count(rows: np.ndarray) -> None:
        deal(rows)
        deals[rows, env.learner[rows]] += 1

    env._deal = deal_and_count  # type: ignore[method-assign]
    env.reset()
    assert deals.sum(axis=0).tolist() == [NUM_ENVS // env.num_seats] * env.num_seats
    ends = [
        info for actions in learner_actions(env, STEPS) for info in env.step(actions)[3] if info
    ]
    assert {info["seat"] for info in ends} == set(range(env.num_seats))
    assert deals.sum() >= 2 * NUM_ENVS
    assert (deals.max(axis=1) - deals.min(axis=1) <= 1).all()


def test_the_end_of_a_game_is_described(seating: Setting) -> None:
    env = make_env(seating)
    observations = env.reset()
    ended = 0
    describe = env._describe
    views: dict[int, np.ndarray] = {}

    def look_and_describe(rows: np.ndarray) -> list[dict[str, Any]]:
        for row in rows:
            views[row] = env.batch.observe(int(env.learner[row]))[row]
        return describe(rows)

    env._describe = look_and_describe  # type: ignore[method-assign]
    for actions in learner_actions(env, STEPS):
        views.clear()
        observations, _, dones, infos = env.step(actions)
        assert set(np.flatnonzero(dones)) == set(views) == {i for i in range(NUM_ENVS) if infos[i]}
        for row, view in views.items():
            info = infos[row]
            assert np.array_equal(info["terminal_observation"], view)
            assert not np.array_equal(info["terminal_observation"], observations[row])
            assert not info["TimeLimit.truncated"]
            assert info["outcome"] in ("win", "draw", "loss")
            assert set(info["opponent"].split(" + ")) <= {"lowest", "highest"}
            assert len(info["opponent"].split(" + ")) == env.num_seats - 1
            assert info["episode"]["l"] > 0
            ended += 1
    assert ended >= NUM_ENVS


def test_truncation_is_no_result(seating: Setting) -> None:
    env = SelfPlayVecEnv(
        seating.game,
        NUM_ENVS,
        [make_policy("random", seating.game)],
        options=seating.options | {"max_steps": 25},
    )
    env.reset()
    ends = [info for actions in learner_actions(env, 60) for info in env.step(actions)[3] if info]
    cut = [info for info in ends if info["TimeLimit.truncated"]]
    assert cut
    assert {info["outcome"] for info in cut} == {"truncated"}
    assert all(info["num_steps"] == 25 for info in cut)


def test_forced_moves_are_skipped_on_request(seating: Setting) -> None:
    env = make_env(seating, skip_forced=True)
    env.reset()
    for actions in learner_actions(env, 200):
        assert (env.action_masks().sum(axis=1) > 1).all()
        env.step(actions)


def test_equal_seeds_give_equal_runs(seating: Setting) -> None:
    def run() -> list[np.ndarray]:
        env = make_env(seating)
        first = env.reset()
        return [first, *(env.step(actions)[0] for actions in learner_actions(env, 100))]

    assert all(np.array_equal(a, b) for a, b in zip(run(), run(), strict=True))


def test_no_deal_of_an_evaluation_is_dealt(game: Game) -> None:
    opponents = [make_policy("random", game)]
    for seed in (FIRST_EVALUATION_SEED, 2**64 - 1, -1):
        with pytest.raises(ValueError, match=f"seed {seed} is not for training"):
            SelfPlayVecEnv(game, 2, opponents, seed=seed)
    env = SelfPlayVecEnv(game, NUM_ENVS, opponents, seed=FIRST_EVALUATION_SEED - 1)
    with pytest.raises(ValueError, match="kept for evaluation"):
        env.seed(FIRST_EVALUATION_SEED)
    env.reset()
    seeds = set(env.batch.games["seed"].tolist())
    for actions in learner_actions(env, STEPS):
        env.step(actions)
        seeds |= set(env.batch.games["seed"].tolist())
    assert len(seeds) >= 2 * NUM_ENVS
    assert max(seeds) < FIRST_EVALUATION_SEED
    assert max(seeds) > FIRST_EVALUATION_SEED // 2  # the whole range is drawn from


def test_an_illegal_action_of_the_learner_is_an_error(game: Game) -> None:
    env = SelfPlayVecEnv(game, 2, [make_policy("random", game)])
    env.reset()
    illegal = int(np.argmin(env.action_masks()[0]))
    legal = int(np.argmax(env.action_masks()[1]))
    with pytest.raises(ValueError, match="illegal here; legal are"):
        env.step(np.array([illegal, legal]))


def test_what_sb3_asks_of_a_vec_env_is_answered(game: Game) -> None:
    env = SelfPlayVecEnv(game, 3, [make_policy("random", game)])
    assert env.has_attr("action_masks") and not env.has_attr("no_such_thing")
    assert env.get_attr("render_mode") == [None] * 3
    assert env.env_is_wrapped(object) == [False] * 3
    assert env.observation_space.contains(env.reset()[0])
    assert env.observation_space.dtype == np.int8
    with pytest.raises(AttributeError, match="no attribute 'x' to set"):
        env.set_attr("x", 1)
    with pytest.raises(ValueError, match="as many weights"):
        env.set_opponents([])
    env.close()
