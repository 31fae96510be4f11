"""The settings of a training run: one flat TOML file, read into a frozen dataclass."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from crapo_env.registry import find_game
from crapo_env.seeds import check_training_seed


@dataclass(frozen=True)
class Config:
    """All settings. `decisions` are the learner's own, those of his opponents do not count."""

    # What is learned
    game: Annotated[str, "Name of the game in the registry."]
    options: Annotated[
        dict[str, Any], "Rule options of the game, such as `{ num_players = 3 }`."
    ] = field(default_factory=dict)
    training_options: Annotated[
        dict[str, Any], "Options that differ in training only, such as how the reward is paid."
    ] = field(default_factory=dict)
    seed: Annotated[int, "Seed of weights, deals, opponents and sampling; below 2**63."] = 0
    total_timesteps: Annotated[int, "Decisions of the whole run."] = 1_000_000

    # Rollouts
    num_envs: Annotated[int, "Games that are played side by side."] = 512
    rollout_decisions: Annotated[int, "Decisions that an update learns from, at least."] = 32_768
    skip_forced: Annotated[bool, "Play the only legal move without asking the network."] = True
    torch_threads: Annotated[int, "Threads of an update; games are played with one."] = 2

    # Network
    hidden_sizes: Annotated[tuple[int, ...], "Widths of the layers of actor and critic."] = (96, 48)
    sees_hidden: Annotated[bool, "Whether the critic, in training only, sees hidden cards."] = False
    leave_out: Annotated[tuple[str, ...], "Fields of the features that networks do not see."] = ()
    bf16: Annotated[bool, "Multiply in bfloat16 while training; fast where the CPU knows it."] = (
        False
    )

    # Reward
    reward_scale: Annotated[float, "What a reward of the game is multiplied by."] = 1.0
    shaping: Annotated[float, "Weight of the game's potential in the rewards at the start."] = 0.0
    final_shaping: Annotated[float, "Weight of the potential at the end; it falls in a line."] = 0.0

    # PPO
    minibatch_size: Annotated[int, "Decisions in a gradient step, about."] = 2_048
    epochs: Annotated[int, "Passes over a rollout in an update."] = 2
    learning_rate: Annotated[float, "Adam's step size at the start."] = 5e-4
    final_learning_rate: Annotated[float, "Adam's step size at the end; it falls in a line."] = 5e-5
    gamma: Annotated[float, "Discount for each decision."] = 0.998
    gae_lambda: Annotated[float, "Decay of the advantage estimate (GAE)."] = 0.95
    clip_range: Annotated[float, "Largest change of a probability ratio that is rewarded."] = 0.2
    entropy_coef: Annotated[float, "Weight of the entropy bonus at the start."] = 0.02
    final_entropy_coef: Annotated[float, "Weight of the entropy bonus at the end."] = 0.003
    value_coef: Annotated[float, "Weight of the value loss."] = 0.5
    max_grad_norm: Annotated[float, "Gradients are clipped to this length."] = 0.5

    # Opponents: weights are relative to each other
    bots: Annotated[tuple[str, ...], "Policies that need no training."] = ("random", "greedy")
    bot_weights: Annotated[tuple[float, ...], "How often each bot is drawn."] = (0.2, 0.3)
    latest_weight: Annotated[float, "How often the learner himself is drawn."] = 0.35
    past_weight: Annotated[float, "How often one of the snapshots is drawn."] = 0.15
    max_past: Annotated[int, "Snapshots that are kept."] = 4
    snapshot_every: Annotated[int, "Updates between two snapshots."] = 10

    # Evaluation and checkpoints
    anchors: Annotated[tuple[str, ...], "Fixed policies that the learner is measured against."] = (
        "random",
        "greedy",
    )
    anchor_options: Annotated[dict[str, Any], "Options that differ in these measurements."] = field(
        default_factory=dict
    )
    anchor_every: Annotated[int, "Updates between two measurements; each writes a checkpoint."] = 40
    save_every: Annotated[int, "Updates between two states that --resume can go on from."] = 10
    anchor_deals: Annotated[int, "Deals of a measurement, each played from every seat."] = 50
    eval_deals: Annotated[int, "Held-out deals of the evaluation at the end."] = 500

    def __post_init__(self) -> None:
        check_training_seed(self.seed)
        find_game(self.game).read_options(self.options)
        find_game(self.game).read_options(self.options | self.training_options)
        find_game(self.game).read_options(self.options | self.anchor_options)
        _check_ranges(self)
        fields = find_game(self.game).features.position.offsets
        if unknown := [name for name in self.leave_out if name not in fields]:
            raise ValueError(f"leave_out names {', '.join(unknown)}; there are {', '.join(fields)}")
        if self.minibatch_size > self.rollout_decisions:
            raise ValueError(
                f"minibatch_size {self.minibatch_size} must be at most rollout_decisions = "
                f"{self.rollout_decisions}"
            )
        if not self.bots or len(self.bots) != len(self.bot_weights):
            raise ValueError(
                f"bots and bot_weights must be equally long and not empty, they have "
                f"{len(self.bots)} and {len(self.bot_weights)} entries"
            )
        if sum(self.bot_weights) + self.latest_weight + self.past_weight == 0:
            raise ValueError("one of bot_weights, latest_weight and past_weight must be above 0")

    def as_dict(self) -> dict[str, Any]:
        """Return all settings as plain values."""
        return asdict(self)


