"""All numbers of a tournament as plain values: what `results.json` holds and the tables show."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from training.evaluation.elo import Ladder
from training.evaluation.intervals import deals_for, interval, mean_interval
from training.evaluation.metagame import alpha_rank, find_cycles, nash_average
from training.evaluation.policies import Description
from training.evaluation.records import Outcome
from training.evaluation.request import Request
from training.evaluation.results import Meeting, Results
from training.evaluation.schedule import Lineup, is_alone
from training.source import package_version, source_commit

FORMAT = 1  # of results.json
FAULTS = ("illegal", "raised", "late", "died")


def summarise(
    request: Request, results: Results, policies: Sequence[Description], ended: str
) -> dict[str, Any]:
    """Return everything that is known of a tournament.

    Args:
        request: its settings.
        results: its games.
        policies: as the process that holds them describes them.
        ended: why the play ended.
    """
    meetings = results.meetings()
    game = request.found_game
    names = [policy.name for policy in policies]
    return {
        "format": FORMAT,
        "complete": ended != "interrupted",
        "ended": ended,
        "game": game.id,
        "tables_hash": game.tables_hash(),
        "package_version": package_version(),
        "commit": source_commit(),
        "options": request.options,
        "players": request.num_seats,
        "deals": {
            "from": request.deals,
            "planned": len(request.seeds),
            "complete": max((len(m.deals) for m in meetings.values()), default=0),
            "fewest": min((len(m.deals) for m in meetings.values()), default=0),
        },
        "games": results.num_games,
        "confidence": request.confidence,
        "looks": request.looks,
        "until_ci": request.until_ci,
        "width": request.width,
        "anchor": names[request.anchor],
        "policies": _policies(request, results, meetings, policies),
        "matches": [
            _match(request, meeting, policy, names)
            for lineup, meeting in meetings.items()
            for policy in sorted(set(lineup))
        ],
        **_metagame(meetings, names, request.confidence),
    }


def _policies(
    request: Request,
    results: Results,
    meetings: Mapping[Lineup, Meeting],
    policies: Sequence[Description],
) -> list[dict[str, Any]]:
    """Return what is told of each policy over all its games."""
    ratings = None
    if meetings:
        ladder = Ladder(meetings, len(policies), request.anchor)
        ratings = ladder.rate(request.confidence, seed=request.seed)
    rows = []
    for k, policy in enumerate(policies):
        decisions = sum(int(m.decisions[m.seats == k].sum()) for m in meetings.values())
        ms = sum(float(m.ms[m.seats == k].sum()) for m in meetings.values())
        rating = ratings[k] if ratings else None
        rows.append(
            {
                "name": policy.name,
                "spec": policy.spec,
                "sha256": policy.sha256,
                "deterministic": policy.deterministic,
                "elo": rating and _finite(rating.elo),
                "elo_interval": rating and [_finite(rating.low), _finite(rating.high)],
                "elo_flag": rating.flag if rating else "",
                "decisions": decisions,
                "ms_per_decision": ms / decisions if decisions else None,
                "faults": {kind: results.faults[k, kind] for kind in FAULTS},
            }
        )
    return rows


def _match(request: Request, meeting: Meeting, k: int, names: Sequence[str]) -> dict[str, Any]:
    """Return how a policy did in a lineup; shares are of its seats."""
    others = list(meeting.lineup)
    others.remove(k)
    scores = meeting.deal_scores(k)
    own = meeting.seats == k
    points = meeting.deal_points(k)
    per_deal = meeting.seats.shape[1]
    needed = deals_for(scores, request.width, request.confidence) * per_deal
    points_mean = None if points is None else mean_interval(points, request.confidence)
    return {
        "policy": names[k],
        "against": [names[other] for other in others],
        "alone": is_alone(meeting.lineup) and meeting.lineup.count(k) == 1,
        "deals": len(scores),
        "games": len(scores) * per_deal,
        "distinct_games": meeting.distinct_games,
        **{outcome.name.lower(): meeting.share(k, outcome) for outcome in Outcome},
        "score": float(scores.mean()),
        "score_interval": list(interval(scores, request.confidence)),
        "par": 1 / len(meeting.lineup),
        "win_interval": list(interval(_deal_wins(meeting, k), request.confidence)),
        "unanimous": float(scores.mean()) in (0.0, 1.0),
        "by_seat": meeting.seat_shares(k),
        "deals_by_score": meeting.deals_by_score(k),
        "points": points_mean and points_mean[0],
        "points_interval": points_mean and [_finite(end) for end in points_mean[1:]],
        "variance_factor": meeting.variance_factor(k),
        "games_for_width": needed,
        "games_needed": max(0, needed - len(scores) * per_deal),
        "faults": int((meeting.faults & own).sum()),
        "decisions": int(meeting.decisions[own].sum()),
        "ms_per_decision": float(meeting.ms[own].sum() / max(1, meeting.decisions[own].sum())),
        "mean_length": float(meeting.decisions.sum(axis=2).mean()),
    }


def _deal_wins(meeting: Meeting, k: int) -> np.ndarray:
    """Return the share of a policy's seats that won on each deal, (d,)."""
    own = meeting.seats == k
    won = own & (meeting.outcomes == Outcome.WIN)
    shares: np.ndarray = won.sum(axis=(1, 2)) / own.sum(axis=(1, 2))
    return shares


def _metagame(
    meetings: Mapping[Lineup, Meeting], names: Sequence[str], confidence: float
) -> dict[str, Any]:
    """Return Nash average, alpha-rank and cycles, from each policy alone against each other one."""
    k = len(names)
    scores, certain = np.full((k, k), np.nan), np.zeros((k, k))
    for lineup, meeting in meetings.items():
        for i in set(lineup):
            if is_alone(lineup) and lineup.count(i) == 1:
                j = next(j for j in lineup if j != i)
                scores[i, j] = meeting.deal_scores(i).mean() - 1 / len(lineup)
                low, high = interval(meeting.deal_scores(i), confidence)
                certain[i, j] = (low > 1 / len(lineup)) - (high < 1 / len(lineup))
    np.fill_diagonal(scores, 0)
    if np.isnan(scores).any():
        return {"nash_average": None, "nash_value": None, "alpha_rank": None, "cycles": []}
    advantages = (scores - scores.T) / 2
    mixture = nash_average(advantages)
    ranks = alpha_rank(advantages)
    beats = (certain > 0) & (certain.T < 0)
    return {
        "nash_average": dict(zip(names, mixture.tolist(), strict=True)),
        "nash_value": dict(zip(names, (advantages @ mixture).tolist(), strict=True)),
        "alpha_rank": None if ranks is None else dict(zip(names, ranks.tolist(), strict=True)),
        "cycles": [[names[i] for i in group] for group in find_cycles(beats)],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
