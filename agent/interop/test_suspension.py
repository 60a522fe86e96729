"""Tests of a VM that is suspended: its monotonic clocks stand still meanwhile, those of the calendar do not."""

import mmap
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from agents import Agent, Fleet
from laboratory import Lab, tool, wait_until

RATE_HZ = 16
STOPPED_S = 30
LIMIT_NS = 50_000_000

# The clocks of a process whose machine was suspended for the ns in the file SUSPENDED: CLOCK_MONOTONIC and its kin lack
# them (clock_gettime(2)). A laboratory cannot suspend the machine that it runs on.
_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static volatile int64_t *suspended_ns(void) {
    static volatile int64_t *page;
    if (!page) {
        void *mapped = mmap(0, 8, PROT_READ, MAP_SHARED, open(getenv("SUSPENDED"), O_RDONLY), 0);
        if (mapped == MAP_FAILED) abort();
        page = mapped;
    }
    return page;
}
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(id, at);
    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE) {
        int64_t ns = at->tv_sec * 1000000000LL + at->tv_nsec - *suspended_ns();
        at->tv_sec = ns / 1000000000, at->tv_nsec = ns % 1000000000;
    }
    return result;
}
"""


def _shim(folder: Path) -> tuple[mmap.mmap, dict[str, str]]:
    """Return the number of ns that the machine was suspended, to be written, and the environment that obeys it."""
    library, source, state = folder / "suspended.so", folder / "suspended.c", folder / "suspended"
    source.write_text(_SHIM, "utf-8")
    command = [tool("cc"), "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    state.write_bytes(bytes(8))
    with state.open("r+b") as file:
        page = mmap.mmap(file.fileno(), 8)
    return page, {"LD_PRELOAD": str(library), "SUSPENDED": str(state)}


@dataclass
class Scene:
    """Two clients that were stopped together: the clocks of the suspended one stood still meanwhile."""

    suspended: Agent
    stopped: Agent
    stopped_s: float
    resumed_s: float


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with Lab() as lab:
        fleet = Fleet(lab)
        suspended_ns, env = _shim(lab.folder)
        clients = fleet.agent(lab.host("suspended"), env=env), fleet.agent(lab.host("stopped"))
        responder = fleet.agent(lab.host("responder"))
        responder.follow([client.peer("responder") for client in clients], RATE_HZ)
        for client in clients:
            client.follow([responder.peer("client")], RATE_HZ)
        for client in clients:
            client.await_windows(3, time.time() + 1)
        for client in clients:
            client.process.signal(signal.SIGSTOP)
        stopped_s = time.time()
        time.sleep(STOPPED_S)
        suspended_ns[:8] = struct.pack("=q", round((time.time() - stopped_s) * 1e9))
        resumed_s = time.time()
        for client in clients:
            client.process.signal(signal.SIGCONT)
        yield Scene(*clients, stopped_s, resumed_s)


def test_a_suspended_client_measures_again_and_dates_its_windows_rightly(scene: Scene) -> None:
    client = scene.suspended
    after = client.await_windows(5, scene.resumed_s + 1)
    # Windows say when: those after it are of now, and nothing is filed into the time without exchanges.
    _nothing_is_of_the_pause(client, scene.stopped_s, scene.resumed_s)
    starts = [window.started_at_s for window in after]
    assert starts == list(range(starts[0], starts[0] + 5))
    assert starts[0] <= scene.resumed_s + 3
    assert sum(window.round_trip.lost[0] for window in after) == 0
    # All hosts share one clock, so the truth of offsets and delays is known.
    assert all(0 < window.round_trip.mean_ns[0] < 50_000_000 for window in after)
    error_s = client.metrics()["sinemora_agent_backend_clock_offset_seconds"]
    assert abs(error_s) * 1e9 < LIMIT_NS
    wait_until("the event", lambda: any("was suspended for" in _message(event) for event in client.events()))
    [event] = [event for event in client.events() if "was suspended for" in _message(event)]
    assert event["kind"] == "clock_step"
    assert abs(float(_message(event).split("suspended for ")[1].split(" s")[0]) - STOPPED_S) < 1


def test_a_client_that_stood_still_for_half_a_minute_invents_no_loss(scene: Scene) -> None:
    windows = scene.stopped.await_windows(5, scene.resumed_s + 1)
    assert sum(window.round_trip.lost[0] for window in windows) == 0
    _nothing_is_of_the_pause(scene.stopped, scene.stopped_s + 1, scene.resumed_s)


def _nothing_is_of_the_pause(client: Agent, stopped_s: float, resumed_s: float) -> None:
    starts = [window.started_at_s for window in client.windows()]
    assert all(earlier < later for earlier, later in pairwise(starts)), starts
    assert [at for at in starts if stopped_s < at < resumed_s - 1] == []


def _message(event: dict) -> str:
    return str(event["detail"]["message"])
