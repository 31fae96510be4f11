"""Files of unknown origin: they are refused with a sentence and run nothing."""

import base64
import io
import json
import os
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("safetensors")

import torch
from safetensors.torch import load_file, save_file
from sb3_contrib import MaskablePPO
from tiny_training import positions, tiny_config, tiny_network

from crapo_env.adapters.sb3 import SelfPlayVecEnv
from crapo_env.bots import make_policy
from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game
from training import checkpoint, sb3_zip
from training.checkpoint import load_checkpoint, load_policy, make_card, save_checkpoint
from training.evaluate import main as evaluate
from training.sb3_zip import Sb3Policy, write_card

GAME = find_game("reis_nos_cantos")


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.proof),)


def save_sb3(game: Game, path: Path, **arguments: Any) -> MaskablePPO:
    """Save an untrained model and return it."""
    env = SelfPlayVecEnv(game, 2, [make_policy("random", game)])
    model = MaskablePPO("MlpPolicy", env, n_steps=2, batch_size=2, device="cpu", **arguments)
    model.save(path)
    return model


@pytest.fixture(scope="module")
def sb3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a zip as SB3 writes it, with its card."""
    path = tmp_path_factory.mktemp("sb3") / "model.zip"
    save_sb3(GAME, path)
    write_card(path, GAME, {})
    return path


def entries(path: Path | io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_zip(path: Path | io.BytesIO, content: dict[str, bytes], **arguments: Any) -> None:
    with zipfile.ZipFile(path, "w", **arguments) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def forge(
    sb3: Path, folder: Path, change: Callable[[dict[str, bytes]], Any], **zip_as: Any
) -> Path:
    """Return a copy of a zip, its card beside it, with its entries changed."""
    content = entries(sb3)
    change(content)
    path = folder / "model.zip"
    write_zip(path, content, **zip_as)
    path.with_suffix(".json").write_bytes(sb3.with_suffix(".json").read_bytes())
    return path


def test_a_policy_of_sb3_plays_as_it_does_there(game: Game, tmp_path: Path) -> None:
    kinds = ({}, {"policy_kwargs": {"activation_fn": torch.nn.ReLU, "net_arch": [32, 16, 8]}})
    for number, arguments in enumerate(kinds):
        path = tmp_path / f"model{number}.zip"
        model = save_sb3(game, path, **arguments)
        assert write_card(path, game, {}) == path.with_suffix(".json")
        observations, masks = positions(game)
        policy = load_policy(str(path), game)
        assert isinstance(policy, Sb3Policy)
        expected, _ = model.predict(observations, action_masks=masks, deterministic=True)
        assert np.array_equal(policy.act(observations, masks), expected)
        drawn = load_policy(str(path), game, 3, deterministic=False)
        actions = drawn.act(observations, masks)
        assert masks[np.arange(len(masks)), actions].all()
        assert not np.array_equal(actions, expected)


def test_an_sb3_zip_takes_part_in_an_evaluation(
    sb3: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--pairs", "1", "--game", GAME.name]
    evaluate([str(sb3), "--against", "random", *options])
    assert "model (d)" in capsys.readouterr().out
    for more, message in (
        (["--option", "target=1"], "trained with target = 25, here it is 1"),
        (["--option", "num_players=3"], "trained with num_players = 2, here it is 3"),
    ):
        with pytest.raises(SystemExit) as error:
            evaluate([str(sb3), *options, *more])
        assert message in str(error.value)


def test_an_sb3_zip_needs_a_card_for_this_game(sb3: Path, tmp_path: Path) -> None:
    path = forge(sb3, tmp_path, lambda content: None)
    card = json.loads(path.with_suffix(".json").read_text())
    other = next(game for game in GAMES.values() if game is not GAME)
    with pytest.raises(ValueError, match=f"game '{GAME.name}', here it is '{other.name}'"):
        load_policy(str(path), other)
    for change, message in (
        ({"game": "whist"}, "for game 'whist', here it is"),
        ({"version": 7}, "for version 7, here it is 0"),
        ({"tables_hash": "0"}, "for tables_hash '0', here it is"),
        ({"format": 9}, "of format 9, here it is 1"),
        ({"activation": "eval"}, "not valid at .*activation: 'eval' is not one of"),
        ({"version": "0"}, "not valid at .*version: '0' is not of type 'integer'"),
        ({"more": 1}, "Additional properties are not allowed"),
    ):
        path.with_suffix(".json").write_text(json.dumps(card | change))
        with pytest.raises(ValueError, match=message):
            load_policy(str(path), GAME)
    path.with_suffix(".json").unlink()
    with pytest.raises(ValueError, match=r"no card model.json beside it; write one with"):
        load_policy(str(path), GAME)
    with pytest.raises(ValueError, match=r"its layers lead from .* as crapo needs"):
        write_card(path, other, {})


def test_no_entry_of_an_sb3_zip_runs_code(sb3: Path, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    pickled, saved = pickle.dumps(Payload(proof)), io.BytesIO()
    torch.save(Payload(proof), saved)
    settings = json.loads(entries(sb3)["data"])
    for value in settings.values():
        if isinstance(value, dict) and ":serialized:" in value:
            value[":serialized:"] = base64.b64encode(pickled).decode()
    assert json.dumps(settings).count(base64.b64encode(pickled).decode()) > 5
    forgeries = [(name, data) for name in entries(sb3) for data in (pickled, saved.getvalue())]
    forgeries.append(("data", json.dumps(settings).encode()))
    weights = io.BytesIO(entries(sb3)["policy.pth"])
    for inner in entries(weights):
        for data in (pickled, saved.getvalue()):
            forged = io.BytesIO()
            write_zip(forged, entries(weights) | {inner: data})
            forgeries.append(("policy.pth", forged.getvalue()))
    refused = 0
    for name, data in forgeries:
        path = forge(sb3, tmp_path, lambda content, n=name, d=data: content.update({n: d}))
        try:
            write_card(path, GAME, {})
            load_policy(str(path), GAME)
        except ValueError as error:
            refused += 1
            assert str(path) in str(error)
            assert "\n" not in str(error)
        assert not proof.exists(), f"{name} ran"
    assert 4 <= refused < len(forgeries)  # what is never read does no harm
    with pytest.raises(FileExistsError):  # SB3's own loader runs it, more than once
        MaskablePPO.load(
            forge(sb3, tmp_path, lambda c: c.update(data=json.dumps(settings).encode()))
        )
    assert proof.exists()


@pytest.mark.parametrize("name", ["../policy.pth", "/policy.pth", "a/../../b", "..\\b", "c:b"])
def test_an_archive_that_leads_elsewhere_is_refused(sb3: Path, tmp_path: Path, name: str) -> None:
    path = forge(sb3, tmp_path, lambda content: content.update({name: b"x"}))
    with pytest.raises(ValueError, match="leads elsewhere"):
        load_policy(str(path), GAME)


def test_bombs_and_oversized_archives_are_refused(
    sb3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = {"policy.pth": bytes(60_000_000)}
    path = forge(sb3, tmp_path, lambda c: c.update(zeros), compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match=r"'policy.pth' unpacks to 60,000,000 bytes"):
        load_policy(str(path), GAME)
    inner = io.BytesIO()
    weights = entries(io.BytesIO(entries(sb3)["policy.pth"]))
    write_zip(inner, weights, compression=zipfile.ZIP_DEFLATED)
    path = forge(sb3, tmp_path, lambda c: c.update({"policy.pth": inner.getvalue()}))
    with pytest.raises(ValueError, match="is compressed, which torch never does"):
        load_policy(str(path), GAME)
    path = forge(sb3, tmp_path, lambda c: c.update({str(i): b"" for i in range(2000)}))
    with pytest.raises(ValueError, match="too many entries"):
        load_policy(str(path), GAME)
    path = forge(sb3, tmp_path, lambda content: None)
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("policy.pth", b"second")
    with pytest.raises(ValueError, match="or one of them twice"):
        load_policy(str(path), GAME)
    path = forge(sb3, tmp_path, lambda content: None)
    monkeypatch.setattr(sb3_zip, "MAX_WEIGHTS", 1000)
    with pytest.raises(ValueError, match="allowed are 1,000"):
        load_policy(str(path), GAME)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.zeros(4, dtype=torch.float64), "float64 .*which no policy needs"),
        (torch.zeros(1).expand(10**12), "which no policy needs"),
        (torch.zeros(1).expand(30_000), "which no policy needs"),
        (torch.zeros(2, 2, 2), "which no policy needs"),
        (torch.zeros(4).to_sparse(), "which no policy needs"),
        (torch.full((4,), torch.nan), "it has no layer action_net"),
        ("words", "which is no tensor"),
    ],
)
def test_odd_tensors_are_refused(sb3: Path, tmp_path: Path, tensor: Any, message: str) -> None:
    saved = io.BytesIO()
    torch.save({"action_net.weight": tensor}, saved)
    path = forge(sb3, tmp_path, lambda c: c.update({"policy.pth": saved.getvalue()}))
    with pytest.raises(ValueError, match=message):
        load_policy(str(path), GAME)


def test_truncated_files_are_refused(sb3: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.safetensors"
    network = tiny_network(GAME)
    save_checkpoint(whole, network, make_card(GAME, tiny_config(GAME).as_dict(), network, 1))
    load_policy(str(whole), GAME)
    for path in (sb3, whole):
        data = path.read_bytes()
        for size in {0, 1, 4, 7, 8, 9, 100, len(data) // 2, len(data) - 1}:
            cut = tmp_path / f"cut{path.suffix}"
            cut.write_bytes(data[:size])
            cut.with_suffix(".json").write_bytes(sb3.with_suffix(".json").read_bytes())
            with pytest.raises(ValueError, match="cannot be used"):
                load_policy(str(cut), GAME)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    for data in (
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"seven of hearts\n" * 9,
        struct.pack("<Q", 2**60),
    ):
        path = tmp_path / "foreign.safetensors"
        path.write_bytes(data)
        with pytest.raises(ValueError, match="cannot be used: it is no whole safetensors file"):
            load_policy(str(path), GAME)


def test_sizes_are_checked_before_memory_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.safetensors"
    network = tiny_network(GAME)
    card = make_card(GAME, tiny_config(GAME).as_dict(), network, 1)
    save_checkpoint(path, network, card)
    tensors = load_file(path)
    made = []
    make = checkpoint._make_network

    def record(*arguments: Any) -> Any:
        made.append(make(*arguments))
        return made[-1]

    monkeypatch.setattr(checkpoint, "_make_network", record)
    name = next(iter(tensors))
    for changed, values, message in (
        (tensors, {"hidden_sizes": [2048] * 8}, "has other tensors than its card says"),
        (tensors | {"more": torch.zeros(1)}, {}, "such as more"),
        (tensors | {name: tensors[name].double()}, {}, f"its {name} is F64 "),
        (tensors | {name: tensors[name][..., :1].clone()}, {}, f"its {name} is F32 "),
    ):
        save_file(changed, path, {"card": json.dumps(vars(card) | values)})
        with pytest.raises(ValueError, match=message):
            load_checkpoint(path, GAME)
    assert made and all(p.device.type == "meta" for network in made for p in network.parameters())
    monkeypatch.setattr(checkpoint, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="allowed are 1,000"):
        load_checkpoint(path, GAME)


def test_a_card_must_keep_to_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    for text, message in (
        ("", "it has no card"),
        ("[" * 100_000, "it has no card"),
        ("[1]", "is not of type 'object'"),
        ("{}", "is a required property"),
        (json.dumps({"format": 1}), "of format 1, here it is 2"),
        (" " * 1_500_000, "allowed are 1,000,000"),
    ):
        save_file({"x": torch.zeros(1)}, path, {"card": text})
        with pytest.raises(ValueError, match=message) as error:
            load_checkpoint(path, GAME)
        assert "\n" not in str(error.value) and len(str(error.value)) < 500
