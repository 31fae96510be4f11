"""Paired playouts of the best lines of a turn of Reis nos cantos, over redraws of hidden cards.

Each simulation redraws the other hands and the stock and then plays every line in that same deal.
In the playouts everybody holds cards back; players who always play would make waiting look good.
"""

from typing import Any

import numpy as np

from crapo_env.bots.reis_choice import play_out
from crapo_env.bots.reis_heuristic import MAX_LINE, play_round
from crapo_env.bots.reis_planner import grow
from crapo_env.bots.tree import NODE_DTYPE, best_leaves, write_lines
from crapo_env.cards import mix64
from crapo_env.jit import njit
from crapo_env.reis_nos_cantos.actions import END, NUM_ACTIONS
from crapo_env.reis_nos_cantos.hidden import resample
from crapo_env.reis_nos_cantos.rules import apply
from crapo_env.visited import NONE

LEAD_SCALE = 8.0  # a lead of so many points makes an open match e : 1
PLAYOUT_SLOTS = 1024  # of the hash table of a turn in a playout
CHANCE_PER_POINT = 0.01  # what a point of the planner's value adds to the chance of winning


@njit
def list_lines(
    nodes: Any,
    states: Any,
    slots: Any,
    mask: Any,
    budget: int,
    weights: Any,
    lines: Any,
    chances: Any,
) -> int:
    """Write the actions of the best lines from `states[0]`, best first, and return their number.

    The arguments are those of `crapo_search.list_lines`; `budget` counts positions looked at.
    """
    chosen = np.empty(len(lines), np.int64)
    num_nodes = grow(nodes[:budget], states, slots, mask, weights)
    n = write_lines(nodes, chosen[: best_leaves(nodes, num_nodes, chosen)], lines, chances)
    for k in range(n):
        chances[k] *= CHANCE_PER_POINT
    return n


@njit
def simulate(
    roots: Any,
    lines: Any,
    first: int,
    last: int,
    seed: Any,
    horizon: int,
    noise: int,
    ranks: Any,
    weights: Any,
    totals: Any,
) -> None:
    """Add each line's chances of winning in the simulations `first` to `last - 1` to `totals`.

    The arguments are those of `crapo_search.simulate`, but a round is always played to its end;
    `horizon` is the number of positions that a player looks at in each turn of a playout, 0 for the
    line of the heuristic player, and `ranks` is not used.
    """
    nodes, tree = np.empty(horizon, NODE_DTYPE), np.empty(max(1, horizon), roots.dtype)
    slots = np.empty(PLAYOUT_SLOTS, np.int32)
    drawn, games = np.empty(1, roots.dtype), np.empty(3, roots.dtype)
    seeds = np.empty(1, np.uint64)
    legal = np.empty(NUM_ACTIONS, np.int16)
    p = np.int64(roots[0].current_player)
    for s in range(first, last):
        seeds[0] = mix64(seed + np.uint64(s))
        drawn[0] = roots[0]
        resample(drawn, p, seeds)
        for k in range(len(lines)):
            games[0] = drawn[0]
            g = games[0]
            if _play_line(g, lines[k]):
                if horizon > 0:
                    _play_round_by_planner(g, nodes, tree, slots, weights)
                else:
                    play_round(games, legal, weights, noise, seeds[0])
            totals[k] += _chance(g, p)


@njit
def finish(games: Any, root: Any, seeds: Any, noise: int, weights: Any, shares: Any) -> None:
    """Play the round of every game to its end and write the chance of each seat to win the match.

    Args:
        games: (n,) played in place; where the next round has begun nothing more is played.
        root: (1,) the state from which the search began.
        seeds: (n,) uint64, of the noise.
        noise: chance of a turn cut short, in units of 2**-16.
        weights: of the value that the players hold cards back by.
        shares: (n, seats) float64, written in place.
    """
    legal, trio = np.empty(NUM_ACTIONS, np.int16), np.empty(3, games.dtype)
    for i in range(len(games)):
        trio[0] = games[i]
        if games[i].round_number == root[0].round_number:
            play_round(trio, legal, weights, noise, np.uint64(seeds[i]))
        for p in range(shares.shape[1]):
            shares[i, p] = _chance(trio[0], p)


@njit
def finish_greedily(games: Any, root: Any, seeds: Any, ranks: Any, shares: Any) -> None:
    """Do the same as `finish` with players who never hold a card back; nothing is random."""
    for i in range(len(games)):
        if games[i].round_number == root[0].round_number:
            play_out(games[i : i + 1], seeds, ranks)
        for p in range(shares.shape[1]):
            shares[i, p] = _chance(games[i], p)


@njit
def _play_line(g: Any, line: Any) -> bool:
    """Play the actions of a line and end the turn; return whether the round goes on."""
    this_round = g.round_number
    for action in line:
        if action < 0:
            break
        apply(g, np.int64(action))
    if g.terminated == 0 and g.round_number == this_round:
        apply(g, END)
    return g.terminated == 0 and g.round_number == this_round


@njit
def _play_round_by_planner(g: Any, nodes: Any, tree: Any, slots: Any, weights: Any) -> None:
    """Play on to the end of the round; every player plans his whole turn at once."""
    this_round = g.round_number
    mask = np.empty(0, np.int8)
    chosen, values = np.empty(1, np.int64), np.empty(1)
    lines = np.empty((1, MAX_LINE), np.int16)
    going = True
    while going:
        tree[0] = g
        num_nodes = grow(nodes, tree, slots, mask, weights)
        best_leaves(nodes, num_nodes, chosen)
        lines[0] = NONE
        write_lines(nodes, chosen, lines, values)
        going = _play_line(g, lines[0]) and g.round_number == this_round and g.terminated == 0


@njit
def _chance(g: Any, p: int) -> Any:
    """Return the share of the match that player `p` gets, or may expect after this round."""
    n = np.int64(g.num_players)
    if g.reward == 1:
        return 0.5 + 0.5 * g.rewards[p]
    if g.terminated:
        return max(0.0, np.float64(g.rewards[p])) if g.rewards[p] != 0 else 1.0 / n
    shares = 0.0
    for q in range(n):
        shares += np.exp((np.float64(g.totals[p]) - g.totals[q]) / LEAD_SCALE)
    return 1.0 / shares
