"""The network: it scores the position that each legal action leads to, and values positions.

A decision with `k` legal actions gives `k` rows of features (`Game.features`), so the lists of
many decisions are one ragged array: rows (m, size) and how many belong to each decision (n,).
"""

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from crapo_env.bots.policy import Policy
from crapo_env.game import FieldTable, Game

ROWS = 64
SEAT = 0  # all that is observed is relative to the observer, so any seat will do


class Layers(nn.Module):
    """Fully connected layers, a ReLU between them, from int8 features to one number."""

    def __init__(
        self,
        tables: Sequence[FieldTable],
        hidden_sizes: Sequence[int],
        dtype: torch.dtype,
        leave_out: Sequence[str],
    ) -> None:
        """Make the layers for the features of these tables side by side.

        All weights are float32; those of the hidden layers are rounded to `dtype` when used.
        """
        super().__init__()
        self.dtype = dtype
        high = np.concatenate([table.high for table in tables]).astype(np.float32)
        # A step of one counts less where the range is wide, but not in proportion.
        scale = high**-0.5
        for name in leave_out:  # of the first table
            tables[0].split(scale[: len(tables[0])])[name][...] = 0
        self.register_buffer("scale", torch.from_numpy(scale), persistent=False)
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise([len(high), *hidden_sizes]):
            layers += [nn.Linear(before, after), nn.ReLU(inplace=True)]
        first = next(layers[0].parameters())
        last = nn.Linear(hidden_sizes[-1], 1)
        with torch.no_grad():  # at first all actions are about equally likely
            last.weight.mul_(0.1)
            last.bias.zero_()
            first[:, torch.from_numpy(scale == 0)] = 0  # and so for good, as their gradient is 0
        self.layers = nn.Sequential(*layers, last)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return numbers (n,) of int8 features (n, size)."""
        # Scaling the weights is the same as scaling the features, and there are fewer of them.
        *hidden, last = self.layers
        size = len(features)
        # Products in bfloat16 are prepared for each number of rows: there should be few of them.
        extra = -size % ROWS if self.dtype == torch.bfloat16 else 0
        numbers: torch.Tensor = functional.pad(features, (0, 0, 0, extra)).to(self.dtype)
        for k, layer in enumerate(hidden):
            if isinstance(layer, nn.Linear):
                weight = layer.weight * self.get_buffer("scale") if k == 0 else layer.weight
                numbers = functional.linear(
                    numbers, weight.to(self.dtype), layer.bias.to(self.dtype)
                )
            else:
                numbers = layer(numbers)
        scores: torch.Tensor = last(numbers.float())
        return scores[:size, 0]


class Network(nn.Module):
    """What checkpoints hold and policies play with."""

    def __init__(
        self,
        game: Game,
        hidden_sizes: Sequence[int],
        *,
        sees_hidden: bool = False,
        dtype: torch.dtype = torch.float32,
        leave_out: Sequence[str] = (),
    ) -> None:
        """Make an untrained network.

        Args:
            game: whose features it reads.
            hidden_sizes: widths of the layers of actor and critic.
            sees_hidden: whether the critic also reads what the seat cannot see.
            dtype: of the products of the hidden layers.
            leave_out: fields of the features that count for nothing, as their weights stay 0.
        """
        super().__init__()
        self.game = game
        self.hidden_sizes = tuple(hidden_sizes)
        self.sees_hidden = sees_hidden
        self.dtype = dtype
        tables = [game.features.position]
        self.actor = Layers(tables, hidden_sizes, dtype, leave_out)
        if sees_hidden:
            tables = [*tables, game.features.hidden]
        self.critic = Layers(tables, hidden_sizes, dtype, leave_out)

    def scores(self, features: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Return the logits of the actions, (n, most actions), -inf where a list is shorter.

        Args:
            features: (m, size) int8, the afterstates of all actions, decision by decision.
            counts: (n,) int64, how many belong to each decision; they sum to m.
        """
        return pad(self.actor(features), counts)

    def values(self, positions: torch.Tensor) -> torch.Tensor:
        """Return the expected returns (n,) of int8 positions as the critic reads them."""
        values: torch.Tensor = self.critic(positions)
        return values


