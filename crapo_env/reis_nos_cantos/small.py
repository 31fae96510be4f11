"""Reis nos cantos with a few cards only: the same rules, small enough for exact solutions."""

from crapo_env.cards import NUM_CARDS, NUM_RANKS
from crapo_env.chance import Chance
from crapo_env.reis_nos_cantos.chance import Pack
from crapo_env.reis_nos_cantos.state import NUM_CROSSES


def small_chance(ranks: int, suits: int, hand_cards: int, crosses: int, players: int = 2) -> Chance:
    """Return the chance of a match with a small pack: the highest ranks of the first suits.

    Args:
        ranks: how many ranks, from the king down.
        suits: how many suits: hearts, spades, diamonds, clubs.
        hand_cards: cards dealt to each player.
        crosses: cards dealt to the crosses.
        players: number of players.

    Raises:
        ValueError: if a number is out of range or the pack cannot fill hands and crosses.
    """
    for what, value, high in (
        ("ranks", ranks, NUM_RANKS),
        ("suits", suits, NUM_CARDS // NUM_RANKS),
        ("crosses", crosses, NUM_CROSSES),
    ):
        if not (what == "crosses" and value == 0) and not 1 <= value <= high:
            raise ValueError(f"{what} must be from 1 to {high}, not {value}")
    cards = [suit * NUM_RANKS + rank for suit in range(suits) for rank in range(NUM_RANKS)]
    pack = tuple(card for card in cards if card % NUM_RANKS >= NUM_RANKS - ranks)
    needed = players * hand_cards + crosses + suits  # kings of the layout make room for others (R5)
    if hand_cards < 1 or needed > len(pack):
        raise ValueError(
            f"{players} hands of {hand_cards}, {crosses} crosses and {suits} kings need "
            f"{needed} cards, but the pack has {len(pack)}"
        )
    return Pack(pack, hand_cards, crosses).chance()
