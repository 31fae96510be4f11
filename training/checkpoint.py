"""Checkpoints: one safetensors file with the weights and a card of what they are for.

Nothing here unpickles: a file of unknown origin can at worst be refused.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any, get_origin

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

import crapo_env
from crapo_env.game import Game
from training.network import Network, NetworkPolicy
from training.storage import write_whole

FORMAT = 2  # raised when the card or the names of the tensors change
SHIPPED = Path(crapo_env.__file__).parent / "checkpoints"  # policies of the package, by name
MAX_WIDTH = 2048  # of a layer; a card that claims more is refused before memory is taken
MAX_LAYERS = 8


@dataclass(frozen=True)
class Card:
    """What a checkpoint is for and where it comes from."""

    format: int  # of the file
    game: str
    version: int  # of the game's rules, ids, observations and rewards
    tables_hash: str  # of its action and observation tables
    options: dict[str, Any]  # all rule options that it was trained with
    features: str  # hash of the tables of its features
    hidden_sizes: list[int]  # widths of the layers of actor and critic
    sees_hidden: bool  # whether its critic reads hidden cards
    decisions: int  # of the learner until then
    config: dict[str, Any]  # all settings of the run
    package_version: str
    commit: str  # of the source


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
        package_version=_package_version(),
        commit=_commit(),
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
        with safe_open(path, framework="pt") as file:
            return _parse_card((file.metadata() or {}).get("card", ""))
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from None


def load_checkpoint(path: Path | str, game: Game) -> tuple[Network, Card]:
    """Return the network and the card of a checkpoint for `game`.

    Raises:
        ValueError: if the file cannot be read, is no checkpoint or is for something else.
    """
    path = find_checkpoint(path)
    card = read_card(path)
    try:
        _check_card(card, game)
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        network = Network(game, card.hidden_sizes, sees_hidden=card.sees_hidden)
        network.load_state_dict(tensors, strict=True)
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from None
    if not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError(f"{path} cannot be used: some weights are not finite")
    return network.eval().requires_grad_(False), card


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
        in_training = self.card.options | self.card.config.get("training_options", {})
        for name, value in self.game.read_options(options).items():
            if value not in (self.card.options.get(name), in_training.get(name)):
                raise ValueError(
                    f"{self.name} was trained with {name} = {self.card.options.get(name)!r}, "
                    f"here it is {value!r}"
                )


def load_policy(path: str, game: Game, seed: int = 0) -> CheckpointPolicy:
    """Return the policy of the spec `checkpoint:PATH` or `checkpoint:NAME` of a shipped one.

    It plays the most probable action of its network.
    """
    return CheckpointPolicy(path, game, seed)


def _parse_card(text: str) -> Card:
    """Return the card written as JSON, the types of its values checked."""
    try:
        values = json.loads(text)
        card = Card(**values)
    except (json.JSONDecodeError, TypeError):
        raise ValueError("it has no card of a checkpoint") from None
    for entry in fields(Card):
        value = getattr(card, entry.name)
        if type(value) is not (get_origin(entry.type) or entry.type):
            raise ValueError(f"the card's {entry.name} is of the type {type(value).__name__}")
    return card


def _check_card(card: Card, game: Game) -> None:
    """Refuse a checkpoint of another format, game, version or table, and absurd sizes."""
    wanted = {
        "format": FORMAT,
        "game": game.name,
        "version": game.version,
        "tables_hash": game.tables_hash(),
        "features": game.features.digest(),
    }
    for name, value in wanted.items():
        if getattr(card, name) != value:
            raise ValueError(f"it is for {name} {getattr(card, name)!r}, here it is {value!r}")
    sizes = card.hidden_sizes
    if not 1 <= len(sizes) <= MAX_LAYERS or not all(
        type(size) is int and 1 <= size <= MAX_WIDTH for size in sizes
    ):
        raise ValueError(f"layers of the widths {sizes} are out of range")


def _package_version() -> str:
    try:
        return metadata.version("crapo-env")
    except metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """Return the commit of the source, or "unknown" outside a checkout."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        answer = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return answer.stdout.strip() or "unknown"
