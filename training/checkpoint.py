"""Checkpoints: one safetensors file with the weights and a card of what they are for.

Nothing here unpickles: a file of unknown origin can at worst be refused.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

import crapo_env
from crapo_env.game import Game
from training.archive import is_zip
from training.card import FORMAT, Card, check_options, check_purpose, parse_card, source_facts
from training.network import Network, NetworkPolicy
from training.sb3_zip import Sb3Policy
from training.storage import write_whole

SHIPPED = Path(crapo_env.__file__).parent / "checkpoints"  # policies of the package, by name
MAX_BYTES = 256_000_000  # of a file
MAX_HEADER = 2_000_000  # bytes, the card included


def make_card(game: Game, config: Mapping[str, Any], network: Network, decisions: int) -> Card:
    """Return the card of a network that was trained so long with these settings."""
    return Card(
        format=FORMAT,
        game=game.name,
        version=game.version,
        tables_hash=game.tables_hash(),
        options=game.read_options(config["options"]),
        features=game.features.digest(),
        hidden_sizes=list(network.hidden_sizes),
        sees_hidden=network.sees_hidden,
        decisions=decisions,
        config=dict(config),
        **source_facts(),
    )


def save_checkpoint(path: Path, network: Network, card: Card) -> None:
    """Write a checkpoint; whoever reads `path` meanwhile sees the old or the new one, whole."""
    write_whole(path, save(network.state_dict(), metadata={"card": json.dumps(asdict(card))}))


def find_checkpoint(path: Path | str) -> Path:
    """Return the file of this path or, without any folder or suffix, the shipped one of this name.

    Raises:
        ValueError: if there is none.
    """
    shipped = SHIPPED / f"{path}.safetensors"
    for place in (Path(path), shipped):
        if place.is_file() and (place != shipped or Path(path).name == str(path)):
            return place
    names = ", ".join(sorted(place.stem for place in SHIPPED.glob("*.safetensors")))
    raise ValueError(f"there is no checkpoint {path}; shipped are {names or 'none'}")


def read_card(path: Path) -> Card:
    """Return the card of a checkpoint for any game.

    Raises:
        ValueError: if the file cannot be read or has no card.
    """
    try:
        _check_size(path)
        with safe_open(path, framework="pt") as file:
            return parse_card((file.metadata() or {}).get("card", ""))
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from None


def load_checkpoint(path: Path | str, game: Game) -> tuple[Network, Card]:
    """Return the network and the card of a checkpoint for `game`.

    Names, shapes and types of all tensors are compared with those that the card makes one expect
    before any of them is read.

    Raises:
        ValueError: if the file cannot be read, is no checkpoint or is for something else.
    """
    path = find_checkpoint(path)
    card = read_card(path)
    try:
        check_purpose(asdict(card), game, features=game.features.digest())
        with torch.device("meta"):  # shapes without memory
            expected = _make_network(game, card).state_dict()
        with safe_open(path, framework="pt") as file:
            _check_tensors(file, expected)
            tensors = {name: file.get_tensor(name) for name in expected}
        network = _make_network(game, card)
        network.load_state_dict(tensors, strict=True)
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from None
    if not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError(f"{path} cannot be used: some weights are not finite")
    return network.eval().requires_grad_(False), card


def _make_network(game: Game, card: Card) -> Network:
    return Network(game, card.hidden_sizes, sees_hidden=card.sees_hidden)


def _check_size(path: Path) -> None:
    """Refuse a file that is too large, or says that its header is."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"it has {size:,} bytes, allowed are {MAX_BYTES:,}")
    with path.open("rb") as file:
        header = int.from_bytes(file.read(8), "little")
    if size < 8 or header > min(size - 8, MAX_HEADER):
        raise ValueError("it is no whole safetensors file")


def _check_tensors(file: Any, expected: Mapping[str, torch.Tensor]) -> None:
    """Compare the tensors that the header of a file lists with those that are expected."""
    names = set(file.keys())
    if names != set(expected):
        odd = ", ".join(sorted(names ^ set(expected))[:3])
        raise ValueError(f"it has other tensors than its card says, such as {odd}")
    for name, tensor in expected.items():
        part = file.get_slice(name)
        if part.get_dtype() != "F32" or part.get_shape() != list(tensor.shape):
            raise ValueError(
                f"its {name} is {part.get_dtype()} {part.get_shape()}, its card says F32 "
                f"{list(tensor.shape)}"
            )


class CheckpointPolicy(NetworkPolicy):
    """Plays the network of a checkpoint."""

    def __init__(
        self, path: Path | str, game: Game, seed: int = 0, *, deterministic: bool = True
    ) -> None:
        network, self.card = load_checkpoint(path, game)
        stem = Path(path).stem
        name = Path(path).absolute().parent.name if stem == "checkpoint" else stem
        super().__init__(game, network, name, deterministic=deterministic, seed=seed)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse to play under other rules than those that it was trained for or with.

        Raises:
            ValueError: if an option differs.
        """
        wanted = self.game.read_options(options)
        also = self.card.config.get("training_options", {})
        check_options(self.name, self.card.options, wanted, also)


def load_policy(
    path: str, game: Game, seed: int = 0, *, deterministic: bool = True
) -> CheckpointPolicy | Sb3Policy:
    """Return the policy of the spec `checkpoint:PATH` or `checkpoint:NAME` of a shipped one.

    It plays the most probable action of its network, or, if not deterministic, draws by the
    probabilities.

    Raises:
        ValueError: if the file cannot be read, is no checkpoint or is for something else.
    """
    if is_zip(Path(path)):
        return Sb3Policy(Path(path), game, seed, deterministic=deterministic)
    return CheckpointPolicy(path, game, seed, deterministic=deterministic)
