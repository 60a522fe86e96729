"""The parameter server and its workers as processes on the loopback interface."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lab.benchmarks.storing.product import free_port
from tests.waits import WAIT_MOST_S

PROGRAM = (sys.executable, "-m", "sinemora.labs.profiler.parameter_server")


@pytest.fixture
def port() -> Iterator[str]:
    number = str(free_port())
    # Workers wait for the server.
    with subprocess.Popen([*PROGRAM, "serve", "127.0.0.1", number]) as server:
        yield number
        server.kill()


def worker(port: str, here: int, workers: int, seconds: float) -> "subprocess.Popen[str]":
    command = [*PROGRAM, "work", "127.0.0.1", port, str(here), str(workers), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(process: "subprocess.Popen[str]") -> dict[str, object]:
    output, _ = process.communicate(timeout=WAIT_MOST_S)
    assert process.returncode == 0
    return json.loads(output)


def test_workers_of_two_hosts_train_one_model_in_the_same_rounds(port: str):
    one, other = (result(process) for process in [worker(port, here, 3, 1.0) for here in (1, 2)])
    assert one["rounds"] == other["rounds"]
    assert one["rate"] == pytest.approx(other["rate"], rel=0.3)  # each counts from its own start
    # Lasso shrinks, so a part of the true model remains; without training the error is 1.
    assert one["error"] < 0.1
    latency_us = one["latency_us"]
    assert 0 < latency_us["p50"] <= latency_us["p95"] <= latency_us["p99"] <= latency_us["max"]
    assert one["rate"] == pytest.approx(1e6 / latency_us["mean"])


def test_a_worker_that_was_stopped_does_not_join_the_next_group(port: str):
    stopped = worker(port, 1, 2, 1.0)
    with pytest.raises(subprocess.TimeoutExpired):
        stopped.wait(1.5)
    stopped.kill()
    stopped.communicate()
    assert result(worker(port, 2, 2, 0.5))["rounds"] > 10


def test_a_worker_without_a_server_fails():
    process = worker(str(free_port()), 1, 1, 0.5)
    assert process.wait(WAIT_MOST_S) == 1
