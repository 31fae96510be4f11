"""Pearson's chi-square test with one fixed level, for statistics with fixed seeds."""

import math
from collections.abc import Sequence

_QUANTILE = 3.719  # of the normal distribution at 1 - 1e-4
_SMALLEST_EXPECTATION = 5.0


def limit(degrees: int) -> float:
    """Return the value that chance exceeds once in 10,000 times (Wilson and Hilferty 1931)."""
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + _QUANTILE * math.sqrt(spread)) ** 3


def fits(observed: Sequence[float], chances: Sequence[float]) -> bool:
    """Return whether counts agree with chances, neighbouring rare classes taken together."""
    total = sum(observed)
    classes = _merge([[o, c * total] for o, c in zip(observed, chances, strict=True)])
    distance = sum((o - e) ** 2 / e for o, e in classes)
    assert len(classes) > 1, "there is but one class, so nothing is tested"
    return distance < limit(len(classes) - 1)


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether two rows of counts can come from the same chances."""
    share = sum(first) / (sum(first) + sum(second))
    rows = [[a, b, (a + b) * min(share, 1 - share)] for a, b in zip(first, second, strict=True)]
    classes = _merge(rows)
    distance = 0.0
    for a, b, _ in classes:
        distance += (a - (a + b) * share) ** 2 / ((a + b) * share * (1 - share))
    return distance < limit(len(classes) - 1)


def _merge(rows: list[list[float]]) -> list[list[float]]:
    """Add up neighbouring rows until each expectation, the last entry, is large enough."""
    merged: list[list[float]] = []
    for row in rows:
        if merged and merged[-1][-1] < _SMALLEST_EXPECTATION:
            merged[-1] = [a + b for a, b in zip(merged[-1], row, strict=True)]
        else:
            merged.append(row)
    if len(merged) > 1 and merged[-1][-1] < _SMALLEST_EXPECTATION:
        last = merged.pop()
        merged[-1] = [a + b for a, b in zip(merged[-1], last, strict=True)]
    return merged
