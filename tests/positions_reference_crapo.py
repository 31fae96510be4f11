"""Positions of the slow Crapô reference written as texts, and checks of their legal moves."""

from typing import Any

from reference_crapo import CrapoReference

NO_ROOM = "Kh | Kd | Ks | Kc | Kh | Kd | Ks | Kc"  # F=0, and only queens and aces fit anywhere
TC1_SPACES = "Th | 5c | Kd | 7s | Qs | 2d | 8h | Jc"
TC2_SPACES = "Th | 5c | Kd | 7s | Qs | 2d | 8h | -"
TC4_SPACES = "3s | 7h | 2d Ac | 9c | Jd | 5s | Kc | -"
TC5_SPACES = "9d | Kh | Ks | Qc | 5h | 2s | Jd | 3c"
TC7_SPACES = "9s | Kh | Ks | Qc | 5h | 2s | - | -"
TC9_SPACES = "Kh | Kd | Ks | Kc | Qh | Th | Td | 8s"
TC11_SPACES = "Qd Js Th | Qh Jc | Kh | Kd | 6s | 8c | 4c | 2d"


def piles(text: str) -> list[list[str]]:
    """Read piles written as "Kd Qs | 4h | -"."""
    return [pile.replace("-", "").split() for pile in text.split("|")]


def position(
    spaces: str,
    crapo: str = "- | -",
    waste: str = "- | -",
    stock: str = "Kh Ks | Kd Kc",
    **details: Any,
) -> CrapoReference:
    """Build a position from pile texts; both stocks hold something unless said."""
    return CrapoReference.from_position(
        piles(spaces), piles(crapo), piles(stock), piles(waste), **details
    )


def check(game: CrapoReference, expected: str, folded: str | None = None) -> None:
    """Compare the unfolded and the folded legal moves with written lists."""
    assert sorted(game.legal_moves(fold=False)) == sorted(expected.split())
    wanted = expected if folded is None else folded
    assert sorted(game.legal_moves()) == sorted(wanted.split())


def play(game: CrapoReference, moves: str) -> None:
    """Apply the moves of a text one after the other."""
    for move in moves.split():
        game.apply(move)
