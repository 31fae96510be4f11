"""Paired playouts of the best lines of a Crapô turn, over redraws of the face-down cards.

Each simulation redraws what nobody can know and then plays every line in that same deal, with the
same random numbers after it, so that the lines differ by what they do and little else.
"""

from typing import Any

import numpy as np

from crapo_env.bots.crapo_choice import play_turns
from crapo_env.bots.crapo_planner import grow
from crapo_env.bots.crapo_value import value
from crapo_env.bots.tree import best_leaves, write_lines
from crapo_env.cards import mix64
from crapo_env.crapo.actions import NUM_ACTIONS
from crapo_env.crapo.effects import apply
from crapo_env.crapo.hidden import resample
from crapo_env.jit import njit


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

    Args:
        nodes: scratch, see `crapo_planner.grow`, as are `states` and `slots`.
        states: the first is the state to search from.
        slots: scratch.
        mask: (NUM_ACTIONS,) what may be played at the root.
        budget: how many nodes may be expanded.
        weights: of the value.
        lines: (number, length) int16, NONE after the end of a line.
        chances: (number,) float64, the chance of winning after each by the value alone.
    """
    chosen = np.empty(len(lines), np.int64)
    num_nodes = grow(nodes, states, slots, mask, budget, weights)
    n = write_lines(nodes, chosen[: best_leaves(nodes, num_nodes, chosen)], lines, chances)
    for k in range(n):
        chances[k] = 1.0 / (1.0 + np.exp(-chances[k]))
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

    Args:
        roots: (1,) the state before the lines.
        lines: (number, length) int16.
        first: number of the first simulation; a simulation is fixed by its number and the seed.
        last: number after the last one.
        seed: uint64.
        horizon: turns after which a game is valued instead of played.
        noise: chance of a random action, in units of 2**-16.
        ranks: the priorities of both players.
        weights: of the value.
        totals: (number,) float64, added to in place.
    """
    drawn, games = np.empty(1, roots.dtype), np.empty(1, roots.dtype)
    seeds = np.empty(1, np.uint64)
    legal = np.empty(NUM_ACTIONS, np.int16)
    p = np.int64(roots[0].current_player)
    last_turn = roots[0].num_turns + horizon
    for s in range(first, last):
        seeds[0] = mix64(seed + np.uint64(s))
        drawn[0] = roots[0]
        resample(drawn, p, seeds)
        for k in range(len(lines)):
            games[0] = drawn[0]
            g = games[0]
            _play_line(g, lines[k])
            play_turns(g, legal, ranks, noise, seeds[0], last_turn)
            totals[k] += _chance(g, p, weights)


@njit
def finish(
    games: Any,
    root: Any,
    seeds: Any,
    horizon: int,
    noise: int,
    ranks: Any,
    weights: Any,
    shares: Any,
) -> None:
    """Play every game on and write the chance of winning of each player.

    Args:
        games: (n,) played in place.
        root: (1,) the state from which the search began.
        seeds: (n,) uint64, of the random actions.
        horizon: turns after the root at which a game is valued instead of played.
        noise: chance of a random action, in units of 2**-16.
        ranks: the priorities of both players.
        weights: of the value.
        shares: (n, 2) float64, written in place.
    """
    legal = np.empty(NUM_ACTIONS, np.int16)
    last_turn = root[0].num_turns + horizon
    for i in range(len(games)):
        play_turns(games[i], legal, ranks, noise, np.uint64(seeds[i]), last_turn)
        for p in range(2):
            shares[i, p] = _chance(games[i], p, weights)


@njit
def _play_line(g: Any, line: Any) -> None:
    for action in line:
        if action < 0:
            break
        apply(g, np.int64(action))


@njit
def _chance(g: Any, p: int, weights: Any) -> Any:
    """Return the chance that player `p` wins, a draw counting as half a win."""
    if g.terminated:
        return 0.5 + 0.5 * g.rewards[p]
    return 1.0 / (1.0 + np.exp(-value(g, p, weights)))
