"""What holds for every bot of every game: legality, seeds, shapes, errors, and who beats whom."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import Setting

from crapo_env import __main__ as command_line
from crapo_env.batch import NO_ACTION, Batch
from crapo_env.bots import Policy, list_policies, make_policy, register_loader
from crapo_env.bots.random_bot import FirstLegalPolicy
from crapo_env.game import Game
from crapo_env.registry import GAMES, find_game

NAMES = ("random", "first_legal", "greedy")


def random_states(setting: Setting, n: int, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield observations (n, size) and masks (n, num_actions) of random play."""
    batch = setting.batch(n)
    batch.reset(17)
    walker = make_policy("random", setting.game, seed=1)
    for _ in range(steps):
        yield batch.observations, batch.masks
        batch.step(walker.act(batch.observations, batch.masks))


def late_states(game: Game, n: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and masks after some random play."""
    return list(random_states(Setting(game, {}), n, 40))[-1]


def play(game: Game, policies: Sequence[Policy], n: int, seed: int = 0) -> Batch:
    """Play `n` games to their end, one policy per seat; `games["rewards"]` holds the results."""
    batch = Batch(game, n, auto_reset=False)
    batch.reset(seed)
    while batch.num_legal.any():
        actions = np.full(n, NO_ACTION, np.int64)
        for seat, policy in enumerate(policies):
            rows = np.flatnonzero((batch.current_player == seat) & (batch.num_legal > 0))
            if len(rows) > 0:
                actions[rows] = policy.act(batch.observations[rows], batch.masks[rows])
        batch.step(actions)
    return batch


def paired_scores(game: Game, name: str, other: str, num_deals: int) -> np.ndarray:
    """Return the mean reward of `name` over both seats of every deal, (num_deals,)."""
    pair = [make_policy(name, game), make_policy(other, game)]
    first = play(game, pair, num_deals).games["rewards"][:, 0]
    second = play(game, pair[::-1], num_deals).games["rewards"][:, 1]
    return (first + second) / 2


def mean_and_error(scores: np.ndarray) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(scores.mean()), float(scores.std() / np.sqrt(len(scores)))


# Contract


def test_every_action_is_legal_in_thousands_of_random_states(setting: Setting) -> None:
    policies = [make_policy(name, setting.game) for name in NAMES]
    for observations, masks in random_states(setting, n=32, steps=120):
        for policy in policies:
            actions = policy.act(observations, masks)
            assert actions.dtype == np.int64
            assert masks[np.arange(len(masks)), actions].all(), policy.name


@pytest.mark.parametrize("name", NAMES)
def test_rows_asked_one_by_one_get_the_same_actions(game: Game, name: str) -> None:
    observations, masks = late_states(game)
    together = make_policy(name, game, seed=5).act(observations, masks)
    policy = make_policy(name, game, seed=5)
    single = [policy.act(o, m) for o, m in zip(observations, masks, strict=True)]
    assert single == together.tolist()
    assert all(type(action) is int for action in single)


def test_slices_of_other_arrays_are_read_like_contiguous_ones(game: Game) -> None:
    observations, masks = late_states(game)
    policy = make_policy("greedy", game)
    expected = policy.act(observations, masks)[::2]
    assert (policy.act(observations[::2], masks[::2]) == expected).all()
    assert (policy.act(np.asfortranarray(observations[::2]), masks[::2]) == expected).all()


@pytest.mark.parametrize("name", NAMES)
def test_acting_leaves_observations_and_masks_alone(game: Game, name: str) -> None:
    observations, masks = late_states(game)
    before = observations.copy(), masks.copy()
    make_policy(name, game).act(observations, masks)
    assert (observations == before[0]).all()
    assert (masks == before[1]).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_games(game: Game, name: str) -> None:
    games = [play(game, [make_policy(name, game, seed=3)] * 2, n=4, seed=9).games for _ in range(2)]
    assert games[0].tobytes() == games[1].tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_only_the_random_bot_depends_on_its_seed_and_on_what_it_did_before(
    game: Game, name: str
) -> None:
    observations, masks = late_states(game)
    policy = make_policy(name, game, seed=1)
    first, second = policy.act(observations, masks), policy.act(observations, masks)
    other = make_policy(name, game, seed=2).act(observations, masks)
    assert policy.deterministic == (name != "random")
    assert (first == second).all() == policy.deterministic
    assert (first == other).all() == policy.deterministic


def test_the_random_bot_is_uniform(game: Game) -> None:
    observations, masks = late_states(game)
    i = masks.sum(axis=1).argmax()
    legal = np.flatnonzero(masks[i])
    draws = 2000 * len(legal)
    rows = np.repeat(masks[i : i + 1], draws, axis=0)
    actions = make_policy("random", game).act(
        np.repeat(observations[i : i + 1], draws, axis=0), rows
    )
    counts = np.bincount(actions, minlength=len(game.actions))[legal]
    assert len(legal) >= 4
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)


def test_the_first_legal_bot_takes_the_lowest_id(game: Game) -> None:
    observations, masks = late_states(game)
    actions = make_policy("first_legal", game).act(observations, masks)
    assert actions.tolist() == [np.flatnonzero(mask)[0] for mask in masks]


# Errors


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_shape_is_an_error(game: Game, name: str) -> None:
    observations, masks = late_states(game)
    policy = make_policy(name, game)
    for o, m in (
        (observations[0, :-1], masks[0]),
        (observations[0], masks[0, :-1]),
        (observations[:, :-1], masks),
        (observations[:3], masks[:2]),
        (observations[0], masks[:1]),
        (observations[None], masks[None]),
    ):
        with pytest.raises(ValueError, match=r"shape|rows"):
            policy.act(o, m)


def test_another_type_than_int8_is_an_error(game: Game) -> None:
    observations, masks = late_states(game)
    policy = make_policy("greedy", game)
    with pytest.raises(
        ValueError, match="the observation as an int8 NumPy array, not an array of float32"
    ):
        policy.act(observations.astype(np.float32), masks)
    with pytest.raises(ValueError, match="the mask as an int8 NumPy array, not list"):
        policy.act(observations[0], masks[0].tolist())


@pytest.mark.parametrize("name", NAMES)
def test_a_mask_that_allows_nothing_is_an_error(game: Game, name: str) -> None:
    observations, masks = late_states(game)
    policy = make_policy(name, game)
    empty = masks.copy()
    empty[5] = 0
    with pytest.raises(ValueError, match=f"^{name} .* allows nothing in row 5$"):
        policy.act(observations, empty)
    with pytest.raises(ValueError, match=f"^{name} .* allows nothing$"):
        policy.act(observations[5], empty[5])


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("gredy", "did you mean 'greedy'"),
        ("checkpoint", "did you mean 'checkpoint:PATH'"),
        ("checkpoint:", "did you mean 'checkpoint:PATH'"),
        ("chekpoint:runs/last", "did you mean 'checkpoint"),
        ("zzz", "there are random, first_legal, greedy, "),
    ],
)
def test_an_unknown_spec_is_an_error_of_one_line_with_a_hint(
    game: Game, spec: str, hint: str
) -> None:
    with pytest.raises(ValueError, match=hint) as error:
        make_policy(spec, game)
    assert str(error.value).startswith(f"{game.name} has no policy {spec!r}")
    assert "\n" not in str(error.value)
    assert "there are random, first_legal, greedy, " in str(error.value)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_an_error(game: Game, seed: int) -> None:
    with pytest.raises(ValueError, match=rf"a seed is from 0 to 2\*\*64 - 1, not {seed}"):
        make_policy("random", game, seed=seed)


# Loaders


def test_a_loader_is_imported_on_first_use(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def load(argument: str, game: Game, seed: int) -> Any:
        calls.append((argument, game.name, seed))
        return FirstLegalPolicy(game) if argument == "a:b" else "no policy"

    module = ModuleType("stand_in")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setattr("crapo_env.bots._LOADERS", {})
    register_loader("kept", "stand_in:load")
    assert "kept:PATH" in list_policies(game)
    with pytest.raises(ModuleNotFoundError, match="kept:a:b needs the module stand_in"):
        make_policy("kept:a:b", game)
    monkeypatch.setitem(sys.modules, "stand_in", module)
    assert make_policy("kept:a:b", game, seed=4).name == "first_legal"
    assert calls == [("a:b", game.name, 4)]
    with pytest.raises(TypeError, match="stand_in:load returned str, not a Policy"):
        make_policy("kept:c", game)


def test_importing_the_bots_imports_neither_torch_nor_training() -> None:
    code = "import sys, crapo_env.bots; print({'torch', 'training', 'pettingzoo'} & {*sys.modules})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


def test_every_listed_name_makes_a_policy_that_says_what_it_does(game: Game) -> None:
    listed = list_policies(game)
    assert {*NAMES, "checkpoint:PATH"} <= set(listed)
    assert all(listed.values())
    specs = [spec for spec in listed if ":PATH" not in spec]
    assert [make_policy(spec, game).name for spec in specs] == specs


# Strength


def test_greedy_beats_random_on_500_paired_deals(game: Game) -> None:
    mean, error = mean_and_error(paired_scores(game, "greedy", "random", 500))
    assert mean > 0.8
    assert mean - 5 * error > 0


def test_greedy_beats_first_legal_on_500_paired_deals(game: Game) -> None:
    mean, error = mean_and_error(paired_scores(game, "greedy", "first_legal", 500))
    assert mean - 3 * error > 0


def test_paired_scores_of_a_bot_against_itself_are_zero(game: Game) -> None:
    assert not paired_scores(game, "greedy", "greedy", 50).any()


def test_a_thousand_greedy_games_end_within_the_bound(game: Game) -> None:
    games = play(game, [make_policy("greedy", game)] * 2, 1000).games
    assert games["terminated"].all()
    bound = game.max_decisions({option.name: option.default for option in game.options})
    assert games["num_steps"].max() <= bound


def test_greedy_crapo_games_have_the_known_length_and_are_seldom_undecided() -> None:
    game = find_game("crapo")
    games = play(game, [make_policy("greedy", game)] * 2, 1000).games
    assert (games["rewards"] == 0).all(axis=1).mean() < 0.02
    assert 340 <= np.median(games["num_steps"]) <= 370  # measured: 354
    assert 40 <= np.median(games["num_turns"]) <= 46  # measured: 43


# Command line


def test_the_command_line_lists_all_bots(capsys: pytest.CaptureFixture[str]) -> None:
    command_line.main(["bots"])
    lines = capsys.readouterr().out.split("\n")
    assert [line for line in lines if line and line[0] != " "] == list(GAMES)
    for name in NAMES:
        assert sum(line.startswith(f"  {name} ") for line in lines) == len(GAMES)


def test_the_command_line_prints_a_whole_game(
    game: Game, capsys: pytest.CaptureFixture[str]
) -> None:
    command_line.main(["random-game", game.name, "--seed", "2"])
    text = capsys.readouterr().out
    batch = play(game, [make_policy("random", game, seed=2)] * 2, n=1, seed=2)
    assert text.count("\nplayer_") == batch.games["num_steps"][0]
    assert text.endswith(game.render(batch.games, None))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random-game", "cropo"], "there is no game 'cropo'; did you mean 'crapo'?"),
        (["random-game", "crapo", "--seed", "-1"], "a seed is from 0 to 2**64 - 1, not -1"),
        (["play"], "invalid choice: 'play'"),
    ],
)
def test_the_command_line_names_what_is_wrong(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command_line.main(arguments)
    assert message in capsys.readouterr().err
