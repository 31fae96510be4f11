"""TorchRL and Tianshou: their own checks, whole games and past their end, masks, learning."""

from typing import Any

import numpy as np
import pytest
from conftest import Setting

pytest.importorskip("torchrl")
pytest.importorskip("tianshou")

import torch
from torchrl.envs.utils import check_env_specs

from crapo_env.adapters.tianshou import MaskedEnv
from crapo_env.adapters.torchrl import BatchEnv, wrap
from training.frameworks import tianshou_dqn, torchrl_reinforce


def test_torchrl_finds_no_fault(seating: Setting) -> None:
    check_env_specs(BatchEnv(seating.game, 4, **seating.options))
    check_env_specs(wrap(seating.game, **seating.options))


def test_the_wrapper_plays_whole_games_and_past_their_end(seating: Setting) -> None:
    env = wrap(seating.game, max_steps=40, **seating.options)
    games = env.rollout(100, break_when_any_done=False)
    ends = games["next", "done"].squeeze(-1).nonzero().squeeze(-1)
    assert ends.tolist() == [39, 79]
    assert games["next", "truncated"][ends].all() and not games["next", "terminated"].any()
    for agent in env.possible_agents:
        acts = games[agent, "mask"].squeeze()
        assert games[agent, "action_mask"].reshape(100, -1)[acts].any(-1).all()


def test_ended_games_of_the_batch_wait_for_a_reset(seating: Setting) -> None:
    env = BatchEnv(seating.game, 3, max_steps=5, seed=4, **seating.options)
    games = env.rollout(9, break_when_any_done=False, break_when_all_done=True)
    assert games.shape == (3, 5) and games["next", "truncated"][:, -1].all()
    shown = games[:, -1]["next"].exclude("reward")
    after = env.step(env.rand_action(shown.clone()))["next"]
    assert after["done"].all() and not after["reward"].any()
    assert torch.equal(after["observation"], shown["observation"])
    marked = shown.set("_reset", torch.tensor([[False], [True], [False]]))
    again = env.reset(marked)
    assert again["done"].squeeze(-1).tolist() == [True, False, True]
    assert env.batch.games["num_steps"].tolist() == [5, 0, 5]


def test_the_same_seed_gives_the_same_batch(seating: Setting) -> None:
    first, second = (BatchEnv(seating.game, 3, **seating.options) for _ in range(2))
    for env in (first, second):
        env.set_seed(9)
    for _ in range(3):
        one, other = first.reset(), second.reset()
        assert torch.equal(one["observation"], other["observation"])
    assert not torch.equal(first.reset()["observation"], one["observation"])


def test_an_illegal_action_is_refused_and_changes_nothing(seating: Setting) -> None:
    env = BatchEnv(seating.game, 2, **seating.options)
    shown = env.reset()
    shown["action"] = shown["action_mask"].int().argmin(-1)
    with pytest.raises(ValueError, match="is illegal here"):
        env.step(shown)
    assert not env.batch.games["num_steps"].any()


def test_a_policy_gradient_learns_by_self_play_in_torchrl() -> None:
    before, after = torchrl_reinforce.main(["--updates", "12", "--evaluate", "256"])
    assert after > before + 0.3


class WatchedEnv(MaskedEnv):
    """Counts what is played, and what of it is illegal."""

    played = illegal = 0

    def reset(self, **arguments: Any) -> Any:
        shown = super().reset(**arguments)
        self.mask = shown[0]["mask"]
        return shown

    def step(self, action: Any) -> Any:
        WatchedEnv.played += 1
        WatchedEnv.illegal += int(self.mask[action] == 0)
        shown = super().step(action)
        self.mask = shown[0]["mask"]
        return shown


def test_tianshous_dqn_explores_and_learns_by_the_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tianshou_dqn, "MaskedEnv", WatchedEnv)
    scores = tianshou_dqn.main(["--steps", "4000", "--evaluate", "60"])
    assert WatchedEnv.played > 5000 and WatchedEnv.illegal == 0
    assert all(-1 <= score <= 1 for score in scores)


def test_what_the_loser_receives_is_in_his_last_transition() -> None:
    """By Tianshou's own manager of agents a loss by another's move is lost (tianshou#399)."""
    env, rng, losses = MaskedEnv("reis_nos_cantos", opponent="greedy", target=1), None, 0
    rng = np.random.default_rng(3)
    for seed in range(12):
        shown, _ = env.reset(seed=seed)
        over = False
        while not over:
            action = int(rng.choice(np.flatnonzero(shown["mask"])))
            shown, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
        record = env.unwrapped._batch.games[0]
        losses += reward < 0 and record["current_player"] != env.unwrapped.seat
        assert reward == pytest.approx(record["rewards"][env.unwrapped.seat])
    assert losses > 0


def test_wrong_names_are_told() -> None:
    with pytest.raises(ValueError, match="there is no game 'crapoo'"):
        MaskedEnv("crapoo")
