"""The tables of actions and fields say what the engine does: ids, texts, offsets and bounds."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import SETTINGS, Setting
from traces import is_over, legal_actions, play, random_picks, start, walk

from crapo_env.game import Game

GUARD = 2  # rows before and after an encoder's output


def test_encode_and_decode_are_inverse_over_the_whole_range(game: Game) -> None:
    table = game.actions
    decoded = [table.decode(action) for action in range(len(table))]
    assert len(set(decoded)) == len(table)
    for action, (block, indices) in enumerate(decoded):
        assert table.encode(block, *indices) == action
    for block in table.blocks:
        shape = tuple(len(axis) for axis in block.axes)
        for indices in np.ndindex(shape):
            assert table.decode(table.encode(block.name, *indices)) == (block.name, indices)


def test_what_is_outside_the_table_is_refused(game: Game) -> None:
    for action in (-1, len(game.actions), 10**9):
        with pytest.raises(ValueError, match="out of range"):
            game.actions.decode(action)
    block = game.actions.blocks[0]
    shape = tuple(len(axis) for axis in block.axes)
    for indices in ((), (-1,) * len(shape), shape, (0,) * (len(shape) + 1)):
        with pytest.raises(ValueError, match="has the shape"):
            game.actions.encode(block.name, *indices)
    with pytest.raises(ValueError, match="no action block 'zzz'"):
        game.actions.encode("zzz")


def test_action_names_are_unique_and_in_order_of_the_blocks(game: Game) -> None:
    names = game.actions.names
    assert len(names) == len(set(names)) == len(game.actions) <= 512
    for block in game.actions.blocks:
        first = game.actions.offsets[block.name]
        assert list(names[first : first + block.size]) == block.names()


def test_legal_texts_are_unique_and_can_be_read_back(setting: Setting) -> None:
    env = setting.env()
    for seed in range(4):
        env.reset(seed=seed)
        for _ in play(env, random_picks(seed, 250)):
            legal = legal_actions(env)
            texts = [env.action_to_string(action) for action in legal]
            assert len(set(texts)) == len(legal)
            for text in texts:
                assert text == text.strip() and " " not in text
            assert [env.string_to_action(text) for text in (texts[0], texts[-1])] == [
                legal[0],
                legal[-1],
            ]
            games = env.state().view(setting.game.dtype)
            read = [setting.game.string_to_action(games, text, legal) for text in texts[:9]]
            assert read == legal[:9]


def test_every_action_has_a_text_in_every_state(seating: Setting) -> None:
    """Also the illegal ones, which messages about them name."""
    env = start(seating, 5)
    for step, _ in enumerate(play(env, random_picks(5, 300))):
        if step % 30 == 0:
            texts = [env.action_to_string(action) for action in range(len(seating.game.actions))]
            assert all(texts)
    assert is_over(env) or step == 299


def test_random_play_meets_most_actions_of_every_block(game: Game) -> None:
    """A block that is dead by mistake is found; moves from a place to itself are dead by nature."""
    offered = np.zeros(len(game.actions), bool)
    for setting in (s for s in SETTINGS if s.game is game):
        for batch in walk(setting, 64, 400):
            offered |= batch.masks.any(axis=0)
    for block in game.actions.blocks:
        first = game.actions.offsets[block.name]
        assert offered[first : first + block.size].mean() > 0.4, block.name


def test_fields_cover_the_observation_without_gap_or_overlap(game: Game) -> None:
    counted = np.zeros(len(game.fields), int)
    for field in game.fields.fields:
        first = game.fields.offsets[field.name]
        counted[first : first + field.size] += 1
        assert 0 < field.high <= 127 and field.meaning
        assert (game.fields.high[first : first + field.size] == field.high).all()
    assert (counted == 1).all()
    assert len({field.name for field in game.fields.fields}) == len(game.fields.fields)
    row = np.arange(len(game.fields))
    pieces = game.fields.split(np.stack([row, row]))
    assert all(
        piece.shape == (2, *f.shape)
        for f, piece in zip(game.fields.fields, pieces.values(), strict=True)
    )
    assert np.array_equal(np.concatenate([p[1].ravel() for p in pieces.values()]), row)


def test_an_encoder_writes_its_row_and_nothing_else(setting: Setting) -> None:
    n, size = 8, len(setting.game.fields)
    for step, batch in enumerate(walk(setting, n, 300)):
        if step % 10:
            continue
        for seat in range(int(batch.games["num_players"][0])):
            written = []
            for filler in (77, -77):
                rows = np.full((n + 2 * GUARD, size), filler, np.int8)
                setting.game.observe(batch.games, seat, rows[GUARD:-GUARD])
                assert (rows[:GUARD] == filler).all() and (rows[-GUARD:] == filler).all()
                written.append(rows[GUARD:-GUARD])
            assert np.array_equal(*written), "every entry is written, whatever it held"
            assert (written[0] >= 0).all() and (written[0] <= setting.game.fields.high).all()


def test_observing_changes_no_game(seating: Setting) -> None:
    for batch in walk(seating, 4, 100):
        before = batch.games.tobytes()
        for seat in range(int(batch.games["num_players"][0])):
            batch.observe(seat)
        assert batch.games.tobytes() == before


def test_every_field_changes_at_some_state(game: Game) -> None:
    low = np.full(len(game.fields), 127)
    high = np.zeros(len(game.fields), int)
    for setting in (s for s in SETTINGS if s.game is game):
        for step, batch in enumerate(walk(setting, 16, 1200)):
            seen = batch.observe(step % int(batch.games["num_players"][0]))
            low = np.minimum(low, seen.min(axis=0))
            high = np.maximum(high, seen.max(axis=0))
    for name, changes in game.fields.split(high > low).items():
        assert changes.any(), f"{name} never changes"
        assert changes.mean() > 0.3, f"most of {name} never changes"


def test_the_observer_comes_first(seating: Setting) -> None:
    """One seat is on turn, and it is the one that the mover's own observation names first."""
    for batch in walk(seating, 4, 50):
        on_turn = batch.game.fields.offsets["on_turn"]
        assert (batch.observations[:, on_turn] == 1).all()
        seats = range(int(batch.games["num_players"][0]))
        claims = np.array([batch.observe(seat)[:, on_turn] for seat in seats])
        assert (claims.sum(axis=0) == 1).all()
        assert np.array_equal(claims.argmax(axis=0), batch.current_player)


def test_the_tables_hash_depends_on_every_table(game: Game) -> None:
    actions, fields = game.actions, game.fields
    block = replace(actions.blocks[-1], text="other")
    field = replace(fields.fields[-1], high=fields.fields[-1].high + 1)
    others = [
        replace(game, version=game.version + 1),
        replace(game, name="other"),
        replace(game, actions=replace(actions, blocks=(*actions.blocks[:-1], block))),
        replace(game, fields=replace(fields, fields=(*fields.fields[:-1], field))),
        replace(game, fields=replace(fields, fields=fields.fields[::-1])),
    ]
    assert len({each.tables_hash() for each in (game, *others)}) == 1 + len(others)
