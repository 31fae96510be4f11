"""Policies that Stable-Baselines3 has saved: the tensors of a zip, and nothing that runs code.

`MaskablePPO.save` keeps settings as pickles, which can run anything on whoever loads them. Here
only `policy.pth` is read, by torch's loader for tensors alone. What the weights are for stands in a
card beside the zip, `model.json` for `model.zip`, written by whoever trained it:
`python -m training.sb3_zip model.zip --game crapo --option max_steps=0`.
"""

import argparse
import io
import json
import pickle
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crapo_env.bots.policy import Policy
from crapo_env.game import Game
from crapo_env.registry import find_game
from training.archive import open_archive, read_entry
from training.card import (
    MAX_LAYERS,
    MAX_WIDTH,
    PURPOSE,
    check_options,
    check_purpose,
    read_json,
)
from training.option_text import read_option

FORMAT = 1
WEIGHTS, SETTINGS = "policy.pth", "data"
MAX_WEIGHTS = 128_000_000  # bytes
ACTIVATIONS: dict[str, type[nn.Module]] = {
    name: getattr(nn, name) for name in ("Tanh", "ReLU", "LeakyReLU", "ELU", "GELU", "SiLU")
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "format": {"const": FORMAT},
        **PURPOSE,
        "activation": {"enum": list(ACTIVATIONS)},
    },
    "additionalProperties": False,
}
SCHEMA["required"] = list(SCHEMA["properties"])


class Sb3Policy(Policy):
    """Plays the actor of a saved MaskablePPO with an `MlpPolicy`."""

    def __init__(
        self, path: Path, game: Game, seed: int = 0, *, deterministic: bool = True
    ) -> None:
        """Load a policy.

        Raises:
            ValueError: if zip or card cannot be read or are for something else.
        """
        super().__init__(game, path.stem, deterministic=deterministic)
        try:
            self.card = read_card(path)
            check_purpose(self.card, game)
            self.actor = read_actor(path, game, ACTIVATIONS[self.card["activation"]])
        except ValueError as error:
            raise ValueError(f"{path} cannot be used: {error}") from None
        self.set_seed(seed)

    def set_seed(self, seed: int) -> None:
        """Let the moves that are drawn follow from this seed."""
        self._rng = np.random.default_rng(seed)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse to play under other rules than those of the training.

        Raises:
            ValueError: if an option differs.
        """
        check_options(self.name, self.card["options"], self.game.read_options(options), {})

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return an action for each row."""
        with torch.no_grad():
            logits = self.actor(torch.from_numpy(observations).float()).numpy()
        if not self.deterministic:  # the largest of logits plus Gumbel noise is such a draw
            logits = logits + self._rng.gumbel(size=logits.shape)
        actions: np.ndarray = np.where(masks != 0, logits, -np.inf).argmax(axis=1)
        return actions


def card_path(path: Path) -> Path:
    """Return where the card of a zip lies."""
    return path.with_suffix(".json")


def read_card(path: Path) -> dict[str, Any]:
    """Return the card beside a zip.

    Raises:
        ValueError: if there is none or it breaks the schema.
    """
    beside = card_path(path)
    try:
        text = beside.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ValueError(
            f"it has no card {beside.name} beside it; write one with "
            f"`python -m training.sb3_zip {path.name} --game NAME`"
        ) from None
    return read_json(text, SCHEMA, f"card {beside.name}")


