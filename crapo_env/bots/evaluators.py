"""What a tree search asks at its leaves: how likely the next actions are and who will win."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from crapo_env.batch import Batch
from crapo_env.bots import (
    crapo_choice,
    crapo_greedy,
    crapo_heuristic,
    crapo_search,
    crapo_value,
    reis_greedy,
    reis_planner,
    reis_search,
    reis_value,
)
from crapo_env.bots.policy import Policy

ROLLOUTS = ("heuristic", "greedy")  # who plays on at the leaves


class Evaluator(ABC):
    """Judges the states at the leaves of a search, several in one call."""

    @abstractmethod
    def evaluate(
        self, batch: Batch, root: np.ndarray, seeds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Judge all games of a batch.

        Args:
            batch: (n) games, those that have ended included; left as they are.
            root: (1,) the record from which the search began.
            seeds: (n,) uint64, of all that is random here.

        Returns:
            How likely the player on turn is to choose each action, (n, num_actions), and the share
            of the win that each seat may expect, (n, seats), which sums to 1.
        """


class PlayoutEvaluator(Evaluator):
    """Plays on by a heuristic policy; what some bot chooses is likely."""

    def __init__(
        self,
        finish: Callable[..., None],
        rules: tuple[Any, ...],
        choose: Callable[..., None],
        tables: tuple[Any, ...],
        trust: float,
    ) -> None:
        """Make an evaluator.

        Args:
            finish: (games, root, seeds, *rules, shares): plays on in place and writes the shares.
            rules: how it is played on.
            choose: (games, masks, *tables, actions): what is likely to be chosen.
            tables: of this choice.
            trust: how likely its choice is; all other actions share the rest.
        """
        self._finish = finish
        self._rules = rules
        self._choose = choose
        self._tables = tables
        self._trust = trust

    def evaluate(
        self, batch: Batch, root: np.ndarray, seeds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Judge all games of a batch, see `Evaluator`."""
        n = len(batch)
        actions, rows = np.zeros(n, np.int64), np.arange(n)
        going = batch.num_legal > 0
        chances = batch.masks * ((1 - self._trust) / np.maximum(batch.num_legal, 1))[:, None]
        self._choose(batch.games.copy(), batch.masks, *self._tables, actions)
        chances[rows[going], actions[going]] += self._trust
        shares = np.zeros((n, batch.rewards.shape[1]))
        self._finish(batch.games.copy(), root, seeds, *self._rules, shares)
        return chances, shares


class PolicyEvaluator(Evaluator):
    """Asks a policy that has an `evaluate` of its own, such as a trained network.

    With more than two players the others share what the player on turn does not expect to win.
    """

    def __init__(self, policy: Policy) -> None:
        """Make an evaluator.

        Raises:
            ValueError: if the policy says no probabilities and values.
        """
        if not hasattr(policy, "evaluate"):
            raise ValueError(f"{policy.name} says no probabilities and values, as a search needs")
        self._evaluate = policy.evaluate

    def evaluate(
        self, batch: Batch, root: np.ndarray, seeds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Judge all games of a batch, see `Evaluator`."""
        chances = np.zeros(batch.masks.shape)
        shares = shares_won(batch.games["rewards"][:, : batch.rewards.shape[1]])
        rows = np.flatnonzero(batch.num_legal > 0)
        if len(rows) > 0:
            chances[rows], values = self._evaluate(batch.observations[rows], batch.masks[rows])
            own = np.clip((1 + values) / 2, 0, 1)
            shares[rows] = ((1 - own) / (shares.shape[1] - 1))[:, None]
            shares[rows, batch.current_player[rows]] = own
        return chances, shares


def shares_won(rewards: np.ndarray) -> np.ndarray:
    """Return the shares of the win that final rewards (n, seats) mean; a draw is shared by all."""
    won = np.maximum(rewards, 0).astype(float)
    total = won.sum(axis=1, keepdims=True)
    return np.where(total > 0, won / np.where(total > 0, total, 1), 1 / rewards.shape[1])


def judge_crapo(rollout: int, horizon: int, noise: int, trust: int) -> PlayoutEvaluator:
    """Return what judges the leaves of a search of Crapô.

    Args:
        rollout: by whose priorities is played on, an index of ROLLOUTS.
        horizon: turns after the root at which a game is valued instead.
        noise: per cent of random actions.
        trust: how likely the heuristic's choice is, in per cent.
    """
    ranks = (crapo_heuristic.RANKS, crapo_greedy.RANKS)[rollout]
    rules = (horizon, round(noise / 100 * 2**16), ranks, crapo_value.WEIGHT_ARRAY)
    choose, tables = crapo_choice.choose_in_all, (crapo_heuristic.RANKS,)
    return PlayoutEvaluator(crapo_search.finish, rules, choose, tables, trust / 100)


def judge_reis_nos_cantos(rollout: int, noise: int, trust: int, nodes: int) -> PlayoutEvaluator:
    """Return what judges the leaves of a search of Reis nos cantos.

    Args:
        rollout: who plays on, an index of ROLLOUTS.
        noise: per cent of turns cut short; the greedy player has none.
        trust: how likely the planner's choice is, in per cent.
        nodes: how many positions it looks at to choose.
    """
    weights = reis_value.WEIGHT_TABLE
    finish, rules = (
        (reis_search.finish, (round(noise / 100 * 2**16), weights)),
        (reis_search.finish_greedily, (reis_greedy.RANKS,)),
    )[rollout]
    return PlayoutEvaluator(finish, rules, reis_planner.plan_in_all, (nodes, weights), trust / 100)
