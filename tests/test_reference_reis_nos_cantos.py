"""The slow reference of Reis nos cantos against the written positions and examples of the rules.

Tests are named after their clause (R1-R20) or position (TR1-TR12). Lists of moves are complete.
"""

import functools
import itertools
import random
from typing import Any

import pytest
from reference_reis_nos_cantos import CORNERS, CROSSES, DECK, ReisReference, lay_out, random_deck


def written(first: str = "") -> list[str]:
    """Return a whole pack that begins with the given cards."""
    return [*first.split(), *(card for card in DECK if card not in first.split())]


def position(
    table: dict[str, str], hand: str, *others: str, stock: Any = 10, seats: Any = 2, **options: Any
) -> ReisReference:
    """Return a position, with unused cards for seats and stock that are not written."""
    named = " ".join([*table.values(), hand, *others, stock if isinstance(stock, str) else ""])
    spare = (card for card in DECK if card not in named.split() and card[0] != "K")
    hands = [hand.split(), *(other.split() for other in others)]
    hands += [[next(spare)] for _ in range(seats - len(hands))]
    pile = stock.split() if isinstance(stock, str) else [next(spare) for _ in range(stock)]
    piles = {place: cards.split() for place, cards in table.items()}
    options.setdefault("next_deck", written)
    return ReisReference.from_position(hands, piles, stock=pile, **options)


def check_moves(game: ReisReference, expected: str, fold: bool = False) -> None:
    """Compare the legal moves with a written list, whatever the order; repeats count."""
    assert sorted(game.legal_moves(fold)) == sorted(expected.split())


def after(game: ReisReference, moves: str) -> ReisReference:
    for move in moves.split():
        game.apply(move)
    return game


TR1 = {"N": "Ts", "E": "4d", "S": "6c", "W": "Jh"}
TR2 = {"E": "7c", "S": "5d", "W": "Qs", "NE": "Kh"}
TR3 = {"N": "Kd Qs", "E": "Jh", "S": "4s", "W": "9c"}
TR4 = {"N": "2h As", "E": "3c", "S": "Ad", "W": "8d"}
TR5 = {"N": "Tc 9h 8s", "E": "Jd", "S": "9d", "W": "5s"}
TR6 = {"N": "4c", "E": "8h 7s", "S": "Th 9c", "W": "6h 5c", "NE": "Kd Qs Jd", "SE": "Kh"}
TR7 = {"N": "6c", "E": "3d", "NE": "Kc Qh Js", "SW": "Kh Qs"}
TR8 = {"N": "9d", "E": "7d", "S": "5d", "W": "3d"}
TR9 = {"N": "Ah", "E": "7d", "S": "5d", "W": "3d", "NE": "Ks", "SE": "Kh", "SW": "Kc"}
TR10 = {"N": "9d", "E": "4d", "S": "Jd", "W": "7d"}

# Table, hand, stock, every legal move; a star marks those that fold=True leaves out.
WRITTEN = [
    (TR1, "9h 3s Kc", 10, "9h->N 3s->E Kc->NE Kc->SE* Kc->SW* Kc->NW* N=>W END"),
    (TR2, "Kd 6d 2c", 10, "Kd->N Kd->SE Kd->SW* Kd->NW* 6d->N 6d->E 2c->N W=>NE END"),
    (TR3, "Tc 3h 8c", 10, "Tc->E 3h->S E=>N END"),
    (TR4, "Kh 7c", 10, "Kh->NE Kh->SE* Kh->SW* Kh->NW* 7c->W N=>E END"),
    (TR5, "8c 7d", 10, "8c->S 7d->N N=>E END"),
    (TR6, "2h 2d Qd", 0, "E=>S W=>E END"),
    (TR7, "5d 2c", 10, "5d->N 5d->S 5d->W* 2c->E 2c->S 2c->W* END"),
    (TR8, "Ac", 0, "END"),
    (TR9, "Kd", 10, "Kd->NW END"),
    (TR10, "3s", 10, "3s->E END"),
]


@pytest.mark.parametrize(("table", "hand", "stock", "moves"), WRITTEN)
@pytest.mark.parametrize("draw_at", ["start", "end"])
@pytest.mark.parametrize("king", [False, True])
def test_written_positions(
    table: dict[str, str], hand: str, stock: int, moves: str, draw_at: str, king: bool
) -> None:
    """The switches change none of these lists, except in TR3, which has a king on a cross."""
    if table is TR3 and king:
        moves += " N=>NE N=>SE* N=>SW* N=>NW*"
    game = position(table, hand, stock=stock, draw_at=draw_at, king_pile_to_corner=king)
    check_moves(game, moves.replace("*", ""))
    kept = [move for move in moves.split() if "*" not in move]
    check_moves(game, " ".join(kept), fold=True)


