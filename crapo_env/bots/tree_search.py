"""Open-loop tree search over redraws of the hidden cards (information-set Monte Carlo tree search).

Every simulation starts from a redraw of what the player cannot know, so the tree belongs to what he
knows: a node stands for a sequence of actions, whatever the cards (Cowling, Powley and Whitehouse
2012). Among the actions that are legal in a simulation, the one is taken that maximises

    mean + explore * chance * sqrt(visits of the node) / (1 + visits of the action)

for whoever is on turn, the chance being the evaluator's (Silver et al. 2017). The subtree of a move
that reveals nothing is kept for the next decision of the same turn.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.bots.evaluators import Evaluator
from crapo_env.bots.planning import SEAT
from crapo_env.bots.policy import Policy
from crapo_env.bots.search import hash_row
from crapo_env.game import Game

MAX_KEPT = 1024  # subtrees


class Node:
    """What is known of a sequence of actions from the root.

    Attributes:
        children: by action.
        chances: (num_actions,) how likely each action is; None before the first visit has ended.
        visits: how many simulations came here.
        totals: (seats,) the sum of the shares that they gave.
    """

    __slots__ = ("chances", "children", "totals", "visits")

    def __init__(self, num_seats: int) -> None:
        self.children: dict[int, Node] = {}
        self.chances: np.ndarray | None = None
        self.visits = 0
        self.totals = [0.0] * num_seats

    def visits_of(self, action: int) -> int:
        """Return how often an action was tried."""
        return self.children[action].visits if action in self.children else 0

    def choose(self, legal: list[int], seat: int, explore: float) -> int:
        """Return the legal action to try next for the player on turn.

        What was never tried counts as good as the node itself.
        """
        own = self.totals[seat] / max(1, self.visits)
        bonus = explore * math.sqrt(self.visits)
        best, chosen = -math.inf, legal[0]
        for action in legal:
            chance = 1 / len(legal) if self.chances is None else float(self.chances[action])
            child = self.children.get(action)
            if child is None:
                score = own + bonus * chance
            else:
                score = child.totals[seat] / child.visits + bonus * chance / (1 + child.visits)
            if score > best:
                best, chosen = score, action
        return chosen


class TreeSearchPolicy(Policy):
    """Grows a tree of its own and the others' next actions and plays the most visited one.

    Attributes:
        visits: for each row of the last call, (num_actions,) how often each action was tried; all
            zero where there was nothing to choose.
    """

    remembers = True  # the trees below its own moves

    def __init__(
        self,
        game: Game,
        seed: int,
        *,
        evaluator: Evaluator,
        stage: str | None,
        playouts: int,
        ms: int,
        width: int,
        explore: int,
    ) -> None:
        """Make a tree search.

        Args:
            game: the game.
            seed: of the redraws and of the playouts.
            evaluator: judges the leaves.
            stage: the field of a state whose change ends a simulation, None if there is none.
            playouts: how many simulations a decision may use.
            ms: if not 0, milliseconds that a decision may use instead.
            width: how many simulations go down the tree side by side.
            explore: per cent of the weight of chances against means.
        """
        super().__init__(game, "ismcts", deterministic=ms == 0)
        self._evaluator = evaluator
        self._stage = stage
        self._seed = np.uint64(seed)
        self._playouts = playouts
        self._seconds = ms / 1000
        self._width = width
        self._explore = explore / 100
        self._kept: OrderedDict[bytes, Node] = OrderedDict()
        self.visits: list[np.ndarray] = []

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the most visited action for each row."""
        self.visits = [np.zeros(masks.shape[1], np.int64) for _ in masks]
        actions = np.empty(len(masks), np.int64)
        for i, (observation, mask) in enumerate(zip(observations, masks, strict=True)):
            legal = np.flatnonzero(mask).tolist()
            actions[i] = legal[0]
            if len(legal) > 1:
                batch = self._make_batch(observation)
                root = self._search(batch, observation, mask)
                for action in legal:
                    self.visits[i][action] = root.visits_of(action)
                actions[i] = np.argmax(self.visits[i])
                self._keep(root.children[actions[i]], batch, int(actions[i]), observation, mask)
        return actions

    def _make_batch(self, observation: np.ndarray) -> Batch:
        """Return games under the rules that an observation shows, to be filled with redraws."""
        states = self.game.states_behind(observation[None], SEAT, 0)
        options = self.game.option_values(states)
        return Batch(self.game, self._width, options, auto_reset=False)

    def _search(self, batch: Batch, observation: np.ndarray, mask: np.ndarray) -> Node:
        """Return the root of a tree that has used the budget."""
        root = self._kept.pop(observation.tobytes(), None) or Node(batch.rewards.shape[1])
        seed = hash_row(observation, self._seed)
        begin, done = time.perf_counter(), 0
        if root.chances is None:
            self._redraw(batch, observation, mask, int(seed))
            root.chances = self._evaluate(batch, batch.games[:1], int(seed))[0][0]
        while True:
            self._simulate(root, batch, observation, mask, np.uint64(seed) + np.uint64(done))
            done += self._width
            if self._seconds and time.perf_counter() - begin >= self._seconds:
                return root
            if not self._seconds and done >= self._playouts:
                return root

    def _redraw(self, batch: Batch, observation: np.ndarray, mask: np.ndarray, seed: int) -> None:
        """Fill the batch with states that the player may be in, what he may do as he was told."""
        rows = np.broadcast_to(observation, batch.observations.shape)
        batch.games[:] = self.game.states_behind(np.ascontiguousarray(rows), SEAT, seed)
        batch.refresh()
        legal = np.flatnonzero(mask)  # a mask may say more than the observation (C36)
        batch.masks[:] = mask
        batch.num_legal[:] = len(legal)
        batch.legal[:, : len(legal)] = legal

    def _simulate(
        self, root: Node, batch: Batch, observation: np.ndarray, mask: np.ndarray, seed: np.uint64
    ) -> None:
        """Go down the tree side by side, judge where that leads to and tell the nodes passed."""
        self._redraw(batch, observation, mask, int(seed))
        start = batch.games[:1].copy()
        paths = [[root] for _ in range(len(batch))]
        going = list(range(len(batch)))
        while going:
            actions = np.full(len(batch), NO_ACTION)
            seats = batch.current_player.tolist()
            for i in going:
                legal = batch.legal[i, : batch.num_legal[i]].tolist()
                actions[i] = paths[i][-1].choose(legal, seats[i], self._explore)
                self._go_down(paths[i], int(actions[i]))
            batch.step(actions)
            going = [i for i in going if self._goes_on(paths[i][-1], batch, i, start)]
        chances, shares = self._evaluate(batch, start, int(seed))
        for i, path in enumerate(paths):
            if path[-1].chances is None:
                path[-1].chances = chances[i]
            for node in path:
                node.totals = [a + b for a, b in zip(node.totals, shares[i].tolist(), strict=True)]
        root.visits += len(batch)

    def _evaluate(
        self, batch: Batch, start: np.ndarray, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        seeds = np.uint64(seed) + np.arange(len(batch), dtype=np.uint64)
        return self._evaluator.evaluate(batch, start, seeds)

    def _go_down(self, path: list[Node], action: int) -> None:
        """Append the child; its visit counts at once, so that those beside try other ways."""
        node = path[-1]
        child = node.children.get(action)
        if child is None:
            child = node.children[action] = Node(len(node.totals))
        child.visits += 1
        path.append(child)

    def _goes_on(self, node: Node, batch: Batch, i: int, start: np.ndarray) -> bool:
        """Return whether a simulation goes on below a node: not at a leaf, an end or a new deal."""
        if node.chances is None or batch.num_legal[i] == 0:
            return False
        return self._stage is None or batch.games[self._stage][i] == start[self._stage][0]

    def _keep(
        self, child: Node, batch: Batch, action: int, observation: np.ndarray, mask: np.ndarray
    ) -> None:
        """Keep the tree of a move that leads to one observation, whatever is hidden."""
        self._redraw(batch, observation, mask, 0)
        batch.step(np.full(len(batch), action))
        seen = batch.observations
        if (batch.current_player == SEAT).all() and (seen == seen[0]).all():
            self._kept[seen[0].tobytes()] = child
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)


def make_with_playouts(
    game: Game,
    seed: int,
    *,
    make_evaluator: Callable[..., Evaluator],
    stage: str | None,
    playouts: int,
    ms: int,
    width: int,
    explore: int,
    **leaf: int,
) -> TreeSearchPolicy:
    """Return a tree search whose evaluator has settings of its own, `leaf`."""
    evaluator = make_evaluator(**leaf)
    return TreeSearchPolicy(
        game,
        seed,
        evaluator=evaluator,
        stage=stage,
        playouts=playouts,
        ms=ms,
        width=width,
        explore=explore,
    )
