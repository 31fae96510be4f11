"""What a scorer sees is public, in its bounds, and what the position after the action shows."""

import numpy as np
from conftest import Setting
from traces import walk

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.game import FieldTable
from crapo_env.reis_nos_cantos import GAME as REIS

N = 16
ABOUT_THE_MOVE = {"move", "moved_rank"}


def afterstates(batch: Batch, games: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the features of all legal actions of some games, by the batch's lists of them."""
    features = batch.game.features
    out = np.full((int(batch.num_legal[rows].sum()), len(features.position)), -1, np.int8)
    assert features.write_afterstates(games, rows, batch.legal, batch.num_legal, out) == len(out)
    return out


def views(batch: Batch, games: np.ndarray, seat: int) -> np.ndarray:
    """Return the features of the positions as one seat sees them."""
    features = batch.game.features
    out = np.full((len(games), len(features.position)), -1, np.int8)
    features.write_positions(games, np.arange(len(games)), np.full(len(games), seat), out)
    return out


def columns(table: FieldTable, names: set[str]) -> np.ndarray:
    """Return which entries belong to fields of these names."""
    return np.concatenate([np.full(f.size, f.name in names) for f in table.fields])


def test_features_lie_in_their_bounds(setting: Setting) -> None:
    features = setting.game.features
    for batch in walk(setting, N, 600):
        rows = np.flatnonzero(batch.num_legal)
        seen = np.concatenate([afterstates(batch, batch.games, rows), views(batch, batch.games, 0)])
        assert seen.min() >= 0 and (seen <= features.position.high).all()
        hidden = np.full((N, len(features.hidden)), -1, np.int8)
        features.write_hidden(batch.games, np.arange(N), np.ones(N, np.int64), hidden)
        assert hidden.min() >= 0 and (hidden <= features.hidden.high).all()


def test_features_do_not_depend_on_hidden_cards(setting: Setting) -> None:
    game, differ = setting.game, 0
    for count, batch in enumerate(walk(setting, N, 600)):
        for seat in range(int(batch.games["num_players"][0]) if count % 7 == 0 else 0):
            other = game.resample_hidden(batch.games, seat, 1000 * count + seat)
            assert np.array_equal(views(batch, batch.games, seat), views(batch, other, seat))
            own = np.flatnonzero((batch.current_player == seat) & (batch.num_legal > 0))
            one, two = afterstates(batch, batch.games, own), afterstates(batch, other, own)
            assert np.array_equal(one, two)
            differ += batch.games.tobytes() != other.tobytes()
    assert differ > 0


def test_features_can_be_had_from_the_observation_alone(setting: Setting) -> None:
    game = setting.game
    for count, batch in enumerate(walk(setting, N, 600)):
        own = np.flatnonzero((batch.num_legal > 0) & (batch.current_player == 1))
        if count % 7 or not len(own):
            continue
        behind = np.zeros(N, game.dtype)
        behind[own] = game.states_behind(batch.observations[own], 0, count)
        assert np.array_equal(afterstates(batch, batch.games, own), afterstates(batch, behind, own))


def test_an_afterstate_is_the_position_after_the_action(setting: Setting) -> None:
    """All but what the action would turn up, and the position that the next player gets."""
    table = setting.game.features.position
    compared = ~columns(table, ABOUT_THE_MOVE)
    unknown = columns(table, {"unknown"})
    rng = np.random.default_rng(0)
    checked = 0
    for batch in walk(setting, N, 300):
        before = batch.current_player.copy()
        going = np.flatnonzero(batch.num_legal)
        starts = np.cumsum(batch.num_legal[going]) - batch.num_legal[going]
        picks = rng.integers(batch.num_legal[going])
        chosen = afterstates(batch, batch.games, going)[starts + picks]
        actions = np.full(N, NO_ACTION)
        actions[going] = batch.legal[going, picks]
        after = Batch(setting.game, N, setting.options, auto_reset=False)
        after.games[:] = batch.games
        after.refresh()
        after.step(actions)
        same_turn = (after.current_player == before) & (after.ended == 0)
        if "round_number" in setting.game.dtype.names:
            same_turn &= after.games["round_number"] == batch.games["round_number"]
        for k in np.flatnonzero(same_turn[going] & ~chosen[:, unknown].any(axis=1)):
            row = going[k]
            seen = views(after, after.games, int(before[row]))[row]
            assert np.array_equal(chosen[k][compared], seen[compared])
            checked += 1
    assert checked > 100


def test_a_played_card_shows_in_the_hand_of_reis_nos_cantos() -> None:
    batch = Batch(REIS, 1)
    batch.reset(3)
    table = REIS.features.position
    before = table.split(views(batch, batch.games, int(batch.current_player[0])))
    for action, row in zip(
        batch.legal[0], afterstates(batch, batch.games, np.array([0])), strict=False
    ):
        after = table.split(row)
        ends = action == batch.legal[0, batch.num_legal[0] - 1]
        assert before["hand"].sum() - after["hand"].sum() == (0 if ends else 1)
        assert after["moment"].tolist() == [1, int(ends), 0]
        assert after["move"].sum() == 1 and after["move"][4] == ends
