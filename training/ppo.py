"""Proximal policy optimisation (Schulman et al. 2017) over ragged lists of legal actions.

It is that of sb3-contrib's MaskablePPO; a test holds the two to equal steps on equal data. What
differs is the shape of the input: an action is a row of features, and only legal ones exist.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from training.network import Network


@dataclass(frozen=True)
class Decisions:
    """What is learned from: `n` decisions with `m` legal actions in all or some more."""

    afterstates: np.ndarray  # (m, size) int8, those of a decision side by side
    first: np.ndarray  # (n,) int64, where those of each decision begin
    counts: np.ndarray  # (n,) int64, legal actions of each decision
    positions: np.ndarray  # (n, size) int8, what the critic reads
    chosen: np.ndarray  # (n,) int64, which action of its list was played
    log_probs: np.ndarray  # (n,) float32, of these when they were played
    values: np.ndarray  # (n,) float32, what the critic said then
    advantages: np.ndarray  # (n,) float32
    returns: np.ndarray  # (n,) float32

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.counts)

    def rows_of(self, index: np.ndarray) -> np.ndarray:
        """Return the rows of `afterstates` that belong to the decisions `index`, in their order."""
        return ragged_rows(self.first[index], self.counts[index])


def ragged_rows(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the numbers first[i], first[i] + 1, ... of each list, counts[i] of them."""
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    rows: np.ndarray = np.repeat(first, counts) + within
    return rows


@dataclass(frozen=True)
class Weights:
    """The numbers of a PPO step that do not change the shape of anything."""

    clip_range: float
    entropy_coef: float
    value_coef: float
    max_grad_norm: float


def surrogate(
    network: Network, decisions: Decisions, index: np.ndarray, weights: Weights
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Return the loss over the decisions `index` and its parts."""
    afterstates = torch.from_numpy(decisions.afterstates.take(decisions.rows_of(index), axis=0))
    logits = network.scores(afterstates, torch.from_numpy(decisions.counts[index]))
    all_log_probs = logits.log_softmax(1)
    chosen = torch.from_numpy(decisions.chosen[index])
    log_probs = all_log_probs.gather(1, chosen[:, None]).squeeze(1)
    terms = all_log_probs.exp() * all_log_probs.masked_fill(logits == -torch.inf, 0.0)
    entropy = -terms.sum(1).mean()

    advantages = torch.from_numpy(decisions.advantages[index])
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    log_ratios = log_probs - torch.from_numpy(decisions.log_probs[index])
    ratios = log_ratios.exp()
    clipped = ratios.clamp(1 - weights.clip_range, 1 + weights.clip_range)
    policy_loss = -torch.min(advantages * ratios, advantages * clipped).mean()

    values = network.values(torch.from_numpy(decisions.positions[index]))
    value_loss = functional.mse_loss(values, torch.from_numpy(decisions.returns[index]))
    loss = policy_loss - weights.entropy_coef * entropy + weights.value_coef * value_loss
    with torch.no_grad():
        parts = {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "approx_kl": (ratios - 1 - log_ratios).mean(),  # Schulman's estimator k3
            "clip_fraction": ((ratios - 1).abs() > weights.clip_range).float().mean(),
        }
    return loss, parts


def update(
    network: Network,
    optimizer: torch.optim.Optimizer,
    decisions: Decisions,
    weights: Weights,
    *,
    epochs: int,
    minibatch_size: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Improve the network in place; return means over all steps of what they reported."""
    sums: defaultdict[str, float] = defaultdict(float)
    num_parts = max(1, round(len(decisions) / minibatch_size))
    for _ in range(epochs):
        for index in np.array_split(rng.permutation(len(decisions)), num_parts):
            loss, parts = surrogate(network, decisions, index, weights)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            parts["grad_norm"] = nn.utils.clip_grad_norm_(
                network.parameters(), weights.max_grad_norm
            )
            optimizer.step()
            for name, part in parts.items():
                sums[name] += part.item() / (epochs * num_parts)
    variance = float(np.var(decisions.returns))
    missed = float(np.var(decisions.returns - decisions.values))
    sums["explained_variance"] = 1 - missed / variance if variance > 0 else 0.0
    return dict(sums)
