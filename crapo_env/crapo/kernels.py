"""The loops over `n` games of Crapô, side by side, that `Batch` calls."""

from typing import Any

import numpy as np

from crapo_env.cards import below, next_seed, next_state, seed_game
from crapo_env.crapo.actions import NUM_ACTIONS
from crapo_env.crapo.effects import apply
from crapo_env.crapo.observation import observe, update
from crapo_env.crapo.rules import legal_actions
from crapo_env.crapo.state import STALE_ALL, deal_shuffled, lay_out
from crapo_env.jit import njit
from crapo_env.threads import AUTO_RESET, next_turn


@njit
def reset(games: Any, seeds: Any) -> None:
    """Deal a new game in every record, from seeds (n,) uint64."""
    for i in range(len(games)):
        deal_shuffled(games[i], seeds[i])


@njit
def deal(games: Any, deck: Any, seeds: Any) -> None:
    """Lay out one deck (104,) int8 in every record; seeds (n,) decide what else is random."""
    for i in range(len(games)):
        seed_game(games[i], seeds[i])
        lay_out(games[i], deck)


@njit
def refresh(games: Any, observations: Any, masks: Any, legal: Any, num_legal: Any) -> None:
    """Write what the player on turn sees and may do in every game, whatever the arrays held."""
    for i in range(len(games)):
        games[i].stale = STALE_ALL
        num_legal[i] = _update(games[i], observations[i], masks[i], legal[i])


@njit
def _update(g: Any, observation: Any, mask: Any, legal: Any) -> int:
    """Write what is seen and allowed in one game and return the number of legal actions."""
    n = legal_actions(g, legal)
    mask[:] = 0
    for k in range(n):
        mask[legal[k]] = 1
    update(g, np.int64(g.current_player), observation)
    return n


@njit
def step(
    games: Any,
    actions: Any,
    observations: Any,
    masks: Any,
    legal: Any,
    num_legal: Any,
    rewards: Any,
    ended: Any,
    auto_reset: bool,
) -> int:
    """Play one action in every game and write what follows; see `Batch.step`.

    Returns the index of the first game whose action its mask forbids (nothing is played then), else
    -1.
    """
    for i in range(len(games)):
        action = np.int64(actions[i])
        if action != -1 and (action < 0 or action >= NUM_ACTIONS or masks[i, action] == 0):
            return i
    for i in range(len(games)):
        g = games[i]
        ended[i] = 0
        if actions[i] != -1:
            apply(g, np.int64(actions[i]))
            rewards[i, 0], rewards[i, 1] = g.rewards[0], g.rewards[1]
            ended[i] = g.terminated + 2 * g.truncated
            if auto_reset and ended[i] != 0:
                deal_shuffled(g, next_seed(g))
            num_legal[i] = _update(g, observations[i], masks[i], legal[i])
        else:
            rewards[i, 0] = rewards[i, 1] = 0
    return -1


@njit
def share(
    games: Any,
    actions: Any,
    observations: Any,
    masks: Any,
    legal: Any,
    num_legal: Any,
    rewards: Any,
    ended: Any,
    board: Any,
    thread: int,
    looks: int,
) -> None:
    """Step games as long as there are any that no other thread has taken; see `Crew`."""
    low, high = next_turn(board, thread, looks, 0)
    while low < high:
        step(
            games[low:high],
            actions[low:high],
            observations[low:high],
            masks[low:high],
            legal[low:high],
            num_legal[low:high],
            rewards[low:high],
            ended[low:high],
            board[AUTO_RESET] != 0,
        )
        low, high = next_turn(board, thread, looks, high - low)


@njit
def play(games: Any, action: int, observations: Any, masks: Any, legal: Any, num_legal: Any) -> int:
    """Play an action in the one game of `games`, the quick way of a single environment.

    Returns -1 if the mask forbids the action (nothing is played then), else a number whose lowest
    bit says that the game is over, the next that somebody was rewarded, the rest who is on turn.
    """
    if action < 0 or action >= NUM_ACTIONS or masks[0, action] == 0:
        return -1
    g = games[0]
    apply(g, action)
    num_legal[0] = _update(g, observations[0], masks[0], legal[0])
    rewarded = False
    for p in range(g.num_players):
        rewarded |= g.rewards[p] != 0
    over = g.terminated | g.truncated
    return over | rewarded << 1 | np.int64(g.current_player) << 2


@njit
def observe_all(games: Any, seat: int, observations: Any) -> None:
    """Write what `seat` may know of every game."""
    for i in range(len(games)):
        observe(games[i], seat, observations[i])


@njit
def playout(games: Any, seeds: Any) -> int:
    """Play every game to its end with random legal moves and return the number of decisions."""
    legal = np.empty(NUM_ACTIONS, np.int16)
    decisions = 0
    for i in range(len(games)):
        g = games[i]
        state = np.uint64(seeds[i])
        n = legal_actions(g, legal)
        while n > 0:
            state = next_state(state)
            apply(g, np.int64(legal[below(state, n)]))
            decisions += 1
            n = legal_actions(g, legal)
    return decisions
