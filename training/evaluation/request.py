"""What a tournament is asked to do, and whether a folder of games belongs to the same one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crapo_env.game import Game
from crapo_env.registry import find_game
from crapo_env.seeds import FIRST_EVALUATION_SEED
from training.deals import default_path, read_deals
from training.evaluation.box import Setup
from training.evaluation.intervals import plan_looks
from training.evaluation.schedule import Lineup, is_alone, list_lineups

FIRST_LOOK = 100  # deals before the first look of a sequential stop
ANCHOR = "random"  # has 0 Elo


@dataclass(frozen=True)
class Request:
    """The settings of a tournament."""

    game: str
    options: dict[str, Any]  # all of them
    specs: tuple[str, ...]  # of the policies
    seeds: tuple[int, ...] = field(repr=False)
    deals: str  # where the seeds come from
    seed: int = 0  # of the policies' own randomness and of the bootstrap
    sampled: bool = False  # checkpoints draw their moves
    ms: float | None = None  # limit of a move
    batch: int = 20  # deals of a lineup that are played side by side
    workers: int = 1
    until_ci: float | None = None  # half-width of the widest score at which the play stops
    few: tuple[str, ...] = ()  # specs of policies so slow that they play less, and none mixed
    few_pairs: int = 50  # the deals that lineups with one of them play
    # Of the slow ones too: the first alone among copies of the second plays so many deals.
    rungs: tuple[tuple[str, str, int], ...] = ()
    width: float = 0.01  # half-width for which the games still needed are told

    @property
    def found_game(self) -> Game:
        """Return the game."""
        return find_game(self.game)

    @property
    def num_seats(self) -> int:
        """Return the number of players."""
        return int(self.found_game.new_games(1, self.options)["num_players"][0])

    @property
    def lineups(self) -> list[Lineup]:
        """Return who meets whom."""
        lineups = list_lineups(len(self.specs), self.num_seats)
        return [lineup for lineup in lineups if is_alone(lineup) or not self._is_slow(lineup)]

    def num_deals(self, lineup: Lineup) -> int:
        """Return how many deals a lineup plays."""
        if not self._is_slow(lineup):
            return len(self.seeds)
        specs = sorted(self.specs[policy] for policy in lineup)
        alone = {tuple(sorted([a] + [b] * (len(specs) - 1))): n for a, b, n in self.rungs}
        return min(alone.get(tuple(specs), self.few_pairs), len(self.seeds))

    def _is_slow(self, lineup: Lineup) -> bool:
        return any(self.specs[policy] in self.few for policy in lineup)

    @property
    def num_games(self) -> int:
        """Return how many games there are if the play does not stop before."""
        return self.num_seats * sum(self.num_deals(lineup) for lineup in self.lineups)

    @property
    def looks(self) -> list[int]:
        """Return the numbers of deals after which the play may stop."""
        if self.until_ci is None:
            return [len(self.seeds)]
        return plan_looks(FIRST_LOOK, len(self.seeds))

    @property
    def confidence(self) -> float:
        """Return the level of all intervals, such that 95 % hold whenever the play stops."""
        return 1 - 0.05 / len(self.looks)

    @property
    def anchor(self) -> int:
        """Return the policy that has 0 Elo: random, or else the last."""
        return self.specs.index(ANCHOR) if ANCHOR in self.specs else len(self.specs) - 1

    def setup(self) -> Setup:
        """Return what the processes of the policies have to know."""
        return Setup(self.game, self.options, self.specs, self.seed, self.sampled)

    def fixed(self) -> dict[str, Any]:
        """Return the settings that the games depend on besides the policies, as plain values."""
        game = self.found_game
        return {
            "game": game.id,
            "tables_hash": game.tables_hash(),
            "options": self.options,
            "deals": self.deals,
            "seed": self.seed,
            "sampled": self.sampled,
            "ms": self.ms,
            "batch": self.batch,
        }


def make_request(
    game: Game,
    options: Mapping[str, Any],
    specs: Sequence[str],
    *,
    pairs: int,
    deals: str | None = None,
    fresh: int | None = None,
    **settings: Any,
) -> Request:
    """Return a checked request.

    Args:
        game: the game.
        options: rule options.
        specs: of the policies.
        pairs: number of deals, each played from every seat.
        deals: a file of deals; the published one of the game if neither this nor `fresh` is given.
        fresh: draws new deals with this seed instead.
        settings: see `Request`.

    Raises:
        ValueError: if something is out of range or cannot be had.
    """
    specs = tuple(dict.fromkeys(specs))
    if len(specs) < 2:
        raise ValueError(f"at least two different policies must play, not {', '.join(specs)}")
    if strangers := set(settings.get("few", ())) - set(specs):
        raise ValueError(f"--few {min(strangers)} does not play; {', '.join(specs)} do")
    if deals is not None and fresh is not None:
        raise ValueError("--deals and --fresh-deals cannot be combined")
    _check("--pairs", pairs, 1)
    _check("--workers", settings.get("workers", 1), 1)
    _check("--batch", settings.get("batch", 1), 1)
    _check("--few-pairs", settings.get("few_pairs"), 1)
    _check("--ms", settings.get("ms"), 0, strict=True)
    _check("--until-ci", settings.get("until_ci"), 0, strict=True)
    _check("--width", settings.get("width"), 0, strict=True)
    _check("--seed", settings.get("seed"), 0)
    if fresh is None:
        path = Path(deals) if deals else default_path(game)
        seeds = read_deals(path, game, pairs)
        source = f"seeds/{path.name}" if deals is None else str(deals)
    else:
        seeds, source = draw_deals(fresh, pairs), f"fresh, seed {fresh}"
    return Request(
        game=game.name,
        options=game.read_options(options),
        specs=specs,
        seeds=tuple(seeds.tolist()),
        deals=source,
        **settings,
    )


def draw_deals(seed: int, n: int) -> np.ndarray:
    """Return `n` seeds of deals, (n,) uint64, that no training uses; more of them begin alike.

    Raises:
        ValueError: if the seed is negative.
    """
    _check("--fresh-deals", seed, 0)
    rng = np.random.default_rng(seed)
    return rng.integers(FIRST_EVALUATION_SEED, 2**64, n, np.uint64)


def _check(name: str, value: float | None, low: float, *, strict: bool = False) -> None:
    if value is not None and (value < low or (strict and value == low) or value != value):
        bound = "above" if strict else "at least"
        raise ValueError(f"{name} must be {bound} {low}, not {value}")
