"""AgileRL: its own training loop plays our vector environment by the masks and learns."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("agilerl")

from crapo_env.adapters.agilerl import make_vector
from crapo_env.adapters.gymnasium import SingleAgentVectorEnv

pytestmark = pytest.mark.filterwarnings("ignore")  # AgileRL's own and its dependencies'


def test_agilerl_trains_by_the_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    from training.frameworks import agilerl_dqn  # here, where its warnings are ignored

    played, illegal = 0, 0
    step = SingleAgentVectorEnv.step

    def counted(env: SingleAgentVectorEnv, actions: np.ndarray) -> Any:
        nonlocal played, illegal
        played += len(actions)
        illegal += int((env.action_masks()[np.arange(len(actions)), actions] == 0).sum())
        return step(env, actions)

    monkeypatch.setattr(SingleAgentVectorEnv, "step", counted)
    before, after = agilerl_dqn.main(["--steps", "10000"])
    assert played > 10_000 and illegal == 0
    assert after > before + 0.3


def test_games_are_dealt_anew_in_the_same_step() -> None:
    env = make_vector("crapo", 3, max_steps=20)
    _, info = env.reset(seed=1)
    rng, ends = np.random.default_rng(1), 0
    for _ in range(60):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        *_, truncated, info = env.step(actions)
        ends += int(truncated.sum())
        assert info["action_mask"].any(axis=1).all()
    assert ends > 3


def test_wrong_names_are_told() -> None:
    with pytest.raises(ValueError, match="there is no game 'crapoo'"):
        make_vector("crapoo", 3)
