"""TorchRL environments: a native one on a `Batch`, and TorchRL's wrapper of the AEC environment.

Axis letters: `n` a game of the batch, `p` a seat.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from crapo_env.batch import NO_ACTION, Batch
from crapo_env.env import CardGameEnv
from crapo_env.game import Game
from crapo_env.seeds import FIRST_EVALUATION_SEED

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase, PettingZooWrapper
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "TorchRL is not installed: pip install 'crapo-env[adapters-torchrl]'", name=error.name
    ) from error


def wrap(game: Game | str, **options: Any) -> Any:
    """Return a game in TorchRL's `PettingZooWrapper`, one group of keys per seat.

    Args:
        game: a game or its name.
        **options: arguments of `CardGameEnv` and rule options.
    """
    with warnings.catch_warnings():  # tests of this project run it with the version installed
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested using version")
        return PettingZooWrapper(CardGameEnv(game, **options), use_mask=True, done_on_any=True)


class BatchEnv(EnvBase):
    """`n` games side by side; a step is one decision of the player on turn in each of them.

    Keys, all with the leading dimension `n`: "observation" (size,) int8, "action_mask" (actions,)
    bool of the player on turn; "player" (1,) int64, his seat; "reward" (p,) float32, what every
    seat received in the step. A game that is over stays as it is until it is reset, whatever
    its action. The mask is part of the action spec, so random actions are legal; the mask of a
    game that is over allows everything, as a spec must allow something.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        *,
        seed: int = 0,
        device: Any = "cpu",
        threads: int = 1,
        **options: Any,
    ) -> None:
        """Make the games.

        Args:
            game: a game or its name.
            num_envs: number of games.
            seed: of the deals, below 2**63; as with `Batch.reset`, game i is dealt from seed + i
                first, and then from its own generator.
            device: of the tensors; the games are played on the CPU.
            threads: see `Batch`.
            **options: rule options of the game.
        """
        super().__init__(device=device, batch_size=[num_envs])
        self.batch = Batch(game, num_envs, options, auto_reset=False, threads=threads)
        self._first_seed: int | None = seed
        self._generator = np.random.default_rng(seed)
        self._make_specs(num_envs, self.batch)

    def _make_specs(self, n: int, batch: Batch) -> None:
        num_seats, num_actions = batch.rewards.shape[1], batch.masks.shape[1]
        high = torch.as_tensor(np.tile(batch.game.fields.high, (n, 1)))
        observations = Bounded(torch.zeros_like(high), high, high.shape, dtype=torch.int8)
        self.observation_spec = Composite(
            observation=observations,
            action_mask=Binary(num_actions, (n, num_actions), dtype=torch.bool),
            player=Bounded(0, num_seats - 1, (n, 1), dtype=torch.int64),
            shape=(n,),
        ).to(self.device)
        self.action_spec = Categorical(num_actions, (n,), device=self.device)
        self.reward_spec = Unbounded((n, num_seats), device=self.device)
        flag = Binary(1, (n, 1), dtype=torch.bool)
        self.done_spec = Composite(
            done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=(n,)
        ).to(self.device)

    def _set_seed(self, seed: int | None) -> None:
        self._first_seed = seed
        self._generator = np.random.default_rng(seed)

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        """Deal all games, or those marked by "_reset"."""
        rows = np.arange(len(self.batch))
        if tensordict is not None and "_reset" in tensordict.keys():
            rows = np.flatnonzero(tensordict["_reset"].cpu().numpy().reshape(len(rows)))
        if self._first_seed is not None:
            seeds = np.uint64(self._first_seed) + rows.astype(np.uint64)
            self._first_seed = None
        else:
            seeds = self._generator.integers(FIRST_EVALUATION_SEED, size=len(rows), dtype=np.uint64)
        self.batch.redeal(rows, seeds)
        return self._show()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Play an action of the player on turn in every game that goes on.

        Raises:
            ValueError: if an action is illegal; then no game has moved.
        """
        actions = tensordict["action"].cpu().numpy().reshape(len(self.batch))
        self.batch.step(np.where(self.batch.num_legal == 0, NO_ACTION, actions))
        shown = self._show()
        shown["reward"] = torch.tensor(self.batch.rewards, device=self.device)
        return shown

    def _show(self) -> TensorDictBase:
        """Return what the players on turn see, in new tensors, and whether games are over."""
        batch = self.batch
        over = batch.num_legal == 0
        masks = batch.masks.astype(bool)
        masks[over] = True
        flags = {
            "done": over,
            "terminated": batch.games["terminated"] == 1,
            "truncated": batch.games["truncated"] == 1,
        }
        players = batch.current_player.astype(np.int64)
        values: Mapping[str, np.ndarray] = {
            "observation": batch.observations.copy(),
            "action_mask": masks,
            "player": players[:, None],
        } | {name: flag[:, None] for name, flag in flags.items()}
        self.action_spec.update_mask(torch.as_tensor(masks, device=self.device))
        tensors = {name: torch.as_tensor(value) for name, value in values.items()}
        return TensorDict(tensors, self.batch_size, device=self.device)
