"""The network: one trunk over the observation, an action head and a value head on top of it."""

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from crapo_env.bots.policy import Policy
from crapo_env.game import Game


class Trunk(nn.Module):
    """Fully connected layers, a ReLU after each, over observations brought into 0..1."""

    def __init__(self, high: np.ndarray, hidden_sizes: Sequence[int]) -> None:
        """Make the trunk for observations whose entries go from 0 to `high` (size,)."""
        super().__init__()
        self.hidden_sizes = tuple(hidden_sizes)
        self.register_buffer("scale", 1 / torch.from_numpy(high).float(), persistent=False)
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise([len(high), *hidden_sizes]):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features (n, last width) of float observations (n, size)."""
        features: torch.Tensor = self.layers(observations * self.get_buffer("scale"))
        return features


class Network(nn.Module):
    """What checkpoints hold and policies play with."""

    def __init__(self, game: Game, hidden_sizes: Sequence[int]) -> None:
        super().__init__()
        self.hidden_sizes = tuple(hidden_sizes)
        self.trunk = Trunk(game.fields.high, hidden_sizes)
        self.action_head = nn.Linear(hidden_sizes[-1], len(game.actions))
        self.value_head = nn.Linear(hidden_sizes[-1], 1)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (n, num_actions) and values (n,) of int8 observations (n, size)."""
        features = self.trunk(observations.float())
        return self.action_head(features), self.value_head(features).squeeze(-1)


class NetworkPolicy(Policy):
    """Plays the most probable legal action of a network, or one drawn by its probability."""

    def __init__(
        self, game: Game, network: Network, name: str, *, deterministic: bool, seed: int = 0
    ) -> None:
        super().__init__(game, name, deterministic=deterministic)
        self.network = network
        self._generator = torch.Generator().manual_seed(seed)

    def evaluate(
        self, observations: np.ndarray, masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what a search asks of a policy: how likely each action and how good the position.

        Args:
            observations: (n, size) int8, as seen by the players on turn.
            masks: (n, num_actions) int8, each with a legal action.

        Returns:
            Probabilities (n, num_actions) float32, exactly 0 where an action is illegal, and values
            (n,) float32: the return that the player on turn expects, in the rewards of training.
        """
        with torch.no_grad():
            logits, values = self.network(torch.from_numpy(observations))
            logits.masked_fill_(torch.from_numpy(masks) == 0, -torch.inf)
            return logits.softmax(1).numpy(), values.numpy()

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return an action for each row."""
        with torch.no_grad():
            logits, _ = self.network(torch.from_numpy(observations))
            logits.masked_fill_(torch.from_numpy(masks) == 0, -torch.inf)
            if not self.deterministic:  # the largest of logits plus Gumbel noise is such a draw
                noise = torch.empty_like(logits).exponential_(generator=self._generator)
                logits -= noise.clamp_(min=torch.finfo(noise.dtype).tiny).log_()
            actions: np.ndarray = logits.argmax(1).numpy()
        return actions
