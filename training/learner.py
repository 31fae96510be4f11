"""The learner: sb3-contrib's MaskablePPO around the network of `training.network`."""

from collections.abc import Sequence

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.game import Game
from training.config import Config
from training.network import Network, Trunk


class SharedTrunk(BaseFeaturesExtractor):
    """The trunk in SB3's terms: with `net_arch=[]` both heads sit right on top of it."""

    def __init__(self, observation_space: gym.spaces.Box, hidden_sizes: Sequence[int]) -> None:
        super().__init__(observation_space, hidden_sizes[-1])
        self.trunk = Trunk(observation_space.high, hidden_sizes)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features of observations that SB3 has made float."""
        features: torch.Tensor = self.trunk(observations)
        return features


def make_model(config: Config, env: SelfPlayVecEnv) -> MaskablePPO:
    """Return the untrained learner."""
    first, last = config.learning_rate, config.final_learning_rate
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: last + max(left, 0.0) * (first - last),
        n_steps=config.rollout_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy_coef,
        vf_coef=config.value_coef,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={
            "features_extractor_class": SharedTrunk,
            "features_extractor_kwargs": {"hidden_sizes": config.hidden_sizes},
            "net_arch": [],
        },
        seed=config.seed % 2**32,  # SB3 seeds NumPy's global generator, which takes no more
        device="cpu",
    )
    env.seed(config.seed)
    return model


def copy_network(model: MaskablePPO, game: Game) -> Network:
    """Return the learner's present weights as a network that never changes."""
    policy = model.policy
    assert isinstance(policy, MaskableActorCriticPolicy)
    extractor = policy.features_extractor
    assert isinstance(extractor, SharedTrunk)
    network = Network(game, extractor.trunk.hidden_sizes)
    network.trunk.load_state_dict(extractor.trunk.state_dict())
    network.action_head.load_state_dict(policy.action_net.state_dict())
    network.value_head.load_state_dict(policy.value_net.state_dict())
    return network.eval().requires_grad_(False)