def test_tr3_king_pile_moves_whole() -> None:
    """With the switch, king and queen go to the chosen corner and free the cross."""
    game = after(position(TR3, "Tc 3h 8c", king_pile_to_corner=True), "N=>SW")
    assert game.piles["SW"] == ["Kd", "Qs"]
    assert game.piles["N"] == []
    check_moves(game, "Tc->N Tc->E 3h->N 3h->S 8c->N E=>SW END")  # SW can only be a target


def test_tr6_pile_move_opens_a_cross() -> None:
    """After the move the freed cross takes every hand card; no pile may go there."""
    game = after(position(TR6, "2h 2d Qd", stock=0), "W=>E")
    assert game.piles["E"] == "8h 7s 6h 5c".split()
    check_moves(game, "2h->W 2d->W Qd->W E=>S END")
    after(game, "E=>S")
    assert game.piles["S"] == "Th 9c 8h 7s 6h 5c".split()
    check_moves(game, "2h->E 2d->E Qd->E 2h->W 2d->W Qd->W END")
    check_moves(game, "2h->E 2d->E Qd->E END", fold=True)


def test_tr8_round_goes_on_while_somebody_can_play() -> None:
    """One player without a play does not block the round."""
    game = after(position(TR8, "Ac", "4s 8h", stock=0, turn_is_dry=True), "END")
    assert (game.round_end, game.current_player, game.dry_turns) == (None, 1, 1)
    check_moves(game, "4s->S END")


def test_tr9_last_king_wins() -> None:
    """The last card in the last corner wins; in that corner the move is also the folded one."""
    game = after(position(TR9, "Kd", "2c Qs", target=2), "Kd->NW")
    assert (game.round_end, game.round_points, game.terminated) == ("won", [0, 2], True)


def test_tr10_draw_at_end_going_out() -> None:
    """The winner does not draw; a player who stops with a card in hand does."""
    state = {"draw_at": "end", "turn_is_dry": True, "target": 1}
    game = after(position(TR10, "3s", **state), "3s->E")
    assert (game.round_end, len(game.stock), game.hands[0]) == ("won", 10, [])
    game = after(position(TR10, "3s", **state), "END")
    assert (len(game.stock), len(game.hands[0]), game.dry_turns) == (9, 2, 0)


@pytest.mark.parametrize("drew_last_card", [False, True])
def test_tr11_everybody_passes(drew_last_card: bool) -> None:
    """Three dry turns end a round of three although a card could be played."""
    table = {"N": "6s", "E": "9c", "S": "Jc", "W": "2c"}
    hands, dry = ("Ks", "5h", "8s 8c"), not drew_last_card
    game = position(table, *hands, stock=0, current_player=1, turn_is_dry=dry, target=10)
    check_moves(game, "5h->N END")
    after(game, "END END END")
    if drew_last_card:
        assert (game.round_end, game.current_player, game.dry_turns) == (None, 1, 2)
        after(game, "END")
    assert (game.round_end, game.round_points) == ("dry", [10, 1, 2])
    assert game.terminated


def test_tr12_layout() -> None:
    """Kings step aside to the corners, even three in a row."""
    piles, rest = lay_out("Ks Kh 5d 9c Jd 2s 7h".split())
    assert [piles[place] for place in CROSSES] == [["5d"], ["9c"], ["Jd"], ["2s"]]
    assert [piles[place] for place in CORNERS] == [["Ks"], ["Kh"], [], []]
    assert rest == ["7h"]
    piles, rest = lay_out("3c Kd Kc Kh Ks 8s 6h 2d".split())
    assert [piles[place] for place in CROSSES] == [["3c"], ["8s"], ["6h"], ["2d"]]
    assert [piles[place] for place in CORNERS] == [["Kd"], ["Kc"], ["Kh"], ["Ks"]]


def test_tr12_match_ends() -> None:
    """Totals 20, 25, 26 end the match for seat 0, who pays nothing for the round he won."""
    game = after(position(TR1, "9h", "Kd 2h", "7h 7d", scores=[20, 14, 24]), "9h->N")
    assert (game.scores, game.terminated) == ([20, 25, 26], True)
    assert game.rewards == [1, -1 / 2, -1 / 2]


