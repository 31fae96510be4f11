"""RLlib: seats, rewards, snapshots that stay as they are, a run that is killed and goes on."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Setting

pytest.importorskip("ray.rllib")

import ray

from crapo_env.adapters import rllib

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, many of them deprecations


class Episode:
    """What the mapping asks an episode for."""

    def __init__(self, name: str) -> None:
        self.id_ = name


def test_every_game_has_one_learner_and_the_same_opponents_throughout() -> None:
    seats = [f"player_{seat}" for seat in range(4)]
    mapping = rllib.LeagueMapping(seats, ["past_0", "past_1"])
    taken = {name: 0 for name in seats}
    met = set()
    for number in range(400):
        modules = {seat: mapping(seat, Episode(str(number))) for seat in seats}
        assert modules == {seat: mapping(seat, Episode(str(number))) for seat in seats}
        (own,) = [seat for seat in seats if modules[seat] == rllib.MAIN]
        taken[own] += 1
        met |= set(modules.values())
    assert met == {rllib.MAIN, "past_0", "past_1"}
    assert min(taken.values()) > 60


def test_rewards_reach_seats_that_are_not_acting(seating: Setting) -> None:
    env = rllib.make_env({"game": seating.game.name, **seating.options})
    rng, caused_by_others = np.random.default_rng(1), 0
    for seed in range(4):
        seen, _ = env.reset(seed=seed)
        paid = dict.fromkeys(env.possible_agents, 0.0)
        ended = False
        while not ended:
            ((agent, shown),) = seen.items()
            action = int(rng.choice(np.flatnonzero(shown["action_mask"])))
            seen, rewards, terminated, truncated, _ = env.step({agent: action})
            for other, reward in rewards.items():
                paid[other] += reward
            ended = terminated["__all__"] or truncated["__all__"]
        assert set(rewards) == set(env.possible_agents), "the end reaches every seat"
        final = env.env.unwrapped.state().view(seating.game.dtype)["rewards"][0]
        assert np.allclose(list(paid.values()), final[: len(paid)])
        caused_by_others += sum(amount != 0 for other, amount in paid.items() if other != agent)
    assert caused_by_others > 0


@pytest.fixture(scope="module")
def algorithm() -> Iterator[Any]:
    class League(rllib.SelfPlayLeague):
        snapshot_every = 1

    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=200 * 2**20)
    options = {"target": 1, "num_players": 3}
    config = rllib.make_config(
        "reis_nos_cantos", options, hidden_sizes=(16,), batch_size=300, callbacks=League
    )
    algorithm = config.build_algo()
    yield algorithm
    algorithm.stop()
    ray.shutdown()


def weights(algorithm: Any, module: str) -> dict[str, np.ndarray]:
    state = rllib.learner_state(algorithm, module)
    return {name: np.asarray(array) for name, array in state.items()}


def runner_weights(algorithm: Any, module: str) -> dict[str, np.ndarray]:
    """Return the weights that games are played with."""
    state = algorithm.env_runner.module[module].get_state()
    return {name: np.asarray(array) for name, array in state.items()}


def differ(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return any(not np.array_equal(one[name], other[name]) for name in one)


def test_a_snapshot_is_the_learner_of_its_time_and_stays_so(algorithm: Any) -> None:
    """Weights that alias the learner's would go on with it (ray-project/ray#35393)."""
    algorithm.train()
    name = rllib.league_of(algorithm)[-1]
    snapshot, learner = weights(algorithm, name), weights(algorithm, rllib.MAIN)
    assert not differ(snapshot, learner)
    algorithm.train()
    assert not differ(weights(algorithm, name), snapshot)
    assert differ(weights(algorithm, rllib.MAIN), learner)
    assert not differ(runner_weights(algorithm, name), snapshot)
    first = weights(algorithm, "past_0")
    algorithm.train()
    assert not differ(weights(algorithm, "past_0"), first)


def test_every_seat_of_a_sampled_game_is_paid(algorithm: Any) -> None:
    seen = 0
    for episode in algorithm.env_runner.sample(num_episodes=12, random_actions=False):
        total = {
            agent: sum(episode.get_rewards(agent_ids=[agent])[agent]) for agent in episode.agent_ids
        }
        if episode.is_terminated:
            assert set(total) == {"player_0", "player_1", "player_2"}
            assert sum(total.values()) == pytest.approx(0, abs=1e-5)
            seen += any(total.values())
    assert seen > 5


def test_a_restored_algorithm_has_every_module_everywhere(algorithm: Any, tmp_path: Path) -> None:
    rllib.save(algorithm, tmp_path)
    league = rllib.saved_league(tmp_path)
    assert league == rllib.league_of(algorithm) and len(league) > 2
    config = rllib.make_config(
        "reis_nos_cantos",
        {"target": 1, "num_players": 3},
        league=league,
        hidden_sizes=(16,),
        batch_size=300,
    )
    other = rllib.restore(config, tmp_path)
    assert other.iteration == algorithm.iteration
    for module in (rllib.MAIN, *league):
        assert not differ(weights(other, module), weights(algorithm, module))
        assert not differ(runner_weights(other, module), weights(algorithm, module))
    other.stop()


def run(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "training.rllib_selfplay", "--game", "reis_nos_cantos"]
    command += ["--option", "target=1", "--num-env-runners", "2", "--batch-size", "200"]
    command += ["--hidden", "16", "--snapshot-every", "1", "--out", str(folder), *arguments]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


def stop(process: subprocess.Popen[str]) -> None:
    """Kill a run and all that it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_run_with_two_runners_is_killed_and_goes_on(tmp_path: Path) -> None:
    """The restored run knows the snapshots added before (ray-project/ray#40183)."""
    process = run(tmp_path, "--iterations", "1000")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("iteration 2,"):
            break
    stop(process)
    assert lines and lines[0] == "iteration 0, league past_0\n", lines
    time.sleep(1)
    saved = rllib.saved_league(tmp_path)
    process = run(tmp_path, "--iterations", "4", "--restore")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    first, *rest = output.splitlines()
    assert first == f"iteration {len(saved) - 1}, league {' '.join(saved)}"
    assert len(saved) >= 3 and re.match(r"iteration 4, league of 5, \d+ decisions/s", rest[-1])
