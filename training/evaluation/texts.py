"""The words and numbers that the tables on a terminal and in a report share."""

from collections import Counter
from typing import Any


def title(summary: dict[str, Any]) -> str:
    """Return what was played, in a line."""
    deals = summary["deals"]
    number = "to".join(f" {n} " for n in sorted({deals["fewest"], deals["complete"]})).strip()
    return (
        f"{summary['game']}, {summary['players']} players, {number} deals "
        f"({deals['from']}) from every seat, {summary['games']:,} games"
    )


def policy_label(policy: dict[str, Any]) -> str:
    """Return name and whether its moves are deterministic or sampled."""
    return f"{policy['name']} ({'d' if policy['deterministic'] else 's'})"


def find_match(summary: dict[str, Any], name: str, other: str) -> dict[str, Any] | None:
    """Return how a policy did alone against another one."""
    for match in summary["matches"]:
        if match["policy"] == name and match["alone"] and set(match["against"]) == {other}:
            return dict(match)
    return None


def cell(summary: dict[str, Any], name: str, other: str) -> str:
    """Return a cell of the cross table: score and interval."""
    match = find_match(summary, name, other)
    if match is None:
        return "-" if name == other else ""
    flag = "!" if match["unanimous"] else ""
    return f"{100 * match['score']:.1f}{flag} {percent_range(match['score_interval'])}"


def percent_range(ends: list[float]) -> str:
    """Return an interval in per cent."""
    return f"[{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"


def elo_text(policy: dict[str, Any]) -> tuple[str, str]:
    """Return rating and interval of a policy; a rating that is only a bound has a mark."""
    if policy["elo"] is None:
        return "", ""
    low, high = policy["elo_interval"]
    if low == high:
        return f"{policy['elo']:.0f}", "fixed"
    ends = ("-inf" if low is None else f"{low:+.0f}", "inf" if high is None else f"{high:+.0f}")
    return f"{policy['elo']:+.0f}{'!' if policy['elo_flag'] else ''}", f"[{ends[0]}, {ends[1]}]"


def match_cells(match: dict[str, Any]) -> dict[str, str]:
    """Return a row of the table of lineups, by column."""
    counts = Counter(match["against"])
    against = ", ".join(f"{n} x {name}" if n > 1 else name for name, n in counts.items())
    factor, points = match["variance_factor"], match["points"]
    return {
        "policy": match["policy"],
        "against": against,
        "win %": f"{100 * match['win']:.1f} {percent_range(match['win_interval'])}",
        "draw %": f"{100 * match['draw']:.1f}",
        "loss %": f"{100 * match['loss']:.1f}",
        "cap %": f"{100 * match['capped']:.1f}",
        "W/D/L/C by seat": " ".join(
            "/".join(f"{100 * share:.0f}" for share in seat.values()) for seat in match["by_seat"]
        ),
        "points": "" if points is None else f"{points:+.2f}",
        "games": f"{match['games']:,}",
        "distinct": f"{match['distinct_games']:,}",
        "faults": str(match["faults"]),
        "less luck": "" if factor is None else f"x{factor:.2f}",
        "needs": f"{match['games_needed']:,}",
        "length": f"{match['mean_length']:.0f}",
    }


def list_cycles(summary: dict[str, Any]) -> list[str]:
    """Return a sentence for every group of policies that beat each other in a circle."""
    return [
        f"Cycle: among {', '.join(group)} everyone is certainly beaten by another one."
        for group in summary["cycles"]
    ]


def list_notes(summary: dict[str, Any]) -> list[str]:
    """Return what has to be said of these results: flags, cycles, an early end."""
    notes = []
    if summary["ended"] == "interrupted":
        notes.append("Interrupted: only deals of which every seating was played are counted.")
    for policy in summary["policies"]:
        if policy["elo"] is not None and policy["elo_flag"]:
            end = "lower" if policy["elo_flag"] == "only wins" else "upper"
            notes.append(
                f"{policy['name']}: {policy['elo_flag']} as seen from {summary['anchor']}, so its "
                f"Elo is no estimate; only the {end} end of its interval says something."
            )
    notes += list_cycles(summary)
    if summary["alpha_rank"] is None:
        notes.append("alpha-rank: not computed, it needs OpenSpiel (extra adapters-openspiel).")
    else:
        ranks = ", ".join(f"{name} {100 * x:.0f} %" for name, x in summary["alpha_rank"].items())
        notes.append(f"alpha-rank: {ranks}.")
    return notes


def explain(summary: dict[str, Any]) -> str:
    """Return what the columns mean."""
    looks = len(summary["looks"])
    level = f"{100 * summary['confidence']:.3g} % intervals over deals"
    if looks > 1:
        level += f", so that 95 % hold at all {looks} looks together"
    return (
        f"{level}. (d) deterministic, (s) sampled moves. Score: share of the wins, a draw or a "
        f"game cut off by max_steps shared evenly; par {100 / summary['players']:.1f} %. ! only "
        f"wins or only losses. Elo: {summary['anchor']} = 0; one even game per lineup is added. "
        "Nash: share in the mixture that nobody beats. Faults: games lost by an illegal move, an "
        "error, a late or no answer. Points: how many fewer than the others on average. Less luck: "
        "by what factor playing deals from all seats reduces the variance. Needs: games still to "
        f"be played for an interval of ±{100 * summary['width']:g} %. Length: decisions of a game."
    )
