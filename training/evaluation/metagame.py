"""Who beats whom in circles: Nash average, alpha-rank and cycles of certain wins."""

from importlib.util import find_spec

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.sparse import csgraph

ALPHA = 100.0  # strength of selection in alpha-rank


def nash_average(advantages: np.ndarray) -> np.ndarray:
    """Return the equilibrium of greatest entropy of a symmetric zero-sum game, (k,).

    It is the mixture of policies that no policy beats; copies of a policy or weak ones that are
    added change nothing (Balduzzi and others, Re-evaluating Evaluation, 2018).

    Args:
        advantages: (k, k) antisymmetric, what the policy of the row gains against the column's.
    """
    k = len(advantages)
    bounds = [(0.0, 1.0)] * k
    start = linprog(
        np.zeros(k),
        A_ub=advantages,
        b_ub=np.full(k, 1e-9),
        A_eq=np.ones((1, k)),
        b_eq=[1.0],
        bounds=bounds,
    ).x
    found = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-12))).sum()),
        start,
        method="SLSQP",
        bounds=bounds,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "ineq", "fun": lambda p: 1e-9 - advantages @ p},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    mixture = found.x if found.success and (advantages @ found.x).max() < 1e-6 else start
    mixture = np.where(mixture < 1e-6, 0, mixture)
    result: np.ndarray = mixture / mixture.sum()
    return result


def alpha_rank(advantages: np.ndarray) -> np.ndarray | None:
    """Return OpenSpiel's alpha-rank of each policy (k,), None if OpenSpiel is not installed.

    It is the long-run share of a population in which better policies take over (Omidshafiei and
    others, 2019), with one population and `ALPHA`.
    """
    if find_spec("open_spiel") is None:
        return None
    from open_spiel.python.egt import alpharank

    if len(advantages) == 1:
        return np.ones(1)
    with np.errstate(over="ignore"):  # chances of 0 come out of an infinite denominator
        *_, masses, _, _ = alpharank.compute([advantages], alpha=ALPHA)
    return np.asarray(masses)


def find_cycles(beats: np.ndarray) -> list[list[int]]:
    """Return groups of policies in which everyone is beaten by another one, directly or in steps.

    Args:
        beats: (k, k) bool, whether the policy of the row certainly beats that of the column.
    """
    _, labels = csgraph.connected_components(beats, directed=True, connection="strong")
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return [group for group in groups if len(group) > 1]
