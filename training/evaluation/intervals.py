"""Intervals from independent deals, never from the games within a deal."""

import math
from statistics import NormalDist

import numpy as np


def quantile(confidence: float) -> float:
    """Return the half-width of a two-sided interval in standard deviations."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def interval(shares: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a mean share.

    This is Wilson's interval with as many trials as would give the mean the variance that the deals
    show. If all deals agree on 0 or 1 there is none to see, and each deal counts as one trial.

    Args:
        shares: (d,) a share between 0 and 1 for each deal.
        confidence: how often such intervals hold the truth.
    """
    n, mean, z = len(shares), float(shares.mean()), quantile(confidence)
    variance = float(shares.var(ddof=1)) / n if n > 1 else math.inf
    if mean in (0.0, 1.0) or math.isinf(variance):
        trials = float(n)
    elif variance < 1e-15:
        return mean, mean
    else:
        trials = mean * (1 - mean) / variance
    spread = z**2 / trials
    centre = (mean + spread / 2) / (1 + spread)
    half = z * math.sqrt(mean * (1 - mean) / trials + spread / (4 * trials)) / (1 + spread)
    return min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half))


def mean_interval(values: np.ndarray, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return mean, low and high end of values (d,) of deals without bounds, such as points."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = quantile(confidence) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def deals_for(values: np.ndarray, half_width: float, confidence: float = 0.95) -> int:
    """Return how many deals give a mean of such values (d,) an interval of this half-width."""
    variance = float(values.var(ddof=1)) if len(values) > 1 else 0.25
    return math.ceil(variance * (quantile(confidence) / half_width) ** 2)


def plan_looks(first: int, most: int) -> list[int]:
    """Return after how many deals a sequential stop looks: `first`, then twice as many each time.

    To stop when the interval is narrow enough means to look several times. With a chance of error
    of 0.05 / len(looks) at each, the interval holds the truth at all looks together as often as it
    says, wherever the play stops (Bonferroni).
    """
    looks = [min(first, most)]
    while looks[-1] < most:
        looks.append(min(2 * looks[-1], most))
    return looks