def test_r1_turns_go_round() -> None:
    """Three seats in order, and no other number of seats than 2, 3 or 4."""
    game = ReisReference(3, written(), written, 0)
    assert [after(game, "END").current_player for _ in range(4)] == [1, 2, 0, 1]
    for wrong in (1, 5):
        with pytest.raises(ValueError, match=str(wrong)):
            ReisReference(wrong, written(), written, 0)


def goes_on(card: str, top: str) -> bool:
    """Say once more, by other means, which card goes on which (R2, R8)."""
    return top[0] + card[0] in "KQJT98765432A" and card[1] + top[1] in "hs hc ds dc sh sd ch cd"


def test_r2_r8_which_card_goes_on_which() -> None:
    """All pairs: two cards go on every card but the aces, and a king on none."""
    pairs = [(card, top) for card, top in itertools.permutations(DECK, 2)]
    legal = [p for p in pairs if f"{p[0]}->N" in position({"N": p[1]}, p[0]).legal_moves()]
    assert legal == [(card, top) for card, top in pairs if goes_on(card, top)]
    assert len(legal) == 2 * 48
    assert ("As", "2h") in legal
    assert ("Kh", "As") not in legal


def test_r3_r4_deal_by_absolute_seat() -> None:
    """Seat 0 gets the first seven cards whoever begins; four cards are turned, 20 remain."""
    hands = [f"{rank}{suit}" for suit in "hdsc" for rank in "A234567"]
    deck = written(" ".join(hands) + " Td 9c Jd Ts 8h")
    game = ReisReference(4, deck, written, 2, draw_at="end")
    assert game.hands == [hands[i : i + 7] for i in (0, 7, 14, 21)]
    assert [game.piles[cross] for cross in CROSSES] == [["Td"], ["9c"], ["Jd"], ["Ts"]]
    assert not any(game.piles[corner] for corner in CORNERS)
    assert (game.stock[0], len(game.stock), game.current_player) == ("8h", 20, 2)
    with pytest.raises(ValueError, match="pack"):
        ReisReference(4, [*deck[:-1], "Ah"], written, 2)


@pytest.mark.parametrize("last", ["9h->N", "END"])
def test_r6_deal_moves_on(last: str) -> None:
    """The next seat deals and the one after it begins, after a win and after a blocked round."""
    assert ReisReference(3, written(), written, 0).dealer == 2
    state = {"current_player": 0, "dealer": 2, "dry_turns": 2, "turn_is_dry": True}
    game = after(position(TR1, "9h", seats=3, stock=0, **state), last)
    assert game.round_end == ("won" if last == "9h->N" else "dry")
    assert (game.dealer, game.current_player, game.round_number) == (0, 1, 2)
    assert game.hands[0] == written()[:7]
    assert (game.dry_turns, game.turn_is_dry, game.rewards) == (0, False, [0, 0, 0])


def test_r7_r13_draw_until_the_stock_is_out() -> None:
    """The last card is taken by itself; the next player takes nothing."""
    game = after(position(TR1, "9h 8h", "Ac", stock="Ad"), "END")
    assert (game.hands[1], game.stock, game.turn_is_dry) == (["Ac", "Ad"], [], False)
    after(game, "END")
    assert (game.hands[0], game.turn_is_dry) == (["9h", "8h"], True)


def test_r9_r10_empty_places() -> None:
    """An empty cross takes any card, an empty corner a king."""
    table = {"E": "9c", "S": "9s", "W": "Jc", "NE": "Kh"}
    game = position(table, "2c Kd Qs", stock=0)
    kings = "Kd->N Kd->SE Kd->SW Kd->NW"
    check_moves(game, kings + " 2c->N Qs->N Qs->NE END")
    check_moves(game, "Kd->N Kd->SE 2c->N Qs->N Qs->NE END", fold=True)
    game = after(game, "Kd->NW Qs->NW")  # fold=True is an offer, not a rule
    assert game.piles["NW"] == ["Kd", "Qs"]


def test_r11_whole_piles() -> None:
    """The base decides, the whole pile goes, and the order is kept."""
    game = position({"N": "Tc 9h 8s", "E": "Jd", "S": "9d", "W": "2d"}, "2c")
    check_moves(game, "N=>E END")
    after(game, "N=>E")
    assert game.piles["E"] == "Jd Tc 9h 8s".split()
    assert game.piles["N"] == []
    check_moves(game, "2c->N END")