def pad(scores: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Return a ragged list (m,) as rows (n, largest count), filled up with -inf."""
    rows = torch.arange(len(counts)).repeat_interleave(counts)
    columns = torch.arange(len(scores)) - (counts.cumsum(0) - counts).repeat_interleave(counts)
    padded = scores.new_full((len(counts), int(counts.max())), -torch.inf)
    return padded.index_put((rows, columns), scores)


def list_afterstates(
    game: Game, games: np.ndarray, rows: np.ndarray, legal: np.ndarray, num_legal: np.ndarray
) -> np.ndarray:
    """Return the features of what each legal action of the games `rows` leads to, (m, size) int8.

    Args:
        game: the game.
        games: (n,) records.
        rows: (k,) indices of games.
        legal: (n, any) legal actions, ascending.
        num_legal: (n,) how many there are.
    """
    out = np.empty((int(num_legal[rows].sum()), len(game.features.position)), np.int8)
    game.features.write_afterstates(games, rows, legal, num_legal, out)
    return out


def list_positions(
    network: Network, games: np.ndarray, rows: np.ndarray, seats: np.ndarray
) -> np.ndarray:
    """Return what the network's critic reads of the games `rows`, each seen from its seat."""
    features = network.game.features
    positions = np.empty((len(rows), len(features.position)), np.int8)
    features.write_positions(games, rows, seats, positions)
    if not network.sees_hidden:
        return positions
    hidden = np.empty((len(rows), len(features.hidden)), np.int8)
    features.write_hidden(games, rows, seats, hidden)
    return np.concatenate([positions, hidden], axis=1)


def draw(logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column for each row, drawn by its probability: the largest of logits plus Gumbel."""
    noise = rng.standard_exponential(logits.shape, np.float32)
    tiny = np.finfo(np.float32).tiny
    columns: np.ndarray = np.argmax(logits - np.log(np.maximum(noise, tiny)), axis=1)
    return columns


class NetworkPolicy(Policy):
    """Plays the most probable legal action of a network, or one drawn by its probability."""

    def __init__(
        self, game: Game, network: Network, name: str, *, deterministic: bool, seed: int = 0
    ) -> None:
        super().__init__(game, name, deterministic=deterministic)
        self.network = network
        self.set_seed(seed)

    def set_seed(self, seed: int) -> None:
        """Let the moves that are drawn follow from this seed."""
        self._rng = np.random.default_rng(seed)

    def evaluate(
        self, observations: np.ndarray, masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what a search asks of a policy: how likely each action and how good the position.

        Args:
            observations: (n, size) int8, as seen by the players on turn.
            masks: (n, num_actions) int8, each with a legal action.

        Returns:
            Probabilities (n, num_actions) float32, exactly 0 where an action is illegal, and values
            (n,) float32: the return that the player on turn expects, in the rewards of training. A
            critic that saw hidden cards in training sees a redraw of them here.
        """
        games = self.game.states_behind(observations, SEAT, 0)
        logits = torch.from_numpy(self._logits(games, masks))
        rows = np.arange(len(games))
        positions = list_positions(self.network, games, rows, np.full(len(games), SEAT))
        probabilities = np.zeros(masks.shape, np.float32)
        with torch.no_grad():
            values = self.network.values(torch.from_numpy(positions)).numpy()
            shares = logits.softmax(1)
        probabilities[masks != 0] = shares[torch.isfinite(logits)].numpy()
        return probabilities, values

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return an action for each row."""
        logits = self._logits(self.game.states_behind(observations, SEAT, 0), masks)
        chosen = logits.argmax(1) if self.deterministic else draw(logits, self._rng)
        counts = np.count_nonzero(masks, axis=1)
        actions: np.ndarray = np.nonzero(masks)[1][np.cumsum(counts) - counts + chosen]
        return actions

    def _logits(self, games: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the logits of the legal actions in ascending order, filled up with -inf."""
        rows, actions = np.nonzero(masks)
        counts = np.bincount(rows, minlength=len(masks))
        legal = np.zeros((len(masks), counts.max()), np.int16)
        legal[rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)] = actions
        num_legal = counts.astype(np.int16)
        afterstates = list_afterstates(self.game, games, np.arange(len(games)), legal, num_legal)
        with torch.no_grad():
            logits = self.network.scores(torch.from_numpy(afterstates), torch.from_numpy(counts))
        padded: np.ndarray = logits.numpy()
        return padded
