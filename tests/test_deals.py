"""The evaluation deals: fixed, digested, and out of reach of any training."""

from pathlib import Path

import numpy as np
import pytest

from crapo_env.game import Game
from crapo_env.registry import GAMES
from training.deals import NUM_DEALS, default_path, digest_deals, format_deals, read_deals


def test_the_evaluation_deals_are_those_of_the_file_and_out_of_training(game: Game) -> None:
    seeds = read_deals(default_path(game), game)
    assert len(seeds) == len(set(seeds.tolist())) == NUM_DEALS
    assert seeds.min() >= 2**63
    assert default_path(game).read_text() == format_deals(game)
    assert len(set(digest_deals(game, seeds))) == NUM_DEALS
    assert digest_deals(game, seeds[5:6]) == digest_deals(game, seeds)[5:6]
    assert np.array_equal(read_deals(default_path(game), game, 7), seeds[:7])


def test_a_file_of_deals_that_is_wrong_is_refused(game: Game, tmp_path: Path) -> None:
    text = format_deals(game, 3)
    other = next(g for g in GAMES.values() if g is not game)
    lines = text.splitlines()
    cases = {
        "has 3 deals, 4 are wanted": text,
        "training may use the seed 5": text + "5 0123456789abcdef\n",
        "is no seed and digest": text + "spades\n",
        f"but {game.id} deals": "\n".join([*lines[:-1], f"{2**63 + 9} {lines[-1].split()[1]}"]),
        "is of another game or version": format_deals(other, 4),
    }
    path = tmp_path / "deals.txt"
    for message, content in cases.items():
        path.write_text(content)
        with pytest.raises(ValueError, match=message):
            read_deals(path, game, 4 if "wanted" in message else None)
    path.write_text(f"{2**64} 0123456789abcdef\n")
    with pytest.raises(ValueError, match="is no seed and digest"):
        read_deals(path, game)
    with pytest.raises(ValueError, match="cannot read the deals"):
        read_deals(tmp_path / "none.txt", game)
