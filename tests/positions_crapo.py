"""Written Crapô positions: builds them in the engine, lists the legal moves as text and plays them.

Piles are written bottom first, with bars between them: "Kd Qs | 4h | -". A position may hold fewer
than 104 cards. All readers look at the only game of the batch; `p` is a player.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crapo_env.batch import Batch
from crapo_env.cards import CARD_NAMES, NUM_CARDS, SUITS, card_number
from crapo_env.crapo.state import NO_CARD, PACK_CARDS, open_new_stretch, set_space
from crapo_env.runs import run_from_names, run_to_names

Piles = Sequence[Sequence[str]]

NO_ROOM = "Kh | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=0, and only queens fit
NUM_RESERVE = 14
NUM_STOCK = 34
FIRST_COUNT = 48


def piles(text: str) -> list[list[str]]:
    """Read piles written as "Kd Qs | 4h | -"."""
    return [[] if pile.strip() == "-" else pile.split() for pile in text.split("|")]


def _read(written: str | Piles, number: int) -> list[list[str]]:
    read = piles(written) if isinstance(written, str) else [list(pile) for pile in written]
    assert len(read) == number, f"{number} piles are needed, not {len(read)}"
    return read


def position(
    tableau: str | Piles,
    reserve: str | Piles = "- | -",
    waste: str | Piles = "- | -",
    stock: str | Piles = "Kh Ks | Kd Kc",
    *,
    foundations: Mapping[str, Sequence[int]] | None = None,
    hand: str | None = None,
    current_player: int = 0,
    face_down: Sequence[int] | None = None,
    stock_known: Sequence[int] = (0, 0),
    counters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Batch:
    """Return a batch of one game in a written position, with no earlier arrangement in the turn.

    Args:
        tableau: the eight spaces.
        reserve: both reserves.
        waste: both wastes.
        stock: both stocks, the next card first.
        foundations: heights of the two piles by suit, those not given empty.
        hand: the drawn card of the player on turn.
        current_player: the player on turn.
        face_down: how many cards of each reserve lie face down; all but the top if not given.
        stock_known: 1 for a stock that was turned over.
        counters: values for `smallest`, `turns_without_progress` and other fields of the record.
        **options: rule options.
    """
    batch = Batch("crapo", 1, options, auto_reset=False)
    batch.reset(0)
    g = batch.games[0]
    spaces, reserves = _read(tableau, 8), _read(reserve, 2)
    stocks, wastes = _read(stock, 2), _read(waste, 2)
    for i in range(8):
        set_space(g, i, run_from_names(spaces[i]))
    g["foundation"] = 0
    for suit, heights in (foundations or {}).items():
        g["foundation"][SUITS.index(suit)] = sorted(heights, reverse=True)
    g["hand"] = NO_CARD if hand is None else card_number(hand)
    g["current_player"] = current_player
    g["stock_known"] = stock_known
    for p in range(2):
        _put_piles(g, p, reserves[p], stocks[p], wastes[p])
        g["reserve_down"][p] = face_down[p] if face_down else max(len(reserves[p]) - 1, 0)
        g["smallest"][p] = min(FIRST_COUNT, card_count(batch, p))
    _note_seen_cards(batch)
    g["turn_bare"] = hand is None
    for name, value in (counters or {}).items():
        g[name] = value
    open_new_stretch(g)
    batch.refresh()
    return batch


def _put_piles(g: Any, p: int, reserve: list[str], stock: list[str], waste: list[str]) -> None:
    """Give a player his piles."""
    _put(g["reserve"][p], reserve)
    _put(g["ring"][p], stock + waste)
    g["head"][p] = 0
    g["reserve_size"][p] = len(reserve)
    g["stock_size"][p], g["waste_size"][p] = len(stock), len(waste)


def _put(places: Any, cards: Sequence[str]) -> None:
    places[:] = 0
    places[: len(cards)] = [card_number(card) for card in cards]


def _note_seen_cards(batch: Batch) -> None:
    """Say of the seen cards that they were dealt to player 0, as far as he has room, else to 1."""
    g = batch.games[0]
    g["dealt"] = 0
    hidden = int(g["reserve_down"][0]) + (0 if g["stock_known"][0] else int(g["stock_size"][0]))
    for n, card in enumerate(seen_cards(batch)):
        g["dealt"][int(n >= NUM_CARDS - hidden), card_number(card)] += 1


def seen_cards(batch: Batch) -> list[str]:
    """Return all cards that lie face up or have lain face up (C39)."""
    g = batch.games[0]
    cards = [card for pile in tableau(batch) for card in pile]
    for suit, heights in foundations(batch).items():
        names = [card for card in CARD_NAMES if card[1] == suit]
        cards += [card for height in heights for card in names[:height]]
    for p in range(2):
        cards += reserve(batch, p)[g["reserve_down"][p] :] + waste(batch, p)
        cards += stock(batch, p) if g["stock_known"][p] else []
    return cards + ([] if hand(batch) is None else [str(hand(batch))])


def deck(turned: str, reserve: str = "5c | 6c", stock: str = "- | -") -> list[str]:
    """Return a whole deck, player 0's 52 cards first, from the cards that matter.

    Args:
        turned: the four cards that each player turns up.
        reserve: the top cards of the reserves, the top last; the others are filled in below.
        stock: the first cards of the stocks; the others are filled in behind.
    """
    turns, tops, firsts = _read(turned, 2), _read(reserve, 2), _read(stock, 2)
    left = Counter([*CARD_NAMES, *CARD_NAMES])
    for pile in turns + tops + firsts:
        left.subtract(pile)
    assert min(left.values()) >= 0, "a card is written too often"
    rest = iter(sorted(left.elements()))
    cards = []
    for p in range(2):
        cards += [next(rest) for _ in range(NUM_RESERVE - len(tops[p]))] + tops[p] + turns[p]
        cards += firsts[p] + [next(rest) for _ in range(NUM_STOCK - len(firsts[p]))]
    return cards


def deal(cards: Sequence[str], seed: int = 0, **options: Any) -> Batch:
    """Return a batch of one game dealt from a written deck."""
    batch = Batch("crapo", 1, options, auto_reset=False)
    batch.deal(cards, seed)
    return batch


def moves(batch: Batch) -> set[str]:
    """Return the legal moves as text; list and mask must agree and no text may occur twice."""
    legal = batch.legal[0, : batch.num_legal[0]].tolist()
    assert batch.masks[0].nonzero()[0].tolist() == legal
    texts = {batch.game.action_to_string(batch.games, action) for action in legal}
    assert len(texts) == len(legal)
    return texts


def check(batch: Batch, expected: str) -> None:
    """Compare the legal moves with a written list; "" stands for a game that has ended."""
    found, wanted = moves(batch), set(expected.split())
    more, less = " ".join(sorted(found - wanted)), " ".join(sorted(wanted - found))
    assert found == wanted, f"legal but not expected: {more}; expected but not legal: {less}"


def play(batch: Batch, text: str) -> None:
    """Play the moves of a text one after the other; an illegal one raises ValueError."""
    for move in text.split():
        legal = batch.legal[0, : batch.num_legal[0]].tolist()
        batch.step(np.array([batch.game.string_to_action(batch.games, move, legal)]))


def tableau(batch: Batch) -> list[list[str]]:
    """Return the piles of the eight spaces."""
    return [run_to_names(run) for run in batch.games["tableau"][0].tolist()]


def foundations(batch: Batch) -> dict[str, list[int]]:
    """Return the heights of both piles of each suit."""
    return dict(zip(SUITS, batch.games["foundation"][0].tolist(), strict=True))


def reserve(batch: Batch, p: int) -> list[str]:
    """Return the reserve of player `p`, face-down cards included."""
    g = batch.games[0]
    return [CARD_NAMES[card] for card in g["reserve"][p, : g["reserve_size"][p]].tolist()]


def stock(batch: Batch, p: int) -> list[str]:
    """Return the stock of player `p`, the next card first."""
    return _cycle(batch, p)[: batch.games["stock_size"][0, p]]


def waste(batch: Batch, p: int) -> list[str]:
    """Return the waste of player `p`."""
    return _cycle(batch, p)[batch.games["stock_size"][0, p] :]


def _cycle(batch: Batch, p: int) -> list[str]:
    g = batch.games[0]
    head, size = int(g["head"][p]), int(g["stock_size"][p]) + int(g["waste_size"][p])
    ring = g["ring"][p].tolist()
    return [CARD_NAMES[ring[k % PACK_CARDS]] for k in range(head, head + size)]


def hand(batch: Batch) -> str | None:
    """Return the drawn card."""
    card = int(batch.games["hand"][0])
    return None if card == NO_CARD else CARD_NAMES[card]


def card_count(batch: Batch, p: int) -> int:
    """Return the number of cards that player `p` owns, a drawn one included (C34)."""
    g = batch.games[0]
    held = int(g["hand"] != NO_CARD and g["current_player"] == p)
    return int(g["reserve_size"][p]) + int(g["stock_size"][p]) + int(g["waste_size"][p]) + held


def counter(batch: Batch, name: str) -> Any:
    """Return a field of the record as plain Python."""
    return batch.games[name][0].tolist()