def read_actor(path: Path, game: Game, activation: type[nn.Module]) -> nn.Sequential:
    """Return the layers from observations to logits.

    Raises:
        ValueError: if the tensors are not those of such a network.
    """
    tensors = read_tensors(path)
    names = sorted(
        {name.rpartition(".")[0] for name in tensors if ".policy_net." in name},
        key=lambda name: int(re.sub(r"\D", "", name) or 0),
    )
    layers: list[nn.Module] = []
    for name in [*names, "action_net"]:
        layers += [_make_layer(tensors, name), activation()]
    actor = nn.Sequential(*layers[:-1])
    sizes = [len(game.fields), *(layer.out_features for layer in actor if _is_linear(layer))]
    inputs = [layer.in_features for layer in actor if _is_linear(layer)]
    if inputs != sizes[:-1] or sizes[-1] != len(game.actions) or len(inputs) > MAX_LAYERS:
        raise ValueError(
            f"its layers lead from {inputs} inputs to {sizes[1:]} outputs, not from "
            f"{len(game.fields)} to {len(game.actions)} as {game.name} needs"
        )
    return actor.eval().requires_grad_(False)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of the policy in a zip.

    Raises:
        ValueError: if archive or tensors are damaged, too large or of another kind.
    """
    with open_archive(path) as archive:
        data = read_entry(archive, WEIGHTS, MAX_WEIGHTS)
    try:
        open_archive(io.BytesIO(data), stored=True).close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd pickles, which are refused right after
            tensors = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, KeyError) as error:
        sentence = str(error).strip().splitlines()[0][:120]
        raise ValueError(f"its {WEIGHTS} holds something else than tensors: {sentence}") from None
    if not isinstance(tensors, dict):
        raise ValueError(f"its {WEIGHTS} holds no table of tensors")
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise ValueError(f"its {WEIGHTS} holds {name!r}, which is no tensor")
        if (
            tensor.dtype != torch.float32
            or tensor.layout != torch.strided
            or tensor.device.type != "cpu"
            or tensor.dim() > 2
            or max(tensor.shape, default=1) > 16 * MAX_WIDTH
            or tensor.untyped_storage().nbytes() < 4 * tensor.numel()
        ):
            shape = f"{tensor.dtype} {list(tensor.shape)}"
            raise ValueError(f"its tensor {name!r} is {shape}, which no policy needs")
    return tensors


def _make_layer(tensors: Mapping[str, torch.Tensor], name: str) -> nn.Linear:
    weight, bias = tensors.get(f"{name}.weight"), tensors.get(f"{name}.bias")
    if weight is None or bias is None or weight.dim() != 2 or weight.shape[:1] != bias.shape:
        raise ValueError(f"it has no layer {name} of an MlpPolicy")
    if not (torch.isfinite(weight).all() and torch.isfinite(bias).all()):
        raise ValueError("some weights are not finite")
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.load_state_dict({"weight": weight, "bias": bias})
    return layer


def _is_linear(layer: nn.Module) -> bool:
    return isinstance(layer, nn.Linear)


def guess_activation(path: Path) -> str:
    """Return the activation that the settings of a zip name, `Tanh` as SB3's default otherwise.

    The settings are JSON; what is pickled in them stays text.
    """
    with open_archive(path) as archive:
        text = read_entry(archive, SETTINGS, MAX_WEIGHTS).decode("utf-8", "replace")
    found = re.search(r"\"activation_fn\": \"<class 'torch\.nn\.modules\.activation\.(\w+)'>", text)
    return found[1] if found else "Tanh"


def write_card(path: Path, game: Game, options: Mapping[str, Any]) -> Path:
    """Write the card of a zip and return where.

    Raises:
        ValueError: if the zip holds no such policy.
    """
    try:
        activation = guess_activation(path)
        if activation not in ACTIVATIONS:
            raise ValueError(f"it uses {activation}; known are {', '.join(ACTIVATIONS)}")
        read_actor(path, game, ACTIVATIONS[activation])
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}") from None
    values = {
        "format": FORMAT,
        "game": game.name,
        "version": game.version,
        "tables_hash": game.tables_hash(),
        "options": game.read_options(options),
        "activation": activation,
    }
    card_path(path).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return card_path(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the card of the zip on the command line."""
    parser = argparse.ArgumentParser(prog="training.sb3_zip", description=__doc__)
    parser.add_argument("zip", type=Path, help="saved by MaskablePPO.save")
    parser.add_argument("--game", required=True, help="that it was trained for")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="rule")
    asked = parser.parse_args(arguments)
    try:
        options = dict(read_option(text) for text in asked.option)
        print(write_card(asked.zip, find_game(asked.game), options))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