_MAY_BE_ZERO = {
    "seed",
    "final_entropy_coef",
    "entropy_coef",
    "max_past",
    "final_learning_rate",
    "shaping",
    "final_shaping",
}
_AT_MOST_ONE = {"gamma", "gae_lambda"}


def _check_ranges(config: Config) -> None:
    """Refuse numbers that make no sense for any setting or for one."""
    for name, value in config.as_dict().items():
        numbers = value if isinstance(value, tuple) else (value,)
        if name == "hidden_sizes" and not value:
            raise ValueError("hidden_sizes must name at least one layer")
        for number in numbers:
            if isinstance(number, str | bool | dict):
                continue
            if not math.isfinite(number):
                raise ValueError(f"{name} must be a finite number, not {number}")
            if number < 0 or (number == 0 and name not in _MAY_BE_ZERO and "weight" not in name):
                raise ValueError(f"{name} must be above 0, not {number}")
            if name in _AT_MOST_ONE and number > 1:
                raise ValueError(f"{name} must be at most 1, not {number}")


def read_config(path: Path | str, overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the settings of a TOML file, those in `overrides` replaced.

    Raises:
        ValueError: if the file is missing or malformed, a key is unknown or a value is of no use.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read the config {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    try:
        return make_config(values | dict(overrides or {}))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read_setting(text: str) -> tuple[str, Any]:
    """Return name and value of a setting written as in TOML.

    Raises:
        ValueError: if the value is not written as in TOML.
    """
    name, _, value = text.partition("=")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        raise ValueError(f"--set {text}: {value!r} is no value of TOML") from None


def make_config(values: Mapping[str, Any]) -> Config:
    """Return the settings with these values.

    Raises:
        ValueError: if a key is unknown or missing, or a value has the wrong type or range.
    """
    types = get_type_hints(Config)
    for name in values:
        if name not in types:
            close = get_close_matches(name, types, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"there is no setting {name!r}{hint}")
    if "game" not in values:
        raise ValueError("the setting 'game' is missing")
    return Config(**{name: _convert(name, value, types[name]) for name, value in values.items()})


def _convert(name: str, value: Any, wanted: Any) -> Any:
    """Return a value as the type of its setting: TOML has no tuples, and 1 may stand for 1.0."""
    if get_origin(wanted) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} must be a list, not {value!r}")
        return tuple(_convert(name, item, get_args(wanted)[0]) for item in value)
    plain = get_origin(wanted) or wanted
    if plain is float and type(value) is int:
        return float(value)
    if type(value) is not plain:
        raise ValueError(f"{name} must be of the type {plain.__name__}, not {value!r}")
    return value


def describe_settings() -> str:
    """Return a line for each setting: its name, what it means and its default."""
    hints = get_type_hints(Config, include_extras=True)
    lines = []
    for setting in fields(Config):
        default = "" if setting.default is MISSING else f" [{setting.default}]"
        lines.append(f"{setting.name}: {get_args(hints[setting.name])[1]}{default}")
    return "\n".join(lines)
