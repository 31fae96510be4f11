"""The redraw of Crapô's face-down cards is exact, and nobody can tell that it was made (C3, C39).

What the exchange of half packs says about the face-down cards is computed here in plain Python by
counting, and the weight on which that rests by trying out every exchange of tiny packs.
"""

import itertools
import math
from collections import Counter
from functools import cache

import chi_square
import numpy as np
import pytest
from positions_crapo import NO_ROOM, position

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.cards import NUM_CARDS
from crapo_env.crapo import GAME
from crapo_env.crapo.checks import check_state

NUM_REDRAWS = 20_000
NUM_DEALS = 200_000


def weight(m: int) -> float:
    """Return the weight of a division in which each player has one copy of `m` faces."""
    return math.comb(m, m // 2) / 2**m


# The weight, by trying out every exchange of tiny packs.


@pytest.mark.parametrize("num_faces", [2, 4])
def test_weight_of_a_division_on_tiny_packs(num_faces):
    """A row of faces is as likely as its weight, over all exchanges of halves and all shuffles."""
    faces, half = range(num_faces), num_faces // 2
    seen: Counter[tuple[int, ...]] = Counter()
    for first in itertools.combinations(faces, half):
        for second in itertools.combinations(faces, half):
            own = [*first, *(face for face in faces if face not in second)]
            other = [*second, *(face for face in faces if face not in first)]
            own_shuffles = Counter(itertools.permutations(own))
            other_shuffles = Counter(itertools.permutations(other))
            for a, b in itertools.product(own_shuffles, other_shuffles):
                seen[a + b] += own_shuffles[a] * other_shuffles[b]
    ratios = set()
    for deck, times in seen.items():
        own = Counter(deck[:num_faces])
        m = sum(1 for copies in own.values() if copies == 1)
        ratios.add(times / weight(m))
    assert len(ratios) == 1
    possible = {tuple(deck) for deck in itertools.permutations([*faces, *faces])}
    assert set(seen) == possible


# What a seat may think, computed by counting, against many redraws.


Seen = tuple[tuple[int, int], ...]  # by face: copies seen that were dealt to player 0, to 1


@cache
def ways(seen: Seen, without: int = -1) -> dict[tuple[int, int], int]:
    """Count the choices of unseen copies for player 0 by their number and by his single faces.

    The face `without` is left out.
    """
    counts = Counter({(0, 0): 1})
    for face, (own, other) in enumerate(seen):
        if face != without:
            longer: Counter[tuple[int, int]] = Counter()
            for ((n, m), count), k in itertools.product(counts.items(), range(3 - own - other)):
                longer[n + k, m + (own + k == 1)] += count * math.comb(2 - own - other, k)
            counts = longer
    return counts


def singles_chances(games: np.ndarray, weigh=weight) -> list[float]:
    """Return the chances that player 0 owns one copy of 0, 2, ..., 52 faces."""
    counts, hidden = ways(seen_copies(games)), hidden_cards(games, 0).shape[1]
    return normal([counts.get((hidden, m), 0) * weigh(m) for m in range(0, NUM_CARDS + 1, 2)])


@cache
def copies_chances(seen: Seen, hidden: int, face: int) -> list[float]:
    """Return the chances that player 0, who has so many face-down cards, owns 0, 1, 2 of a face."""
    own, other = seen[face]
    chances = [0.0, 0.0, 0.0]
    for (n, m), count in ways(seen, face).items():
        k = hidden - n
        if 0 <= k <= 2 - own - other:
            single = own + k == 1
            chances[own + k] += count * math.comb(2 - own - other, k) * weight(m + single)
    return normal(chances)


def chances_by_face(games: np.ndarray) -> list[list[float]]:
    """Return `copies_chances` of every face; faces of which as much was seen have the same."""
    seen, hidden = seen_copies(games), hidden_cards(games, 0).shape[1]
    return [copies_chances(seen, hidden, seen.index(pair)) for pair in seen]


def place_chances(games: np.ndarray, p: int) -> list[float]:
    """Return the chances of each face at any one face-down place of player `p`."""
    means = [chances[1] + 2 * chances[2] for chances in chances_by_face(games)]
    seen = seen_copies(games)
    return normal([(2 - m if p else m) - seen[face][p] for face, m in enumerate(means)])


def normal(chances: list[float]) -> list[float]:
    """Return chances that add up to 1."""
    total = sum(chances)
    return [chance / total for chance in chances]


def seen_copies(games: np.ndarray) -> Seen:
    """Return what was seen in the first game."""
    return tuple(zip(*games["dealt"][0].tolist(), strict=True))


def hidden_cards(games: np.ndarray, p: int) -> np.ndarray:
    """Return the unseen cards of a player in games that differ in nothing else, (n, places)."""
    g = games[0]
    places = (int(g["head"][p]) + np.arange(num_hidden_stock(games, p)[0])) % 104
    reserve = games["reserve"][:, p, : g["reserve_down"][p]]
    return np.concatenate([reserve, games["ring"][:, p, places]], axis=1)


def num_hidden_stock(games: np.ndarray, p: int) -> np.ndarray:
    """Return how many stock cards of a player nobody has seen, by game."""
    return np.where(games["stock_known"][:, p] == 1, 0, games["stock_size"][:, p])


def owned_copies(games: np.ndarray) -> np.ndarray:
    """Return how many copies of each face player 0 owns, by game."""
    copies = games["dealt"][:, 0].astype(int)
    heads, num_stock = games["head"][:, 0].astype(int), num_hidden_stock(games, 0)
    for k in range(13):
        rows = np.flatnonzero(games["reserve_down"][:, 0] > k)
        np.add.at(copies, (rows, games["reserve"][rows, 0, k]), 1)
    for k in range(34):
        rows = np.flatnonzero(num_stock > k)
        np.add.at(copies, (rows, games["ring"][rows, 0, (heads[rows] + k) % 104]), 1)
    return copies


def count_singles(games: np.ndarray) -> np.ndarray:
    """Return in how many games player 0 owns one copy of 0, 2, ..., 52 faces."""
    singles = (owned_copies(games) == 1).sum(axis=1)
    assert not (singles % 2).any()
    return np.bincount(singles // 2, minlength=27)


def played(seed: int, num_steps: int, **options) -> Batch:
    """Return a game after so many random moves."""
    batch = Batch("crapo", 1, options, auto_reset=False)
    batch.reset(seed)
    rng = np.random.default_rng(seed)
    for _ in range(num_steps):
        batch.step(rng.choice(batch.legal[0, : batch.num_legal[0]], 1))
    return batch


@pytest.fixture(scope="module", params=[0, 60, 150, 250, 350], ids="{} moves".format)
def redraws(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """A state of a game, and many redraws of it."""
    games = played(4, request.param).games
    assert games["terminated"][0] == 0
    return games, GAME.resample_hidden(np.repeat(games, NUM_REDRAWS), request.param % 2, seed=7)


def test_redraw_number_of_singles(redraws):
    games, many = redraws
    assert chi_square.fits(count_singles(many), singles_chances(games))


def test_redraw_copies_of_each_face(redraws):
    games, many = redraws
    copies = owned_copies(many)
    for face, chances in enumerate(chances_by_face(games)):
        assert fits_possible(np.bincount(copies[:, face], minlength=3), chances), face


def test_redraw_faces_of_each_place(redraws):
    games, many = redraws
    for p in range(2):
        chances = place_chances(games, p)
        for place, cards in enumerate(hidden_cards(many, p).T):
            assert fits_possible(np.bincount(cards, minlength=NUM_CARDS), chances), place


def fits_possible(counts: np.ndarray, chances: list[float]) -> bool:
    """Return whether counts agree with chances, and nothing impossible was drawn."""
    possible = [k for k, chance in enumerate(chances) if chance > 1e-12]
    if counts[possible].sum() != counts.sum():
        return False
    return len(possible) == 1 or chi_square.fits(counts[possible], [chances[k] for k in possible])


def test_a_uniform_redraw_would_be_noticed():
    """The statistics above can tell the exact redraw from one that forgets the exchange."""
    games = played(4, 0).games
    many = GAME.resample_hidden(np.repeat(games, NUM_REDRAWS), 0, seed=7)
    assert not chi_square.fits(count_singles(many), singles_chances(games, lambda m: 1.0))


# Against the deal itself.


def dealt_chances(factor) -> list[float]:
    """Return the chances of 0, 2, ..., 52 single faces in a deal, each raised by a factor."""
    singles = range(0, NUM_CARDS + 1, 2)
    pairs = [(NUM_CARDS - m) // 2 for m in singles]
    faces = [
        math.comb(NUM_CARDS, m) * math.comb(NUM_CARDS - m, n)
        for m, n in zip(singles, pairs, strict=True)
    ]
    return normal(
        [f * math.comb(m, m // 2) * factor(m) for f, m in zip(faces, singles, strict=True)]
    )


def test_redraw_after_a_public_event_is_like_the_deal():
    """Both reserves show the same face: that is `m` times as likely with `m` single faces."""
    batch = Batch("crapo", NUM_DEALS)
    batch.reset(0)
    tops = batch.games["reserve"][:, :, 13]
    games = batch.games[tops[:, 0] == tops[:, 1]]
    assert len(games) > NUM_DEALS / 130
    redrawn = GAME.resample_hidden(games, 1, seed=3)
    chances = dealt_chances(lambda m: m)
    assert chi_square.fits(count_singles(games), chances)
    assert chi_square.fits(count_singles(redrawn), chances)
    assert chi_square.alike(count_singles(games), count_singles(redrawn))


def test_redraw_in_the_middle_of_games_keeps_the_chances_of_the_deal():
    """Random play looks at no hidden card, so deal, play and redraw end in decks as dealt."""
    n = NUM_REDRAWS
    batch = Batch("crapo", n, auto_reset=False)
    batch.reset(0)
    rng = np.random.default_rng(0)
    for _ in range(100):
        picks = rng.integers(np.maximum(batch.num_legal, 1))
        chosen = batch.legal[np.arange(n), picks]
        batch.step(np.where(batch.num_legal > 0, chosen, NO_ACTION))
    redrawn = GAME.resample_hidden(batch.games, 0, seed=5)
    assert (redrawn["dealt"] == batch.games["dealt"]).all()
    assert chi_square.fits(count_singles(redrawn), dealt_chances(lambda m: 1))


# Nobody can tell.

SAME = [name for name in GAME.dtype.names if name not in ("seed", "rng", "ring", "reserve")]


@pytest.mark.parametrize("seed", range(8))
def test_redraw_changes_nothing_that_a_seat_knows(seed):
    """Observation, mask, legal list and text stay the same to the byte, in whole games."""
    rng = np.random.default_rng(seed)
    options = {} if seed % 2 else {"drawn_card": "may_discard", "draw_gate": "any_time"}
    batch = Batch("crapo", 1, options, auto_reset=False)
    other = Batch("crapo", 1, options, auto_reset=False)
    batch.reset(seed)
    n = 0
    while batch.num_legal[0]:
        if n % 7 == 0:
            for seat in range(2):
                other.games[:] = GAME.resample_hidden(batch.games, seat, seed=n)
                other.refresh()
                check_state(other.games)
                assert other.masks.tobytes() == batch.masks.tobytes()
                assert other.legal[0, : other.num_legal[0]].tobytes() == (
                    batch.legal[0, : batch.num_legal[0]].tobytes()
                )
                for p in range(2):
                    assert other.observe(p).tobytes() == batch.observe(p).tobytes()
                    assert GAME.render(other.games, p) == GAME.render(batch.games, p)
                for name in SAME:
                    assert (other.games[name] == batch.games[name]).all(), name
        batch.step(rng.choice(batch.legal[0, : batch.num_legal[0]], 1))
        n += 1


@pytest.mark.parametrize("num_steps", [0, 100, 250])
def test_redraw_depends_on_the_seed_alone(num_steps):
    games = played(3, num_steps).games
    before = games.tobytes()
    first, again, second = (GAME.resample_hidden(games, 0, seed) for seed in (1, 1, 2))
    assert games.tobytes() == before
    assert first.tobytes() == again.tobytes()
    for p in range(2):
        drawn = [hidden_cards(state, p).tolist() for state in (games, first, second)]
        assert drawn[0] != drawn[1] and drawn[1] != drawn[2]
    assert (first["rng"] != second["rng"]).all()


def test_redraw_leaves_seen_cards_in_their_places():
    """Loaded reserve cards, the wastes and a stock that was turned over stay."""
    batch = position(
        NO_ROOM,
        "2c 3d 9s 8s | 2h Td Jd",
        "4s 6c | 8h 8c",
        "3h 3c 4c | 9d 5s",
        hand="5d",
        face_down=(2, 1),
        stock_known=(0, 1),
    )
    g = batch.games[0]
    g["dealt"] = 1  # a legal pack for the redraw: one copy of each face seen of either player
    for p in range(2):
        for card in hidden_cards(batch.games, p)[0]:
            g["dealt"][p, card] = 0
    many = GAME.resample_hidden(np.repeat(batch.games, 50), 1, seed=1)
    assert (many["reserve"][:, 0, 2:4] == g["reserve"][0, 2:4]).all()
    assert (many["reserve"][:, 1, 1:3] == g["reserve"][1, 1:3]).all()
    assert (many["ring"][:, 0, 3:5] == g["ring"][0, 3:5]).all()
    assert (many["ring"][:, 1, :4] == g["ring"][1, :4]).all()
    hidden = sorted(
        hidden_cards(batch.games, 0)[0].tolist() + hidden_cards(batch.games, 1)[0].tolist()
    )
    for i in range(50):
        redrawn = np.concatenate([hidden_cards(many[i : i + 1], p)[0] for p in range(2)])
        assert sorted(redrawn.tolist()) == hidden
    assert len({many[i : i + 1]["ring"].tobytes() for i in range(50)}) > 10


# A whole state from an observation.


@pytest.mark.parametrize("seat", [0, 1])
def test_a_state_built_from_an_observation_is_observed_as_it(seat):
    batch = played(5, 0)
    rng = np.random.default_rng(seat)
    n = 0
    while batch.num_legal[0]:
        if n % 9 == 0:
            seen = batch.observe(seat)
            games = GAME.states_behind(seen, seat, seed=n)
            check_state(games)
            for p in range(2):
                again = np.empty_like(seen)
                GAME.observe(games, p, again)
                assert (again == batch.observe(p)).all()
        batch.step(rng.choice(batch.legal[0, : batch.num_legal[0]], 1))
        n += 1


def test_states_built_from_an_observation_have_the_same_chances():
    batch = played(4, 150)
    games = GAME.states_behind(np.repeat(batch.observe(1), NUM_REDRAWS, axis=0), 1, seed=11)
    assert chi_square.fits(count_singles(games), singles_chances(batch.games))
