"""Reis nos cantos with a few cards only: the same rules, small enough for exact solutions."""

from dataclasses import replace
from typing import Any

import numpy as np

from crapo_env.cards import NUM_CARDS, NUM_RANKS, random_below, seed_game, shuffle
from crapo_env.chance import Chance
from crapo_env.game import Game
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos import GAME
from crapo_env.reis_nos_cantos.chance import Pack
from crapo_env.reis_nos_cantos.state import NUM_CROSSES, clear, deal_pack


@njit
def _reset(games: Any, seeds: Any, pack: Any, hand_cards: int, crosses: int) -> None:
    """Deal a pack in every record, from seeds (n,) uint64."""
    for i in range(len(games)):
        g = games[i]
        seed_game(g, seeds[i])
        clear(g)
        n = np.int64(g.num_players)
        g.stock[: len(pack)] = pack
        shuffle(g, g.stock[: len(pack)])
        p = random_below(g, n) if g.first_player == 0 else (np.int64(g.first_player) - 2 + n) % n
        deal_pack(g, p, len(pack), hand_cards, crosses)


def small_game(ranks: int, suits: int, hand_cards: int, crosses: int) -> Game:
    """Return the game dealt from a small pack, for two players and `target=1`: a single round.

    Its `reset` deals the small pack; a `Batch` of it must have `auto_reset=False`. The arguments
    are those of `small_chance`.
    """
    pack = small_pack(ranks, suits, hand_cards, crosses)
    cards = np.array(pack.cards, np.int8)

    def reset(games: np.ndarray, seeds: np.ndarray) -> None:
        _reset(games, seeds, cards, hand_cards, crosses)

    return replace(GAME, reset=reset, chance=pack.chance())


def small_chance(ranks: int, suits: int, hand_cards: int, crosses: int, players: int = 2) -> Chance:
    """Return the chance of a match with a small pack, see `small_pack`."""
    return small_pack(ranks, suits, hand_cards, crosses, players).chance()


def small_pack(ranks: int, suits: int, hand_cards: int, crosses: int, players: int = 2) -> Pack:
    """Return a small pack: the highest ranks of the first suits.

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
    return Pack(pack, hand_cards, crosses)