def test_r12_illegal_moves_change_nothing() -> None:
    """END is legal beside a playable card; anything not listed is refused by name."""
    game = position(TR1, "9h 3s Kc")
    before = repr(vars(game))
    for move in ("9h->E", "9d->N", "W=>N", "N=>NE", "N=>N", "9h->NE", "9h=>N", "DRAW", ""):
        with pytest.raises(ValueError, match=f"illegal move '{move}'"):
            game.apply(move)
    assert repr(vars(game)) == before


def test_r14_winning_stops_everything() -> None:
    """The round is over with the last card although N could still move to W; nobody draws."""
    game = after(position(TR1, "3s", target=1, dry_turns=1, turn_is_dry=True), "3s->E")
    assert (game.round_end, len(game.stock), len(game.hands[1])) == ("won", 10, 1)
    assert (game.dry_turns, game.turn_is_dry, game.legal_moves()) == (0, False, [])
    with pytest.raises(ValueError, match="match is over"):
        game.apply("N=>W")


def test_r15a_no_play_anywhere() -> None:
    """No hand play and no pile move end the round at once (possible only with cards missing)."""
    game = after(position(TR8, "Ac", "Ad Kc", stock=0, target=1), "END")
    assert game.round_end is None  # a corner is open for the king
    game = after(position(TR8, "Ac", "Ad As", stock=0, target=1), "END")
    assert (game.round_end, game.round_points) == ("no play", [1, 2])
    game = after(position(TR8, "Ac", "Ad", stock="Ah", target=1, draw_at="end"), "END")
    assert (game.round_end, game.round_points) == ("no play", [2, 1])  # drawn, then tested
    game = after(position(TR8, "Ac", "Ad", stock="4s", target=1, draw_at="end"), "END")
    assert game.round_end is None


def test_r15a_king_pile_counts() -> None:
    """With the switch a king pile on a cross is a move, and moving it makes a turn not dry."""
    state = {"stock": 0, "target": 1, "turn_is_dry": True}
    for king, round_end in ((False, "no play"), (True, None)):
        game = position(TR8 | {"N": "Kd"}, "Ac", "Ad", king_pile_to_corner=king, **state)
        assert after(game, "END").round_end == round_end
    assert (game.dry_turns, after(game, "N=>NE END").dry_turns) == (1, 0)


def test_r15b_any_move_starts_the_count_again() -> None:
    """Seat 2 moves a pile and seat 0 plays a card, so three more dry turns are needed."""
    game = position(TR1, "9h 9c", seats=3, stock=0, current_player=1, turn_is_dry=True)
    turns = ("END", "N=>W END", "9h->W END", "END", "END")
    assert [after(game, moves).dry_turns for moves in turns] == [1, 0, 0, 1, 2]
    assert (after(game, "END").round_end, game.round_number) == ("dry", 2)


def test_r15b_draw_at_end() -> None:
    """The draw made by END belongs to the turn that it ends."""
    state = {"draw_at": "end", "turn_is_dry": True, "dry_turns": 0, "target": 1}
    game = after(position(TR1, "9h", "9d", stock="2h", **state), "END")
    assert (game.dry_turns, game.hands[0], game.turn_is_dry) == (0, ["9h", "2h"], True)
    assert (after(game, "END").round_end, game.dry_turns) == (None, 1)
    assert (after(game, "END").round_end, game.round_points) == ("dry", [2, 1])


def test_r16_points() -> None:
    """Kings cost ten, other cards one; in a blocked round everybody counts."""
    state: dict[str, Any] = {"stock": 0, "dry_turns": 2, "turn_is_dry": True, "target": 10}
    for hands, scores in (("Kd|3c 4c|9s", [10, 2, 1]), ("Kd 7c 2h|Kc Ks|Ac", [12, 20, 1])):
        assert after(position(TR1, *hands.split("|"), **state), "END").scores == scores


def test_r17_when_the_match_ends() -> None:
    """Nobody at the target plays on; equal lowest totals share; all equal is worth nothing."""
    low = {"stock": 0, "dry_turns": 2, "turn_is_dry": True}
    game = after(position(TR1, "9h", seats=3, scores=[23, 23, 23], **low), "END")
    assert (game.scores, game.terminated, game.round_number) == ([24, 24, 24], False, 2)
    game = after(position(TR1, "9h", seats=3, scores=[24, 24, 24], **low), "END")
    assert (game.terminated, game.rewards) == (True, [0, 0, 0])
    game = after(position(TR1, "9h", seats=3, scores=[8, 8, 30], **low), "END")
    assert (game.scores, game.rewards) == ([9, 9, 31], [1 / 2, 1 / 2, -1])
    game = after(position(TR1, "9h", seats=2, stock=0, target=1), "9h->N")
    assert (game.terminated, game.rewards) == (True, [1, -1])


