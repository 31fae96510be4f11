"""Checkpoints: they play as stored, say what they are for, and never run code."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch
from safetensors.torch import load_file, save_file
from tiny_training import positions, tiny_config, tiny_network

from crapo_env.bots import make_policy
from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game
from training import checkpoint as checkpoint_module
from training.checkpoint import (
    FORMAT,
    SHIPPED,
    CheckpointPolicy,
    load_checkpoint,
    load_policy,
    make_card,
    save_checkpoint,
)
from training.evaluation.policies import find_policy
from training.match import WIN, play_match
from training.network import NetworkPolicy
from training.publish import NUMBERS, publish


def write_checkpoint(game: Game, path: Path, /, seed: int = 0, **changes: Any) -> Path:
    """Write a checkpoint whose card has been tampered with as `changes` say."""
    network = tiny_network(game, seed)
    card = make_card(game, tiny_config(game).as_dict(), network, 1234)
    save_checkpoint(path, network, card)
    if changes:
        values = json.loads(json.dumps(vars(card))) | changes
        save_file(load_file(path), path, metadata={"card": json.dumps(values)})
    return path


def test_a_checkpoint_plays_as_its_network_did(game: Game, tmp_path: Path) -> None:
    network = tiny_network(game)
    path = write_checkpoint(game, tmp_path / "a.safetensors")
    observations, masks = positions(game)
    before = NetworkPolicy(game, network, "before", deterministic=True).act(observations, masks)
    after = load_policy(str(path), game).act(observations, masks)
    assert np.array_equal(before, after)
    assert make_policy(f"checkpoint:{path}", game).act(observations[0], masks[0]) == before[0]
    assert len(set(before.tolist())) > 1
    other = CheckpointPolicy(write_checkpoint(game, tmp_path / "b.safetensors", seed=1), game)
    assert not np.array_equal(before, other.act(observations, masks))


def test_drawn_moves_follow_the_seed_and_the_probabilities(game: Game, tmp_path: Path) -> None:
    path = write_checkpoint(game, tmp_path / "a.safetensors")
    observations, masks = positions(game, n=1)
    many = (np.repeat(observations, 20_000, axis=0), np.repeat(masks, 20_000, axis=0))

    def drawn(seed: int) -> np.ndarray:
        return CheckpointPolicy(path, game, seed, deterministic=False).act(*many)

    assert np.array_equal(drawn(1), drawn(1))
    assert not np.array_equal(drawn(1), drawn(2))
    policy = NetworkPolicy(game, tiny_network(game), "x", deterministic=True)
    weights = policy.evaluate(observations, masks)[0][0]
    shares = np.bincount(drawn(3), minlength=len(weights)) / 20_000
    assert shares == pytest.approx(weights / weights.sum(), abs=0.02)


def test_a_checkpoint_for_something_else_is_refused_with_both_values(
    game: Game, tmp_path: Path
) -> None:
    for name, value in (
        ("game", "whist"),
        ("version", 99),
        ("tables_hash", "0123456789abcdef"),
        ("features", "0123456789abcdef"),
        ("format", 99),
    ):
        path = write_checkpoint(game, tmp_path / f"{name}.safetensors", **{name: value})
        here = {
            "game": game.name,
            "version": game.version,
            "tables_hash": game.tables_hash(),
            "features": game.features.digest(),
            "format": FORMAT,
        }
        with pytest.raises(ValueError) as error:
            load_checkpoint(path, game)
        assert repr(value) in str(error.value)
        assert repr(here[name]) in str(error.value)
    for other in GAMES.values():  # all of a checkpoint of another game differs: the game is named
        if other is not game:
            path = write_checkpoint(other, tmp_path / "other.safetensors")
            with pytest.raises(
                ValueError, match=f"for game '{other.name}', here it is '{game.name}'"
            ):
                load_checkpoint(path, game)
    path = write_checkpoint(game, tmp_path / "options.safetensors")
    with pytest.raises(ValueError, match="trained with max_steps = 0, here it is 7"):
        CheckpointPolicy(path, game).check_options({"max_steps": 7})
    CheckpointPolicy(path, game).check_options({})


def test_a_checkpoint_for_other_rules_is_not_evaluated(game: Game, tmp_path: Path) -> None:
    path = write_checkpoint(game, tmp_path / "a.safetensors")
    assert find_policy(str(path), game, {}, 0).deterministic
    led = find_policy(f"{path}+search:playouts=2", game, {}, 0)
    assert led.deterministic and led.remembers
    with pytest.raises(ValueError, match="trained with max_steps = 0, here it is 7"):
        find_policy(f"{path}+search:playouts=2", game, {"max_steps": 7}, 0)
    assert not find_policy(f"checkpoint:{path}", game, {}, 0, sampled=True).deterministic
    with pytest.raises(ValueError, match="trained with max_steps = 0, here it is 7"):
        find_policy(str(path), game, {"max_steps": 7}, 0)


def test_a_card_that_lies_about_sizes_is_refused(game: Game, tmp_path: Path) -> None:
    for sizes in ([16, 9], [10**9], [], [16, True], [8] * 99):
        path = write_checkpoint(game, tmp_path / "a.safetensors", hidden_sizes=sizes)
        with pytest.raises(ValueError, match="cannot be used"):
            load_checkpoint(path, game)
    path = write_checkpoint(game, tmp_path / "a.safetensors", options=[])
    with pytest.raises(ValueError, match=r"not valid at .*options: .* is not of type 'object'"):
        load_checkpoint(path, game)
    path = write_checkpoint(game, tmp_path / "a.safetensors")
    weights = load_file(path)
    save_file({name: w * torch.nan for name, w in weights.items()}, path, _metadata(path))
    with pytest.raises(ValueError, match="not finite"):
        load_checkpoint(path, game)


def _metadata(path: Path) -> dict[str, str]:
    size = int.from_bytes(path.read_bytes()[:8], "little")
    return json.loads(path.read_bytes()[8 : 8 + size])["__metadata__"]


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.proof),)


@pytest.mark.parametrize("suffix", ["safetensors", "zip", "pt", "pkl"])
def test_a_forged_file_is_refused_and_does_not_run(game: Game, tmp_path: Path, suffix: str) -> None:
    proof = tmp_path / "ran"
    forged = tmp_path / f"forged.{suffix}"
    forged.write_bytes(pickle.dumps(Payload(proof)))
    zipped = tmp_path / f"zipped.{suffix}"
    torch.save(Payload(proof), zipped)
    empty = tmp_path / f"empty.{suffix}"
    empty.touch()
    cardless = tmp_path / f"cardless.{suffix}"
    save_file({"x": torch.zeros(1)}, cardless)
    for path in (forged, zipped, empty, cardless):
        with pytest.raises(ValueError, match="cannot be used"):
            make_policy(f"checkpoint:{path}", game)
    with pytest.raises(ValueError, match="there is no checkpoint"):
        make_policy(f"checkpoint:{tmp_path}/none", game)
    assert not proof.exists()
    pickle.loads(forged.read_bytes())
    assert proof.exists()  # the payload does run where somebody unpickles it


def test_an_interrupted_write_leaves_the_old_checkpoint(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_checkpoint(game, tmp_path / "a.safetensors")
    before = path.read_bytes()

    def fail(file: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_checkpoint(game, path, seed=1)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_published_run_is_played_by_its_name(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, shipped = tmp_path / "run", tmp_path / "shipped"
    write_checkpoint(game, run / "checkpoint.safetensors")
    results = tmp_path / "results.json"
    own = {name: 0 for name in NUMBERS} | {"policy": "run", "illegal": 0}
    other = own | {"policy": "random"}
    results.write_text(json.dumps({"options": {}, "deals": {"from": "x"}, "matches": [own, other]}))
    target = publish(run, "strong", [results], shipped)
    assert target.read_bytes() == (run / "checkpoint.safetensors").read_bytes()
    card = json.loads((shipped / "strong.json").read_text())
    assert card["game"] == game.name and len(card["metrics"]) == 1
    assert card["metrics"][0]["matches"] == [{name: 0 for name in NUMBERS}]
    assert card["licence"] == "MIT" and "configs/strong.toml --seed 0" in card["command"]
    monkeypatch.setattr(checkpoint_module, "SHIPPED", shipped)
    observations, masks = positions(game)
    named = make_policy("checkpoint:strong", game).act(observations, masks)
    assert np.array_equal(named, load_policy(str(target), game).act(observations, masks))
    with pytest.raises(ValueError, match="no checkpoint weak; shipped are strong"):
        make_policy("checkpoint:weak", game)
    results.write_text(results.read_text().replace('"run"', '"another"'))
    with pytest.raises(ValueError, match=r"results.json says nothing of run"):
        publish(run, "strong", [results], shipped)
    results.write_text("{")
    with pytest.raises(ValueError, match="cannot be read as results"):
        publish(run, "strong", [results], shipped)
    with pytest.raises(ValueError, match="must be a file of at most"):
        publish(tmp_path, "strong", [], shipped)


SHIPPED_POLICIES = sorted(SHIPPED.glob("*.safetensors"))


@pytest.mark.parametrize("path", SHIPPED_POLICIES, ids=lambda path: path.stem)
def test_a_shipped_policy_plays_and_says_where_it_comes_from(path: Path) -> None:
    card = json.loads(path.with_suffix(".json").read_text())
    assert card["metrics"] and card["command"].split()[3].startswith("configs/")
    assert (Path(__file__).parents[1] / card["command"].split()[3]).is_file()
    assert path.stat().st_size <= 4_000_000
    game = find_game(card["game"])
    policy = make_policy(f"checkpoint:{path.stem}", game)
    options = game.read_options(card["options"])
    match = play_match(
        game, policy, make_policy("random", game, 1), np.arange(20, dtype=np.uint64), options
    )
    assert match.illegal == 0
    assert match.share(WIN) > 0.8
