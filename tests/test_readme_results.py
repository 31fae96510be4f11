"""The README's tables of results are those of the raw results in `seeds/results/`.

`python tests/test_readme_results.py` rewrites them.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from training.ablate import list_variants, read_plan, read_results

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "seeds" / "results"
MARKED = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
POLICIES = ("crapo", "reis_nos_cantos_2", "reis_nos_cantos_3", "reis_nos_cantos_4")
OPPONENTS = ("random", "greedy", "planner")
SEEDS = (0, 1, 2)
PLANS = sorted((ROOT / "configs" / "ablations").glob("*.toml"))


def read_matches(policy: str, what: str, opponent: str) -> list[dict[str, Any]]:
    """Return the match of each seed's policy, alone against copies of an opponent."""
    matches = []
    for seed in SEEDS:
        path = RESULTS / f"{policy}-seed{seed}-{what}-{opponent}.json"
        results = json.loads(path.read_text())
        name = f"{policy}-seed{seed}"
        (match,) = [m for m in results["matches"] if m["policy"] == name and m["alone"]]
        assert set(match["against"]) == {opponent}
        assert (results["options"].get("target") == 1) == (what == "rounds")
        matches.append(match)
    return matches


def list_rows() -> Iterator[tuple[str, str, str, list[dict[str, Any]]]]:
    """Yield policy, what was played, opponent and the matches, for all results that exist."""
    for policy in POLICIES:
        for what in ("games", "rounds", "matches"):
            for opponent in OPPONENTS:
                if (RESULTS / f"{policy}-seed0-{what}-{opponent}.json").exists():
                    yield policy, what, opponent, read_matches(policy, what, opponent)


def policies_table() -> str:
    """Return how often the policies of all seeds win."""
    lines = ["| policy | what | against | " + " | ".join(f"won, seed {s}" for s in SEEDS)]
    lines[0] += " | mean | drawn | games each |"
    lines.append("|" + " --- |" * (len(SEEDS) + 6))
    for policy, what, opponent, matches in list_rows():
        others = len(matches[0]["against"])
        par = f", {others} of them (par {100 / (others + 1):.1f} %)" if others > 1 else ""
        each = [
            f"{100 * m['win']:.1f} ({100 * m['win_interval'][0]:.1f}-"
            f"{100 * m['win_interval'][1]:.1f})"
            for m in matches
        ]
        won, drawn = (100 * mean(m[key] for m in matches) for key in ("win", "draw"))
        cells = [f"`{policy}`", what, opponent + par, *each, f"{won:.1f}", f"{drawn:.1f}"]
        lines.append("| " + " | ".join([*cells, f"{matches[0]['games']:,}"]) + " |")
    return "\n".join(lines)


def ablations_table(plan: str) -> str:
    """Return the score of every variant of an ablation."""
    results = read_results(RESULTS / f"ablations-{plan}.jsonl").values()
    rows = ["| variant | score by seed | mean | minutes |", "|" + " --- |" * 4]
    for name, each, score, minutes in list_variants(results):
        rows.append(f"| {name} | {each} | {score:.1f} | {minutes:.1f} |")
    return "\n".join(rows)


TABLES = {
    "policies": policies_table,
    "features": lambda: ablations_table("features"),
    "crapo": lambda: ablations_table("crapo"),
    "bfloat16": lambda: ablations_table("bfloat16"),
}


def with_tables(text: str) -> str:
    """Return the README's text with its tables made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}\n{match[3]}", text)


@pytest.mark.parametrize("path", PLANS, ids=[path.stem for path in PLANS])
def test_every_variant_of_the_ablations_was_trained(path: Path) -> None:
    _, variants = read_plan(path)
    known = read_results(RESULTS / f"ablations-{path.stem}.jsonl")
    asked = [(name, json.dumps(c.as_dict())) for name, cs in variants.items() for c in cs]
    assert sorted(known) == sorted(asked)


def test_the_tables_are_those_of_the_raw_results() -> None:
    text = README.read_text()
    assert {match[2] for match in MARKED.finditer(text)} == set(TABLES)
    assert text == with_tables(text)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_recipe_was_measured_with_all_seeds_on_held_out_deals(policy: str) -> None:
    paths = sorted(RESULTS.glob(f"{policy}-seed*.json"))
    assert len(paths) >= len(SEEDS) and len(paths) % len(SEEDS) == 0
    for path in paths:
        results = json.loads(path.read_text())
        assert results["complete"] and results["deals"]["complete"] >= 2000
        assert results["deals"]["from"].startswith("seeds/eval_")
        assert not any(sum(p["faults"].values()) for p in results["policies"])


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text()))