def test_points_reward_comes_with_each_round() -> None:
    """Mean of the others less one's own points, over 25, also when the match goes on."""
    game = after(position(TR1, "9h", "Kd 2h", "7h 7d", reward="points"), "9h->N")
    assert not game.terminated
    assert game.rewards == pytest.approx([6.5 / 25, -10 / 25, 3.5 / 25])
    assert after(game, "END").rewards == [0, 0, 0]


def test_r18_draw_at_end() -> None:
    """No draw at the start; END draws one card for the player who says it."""
    game = ReisReference(2, written(), written, 1, draw_at="end")
    assert ([len(hand) for hand in game.hands], len(game.stock)) == ([7, 7], 34)
    next_card = game.stock[0]
    assert after(game, "END").hands[1][7:] == [next_card]
    game = after(position(TR10, "3s Qh", draw_at="end", turn_is_dry=True), "3s->E END")
    assert (len(game.hands[0]), len(game.stock)) == (2, 9)


def longest_run(game: ReisReference) -> int:
    """Return the most pile moves that can be made in a row from here on."""
    runs = [0]
    for move in (move for move in game.legal_moves() if "=>" in move):
        copy = ReisReference.from_position(game.hands, game.piles, stock=game.stock)
        runs.append(1 + longest_run(after(copy, move)))
    return max(runs)


def test_r20_four_pile_moves_without_a_hand_play() -> None:
    """Eight piles: each move empties a cross, so four moves are the most."""
    piles = ["Qs Jh", "Js", "Qd", "Th", "Kh", "Ks", "Kd", "Kc"]
    table = dict(zip(CROSSES + CORNERS, piles, strict=True))
    assert longest_run(position(table, "Ac")) == 4


def test_positions_are_checked() -> None:
    """A slip in a written position is reported, not played on."""
    for table, hand in (({"N": "9h"}, "9h"), ({"N": "1h"}, "9h"), ({"X": "8h"}, "9h"), ({}, "")):
        with pytest.raises(ValueError, match=r"position|empty"):
            position(table, hand)
    for option in ({"draw_at": "middle"}, {"reward": "cards"}, {"target": 0}):
        with pytest.raises(ValueError, match="option"):
            position(TR1, "9h", **option)


def choose(game: ReisReference, rng: random.Random, stop: float) -> str:
    """Return END with probability `stop` or if there is nothing else, else any other move."""
    moves = game.legal_moves(fold=rng.random() < 0.5)
    assert moves.count("END") == 1  # R12
    assert len(set(moves)) == len(moves)
    moves.remove("END")
    return rng.choice(moves) if moves and rng.random() >= stop else "END"


def check_table(game: ReisReference) -> None:
    """Check that all cards are there and that every pile is one that the rules can build."""
    cards = itertools.chain(*game.hands, *game.piles.values(), game.stock)
    assert sorted(cards) == sorted(DECK)
    for place, pile in game.piles.items():
        assert all(goes_on(card, top) for top, card in itertools.pairwise(pile))
        assert place in CROSSES or not pile or pile[0][0] == "K"


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("draw_at", ["start", "end"])
@pytest.mark.parametrize("king", [False, True])
@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("stop", [0.02, 0.3, 0.9])
def test_r20_random_matches(seats: int, draw_at: str, king: bool, reward: str, stop: float) -> None:
    """Whole matches end, keep their cards and their promises, and never block by R15(a)."""
    rng = random.Random(f"{seats} {draw_at} {king} {reward} {stop}")
    options = {"draw_at": draw_at, "king_pile_to_corner": king, "reward": reward}
    for first_starter in range(seats):
        deal = functools.partial(random_deck, rng)
        game, lead, rounds = ReisReference(seats, deal(), deal, first_starter, **options), 0, 1
        while not game.terminated:
            move = choose(game, rng, stop)
            game.apply(move)
            check_table(game)
            over = game.terminated or game.round_number > rounds
            lead = 0 if over or move == "END" else lead + (1 if "=>" in move else -1)
            assert lead <= 4  # R20
            assert sum(game.rewards) == pytest.approx(0)
            assert not any(game.rewards) or (over if reward == "points" else game.terminated)
            assert game.round_end != "no play"
            rounds = game.round_number
        assert max(game.scores) >= 25
