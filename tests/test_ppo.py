"""Our PPO against that of sb3-contrib on equal data, and its parts by hand."""

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from stable_baselines3.common.logger import configure
from tiny_training import make_collector, tiny_config, tiny_network

from crapo_env.game import Game
from training.network import Network, pad
from training.ppo import Decisions, Weights, ragged_rows, surrogate, update

WEIGHTS = Weights(clip_range=0.2, entropy_coef=0.02, value_coef=0.5, max_grad_norm=0.5)
EPOCHS = 3
RATE = 0.5


class Stub(gym.Env[np.ndarray, np.int64]):
    """Gives MaskablePPO its spaces and is never played: observations are numbers of decisions."""

    def __init__(self, num_actions: int) -> None:
        self.observation_space = gym.spaces.Box(0, 1e6, (1,))
        self.action_space = gym.spaces.Discrete(num_actions)

    def reset(self, **_: Any) -> tuple[np.ndarray, dict[str, Any]]:
        return np.zeros(1, np.float32), {}

    def action_masks(self) -> np.ndarray:
        return np.ones(self.action_space.n, bool)


def collected(game: Game) -> tuple[Network, Decisions]:
    """Return a network and decisions, made by one that has since changed a little."""
    network = tiny_network(game).requires_grad_(True)
    decisions = make_collector(tiny_config(game), game).collect(network, 0.0)
    noise = np.random.default_rng(0).normal(0, 0.3, len(decisions)).astype(np.float32)
    return network, replace(decisions, log_probs=decisions.log_probs + noise)


def make_model(num_decisions: int, num_actions: int) -> MaskablePPO:
    """Return a MaskablePPO with our settings."""
    return MaskablePPO(
        "MlpPolicy",
        Stub(num_actions),
        learning_rate=RATE,
        n_steps=num_decisions,
        batch_size=num_decisions,
        n_epochs=EPOCHS,
        clip_range=WEIGHTS.clip_range,
        ent_coef=WEIGHTS.entropy_coef,
        vf_coef=WEIGHTS.value_coef,
        max_grad_norm=WEIGHTS.max_grad_norm,
        device="cpu",
    )


def train_with_sb3(network: Network, decisions: Decisions) -> MaskablePPO:
    """Make MaskablePPO learn from the same decisions with the same network."""
    n, most = len(decisions), int(decisions.counts.max())
    model = make_model(n, most)

    def evaluate_actions(
        observations: torch.Tensor, actions: torch.Tensor, action_masks: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        index = observations[:, 0].long().numpy()
        rows = torch.from_numpy(decisions.afterstates[decisions.rows_of(index)])
        logits = network.scores(rows, torch.from_numpy(decisions.counts[index]))
        distribution = MaskableCategoricalDistribution(most)
        distribution.proba_distribution(logits.masked_fill(logits == -torch.inf, 0.0))
        distribution.apply_masking(action_masks)
        values = network.values(torch.from_numpy(decisions.positions[index]))
        return values, distribution.log_prob(actions), distribution.entropy()

    model.policy.evaluate_actions = evaluate_actions
    model.policy.parameters = network.parameters
    model.policy.optimizer = torch.optim.SGD(network.parameters(), RATE)
    buffer = model.rollout_buffer
    buffer.reset()
    buffer.observations[:, 0, 0] = np.arange(n)
    buffer.actions[:, 0, 0] = decisions.chosen
    for name in ("values", "log_probs", "advantages", "returns"):
        getattr(buffer, name)[:, 0] = getattr(decisions, name)
    buffer.action_masks[:, 0] = np.arange(most) < decisions.counts[:, None]
    buffer.full = True
    model.set_logger(configure(None, []))
    model.train()
    return model


def test_an_update_is_that_of_maskable_ppo(game: Game) -> None:
    ours, decisions = collected(game)
    theirs = tiny_network(game).requires_grad_(True)
    model = train_with_sb3(theirs, decisions)
    optimizer = torch.optim.SGD(ours.parameters(), RATE)
    rng = np.random.default_rng(0)
    parts = update(
        ours, optimizer, decisions, WEIGHTS, epochs=EPOCHS, minibatch_size=10**6, rng=rng
    )
    before = tiny_network(game).state_dict()
    for name, tensor in ours.state_dict().items():
        assert torch.allclose(tensor, theirs.state_dict()[name], atol=1e-5), name
        assert not torch.equal(tensor, before[name]), name
    logged = model.logger.name_to_value
    assert parts["clip_fraction"] == pytest.approx(logged["train/clip_fraction"], abs=1e-6)
    assert parts["clip_fraction"] > 0.1
    assert parts["value_loss"] == pytest.approx(logged["train/value_loss"], rel=1e-4)
    assert parts["policy_loss"] == pytest.approx(logged["train/policy_gradient_loss"], abs=1e-6)
    assert -parts["entropy"] == pytest.approx(logged["train/entropy_loss"], rel=1e-5)
    explained = logged["train/explained_variance"]
    assert parts["explained_variance"] == pytest.approx(explained, abs=1e-4)


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4, 1e6])
def test_extreme_scores_give_finite_losses_and_gradients(game: Game, scale: float) -> None:
    network, decisions = collected(game)
    with torch.no_grad():
        network.actor.layers[-1].weight.mul_(scale)
    loss, parts = surrogate(network, decisions, np.arange(len(decisions)), WEIGHTS)
    loss.backward()
    for parameter in network.parameters():
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all()
    assert torch.isfinite(loss) and 0 <= parts["entropy"] < 5


def test_a_ragged_list_is_filled_up_with_impossible_actions() -> None:
    padded = pad(torch.arange(6.0), torch.tensor([1, 3, 2]))
    none = -torch.inf
    assert padded.tolist() == [[0, none, none], [1, 2, 3], [4, 5, none]]
    assert (padded.softmax(1)[padded == none] == 0).all()
    rows = ragged_rows(np.array([10, 0, 7]), np.array([2, 0, 3]))
    assert rows.tolist() == [10, 11, 7, 8, 9]
