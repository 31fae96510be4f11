"""The leaderboard: one command, every game and number of players, each checkpoint at its table."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from conftest import list_seatings
from tiny_training import tiny_config, tiny_network

from crapo_env.registry import GAMES, find_game
from training import checkpoint, leaderboard
from training.checkpoint import make_card, save_checkpoint

ROOT = Path(__file__).parents[1]


def sections(page: str) -> dict[tuple[str, int], str]:
    """Return the tables of a page by game and number of players."""
    found = {}
    for section in page.split("\n## ")[1:]:
        name, _, rest = section.partition(", ")
        found[name, int(rest.split()[0])] = section
    return found


@pytest.mark.slow
def test_every_table_is_played_and_checkpoints_join_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = find_game("reis_nos_cantos")
    shipped = tmp_path / "checkpoints"
    network = tiny_network(game)
    config = tiny_config(game, options={"num_players": 3}).as_dict()
    save_checkpoint(shipped / "three.safetensors", network, make_card(game, config, network, 1))
    for module in (checkpoint, leaderboard):
        monkeypatch.setattr(module, "SHIPPED", shipped)
    assert leaderboard.list_shipped(game, game.read_options({})) == []
    assert leaderboard.list_shipped(GAMES["crapo"], GAMES["crapo"].read_options({})) == []
    three = game.read_options({"num_players": 3})
    assert leaderboard.list_shipped(game, three) == ["checkpoint:three"]
    file = str(shipped / "three.safetensors")  # processes of policies have their own SHIPPED
    found = leaderboard.list_shipped
    monkeypatch.setattr(leaderboard, "list_shipped", lambda *a: [file for _ in found(*a)])
    monkeypatch.setattr(leaderboard, "BOTS", ("random", "greedy", "first_legal"))
    monkeypatch.setattr(leaderboard, "FEW", ("first_legal",))
    out, runs = tmp_path / "page.md", tmp_path / "runs"
    arguments = ["--pairs", "2", "--few-pairs", "1", "--runs", str(runs), "--out", str(out)]
    leaderboard.main(arguments)
    page = out.read_text()
    tables = sections(page)
    seatings = [
        (s.game.id, s.options.get("num_players", 2))
        for g in GAMES.values()
        for s in list_seatings(g)
    ]
    assert list(tables) == seatings
    for (name, players), table in tables.items():
        assert ("| three |" in table) == ((name, players) == (game.id, 3))
        assert "| 0 | fixed |" in table and "1 to 2 deals" in table
        assert find_game(name.rpartition("_v")[0]).tables_hash() in table
    before = {path: path.stat().st_mtime_ns for path in runs.glob("*/games.jsonl")}
    leaderboard.main(arguments)  # plays nothing again
    assert out.read_text() == page
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(before) == len(seatings)


def test_a_bad_number_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as error:
        leaderboard.main(["--pairs", "0", "--out", str(tmp_path / "page.md")])
    assert str(error.value) == "error: --pairs must be at least 1, not 0"
    assert not (tmp_path / "page.md").exists()
