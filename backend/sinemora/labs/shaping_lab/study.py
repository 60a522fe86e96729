"""Run of the shaping lab: workloads under profiles, one after another, each bounded in time."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from sinemora.labs.shaping_lab.core.profiles import NEIGHBOUR_TOS, Profile, Scale
from sinemora.labs.shaping_lab.core.summary import Figures, figures
from sinemora.labs.shaping_lab.core.workloads import Operation, Workload
from sinemora.labs.shaping_lab.namespaces import inside
from sinemora.labs.shaping_lab.topology import Star, star

WARM_UP_S = 1.0
"""Time of interference before a workload starts."""
_SETUP_S = 1.5
_STALLED_S = 15.0
"""Most time that a client waits, after its end, for an operation behind a stalled connection."""

Progress = Callable[[float, str], None]


class RunFailed(Exception):
    """A process of the lab that failed; the message has its last line of errors."""


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """Workloads and profiles of a run, seconds of each pair, and the lab's network."""

    workloads: Sequence[Workload]
    profiles: Sequence[Profile]
    seconds: float
    scale: Scale
    seed: int = 1
    acknowledged: bool = True
    delay_us: float = 0.0

    @property
    def expected_s(self) -> float:
        """Seconds that the run takes."""
        return len(self.workloads) * len(self.profiles) * (self.seconds + WARM_UP_S + _SETUP_S)


def run(request: StudyRequest, progress: Progress = lambda _share, _note: None) -> list[tuple[Workload, Figures]]:
    """Return the figures of each workload under each profile.

    Raises `namespaces.CommandFailed`, `DelayboxError`, `RunFailed`. It removes what it made.
    """
    result = []
    pairs = [(workload, profile) for workload in request.workloads for profile in request.profiles]
    with star(request.delay_us) as nodes:
        for number, (workload, profile) in enumerate(pairs):
            progress(number / len(pairs), f"{workload.name}, {profile.name}")
            nodes.apply(profile, request.scale)
            for row in _run_one(nodes, request, workload, profile):
                result.append((workload, row))
    return result


def _run_one(nodes: Star, request: StudyRequest, workload: Workload, profile: Profile) -> list[Figures]:
    lives_s = request.seconds + WARM_UP_S + _STALLED_S
    settings = {"seconds": lives_s, "tos": NEIGHBOUR_TOS, "link": request.scale.link_mbit * 125_000}
    with ExitStack() as stack:
        stack.enter_context(_process(nodes, "server", "serve", settings, waits=True))
        if profile.interference:
            for node, peer in (("server", "neighbour"), ("neighbour", "server")):
                stack.enter_context(_process(nodes, node, "sink", settings, waits=True))
                seeded = {"host": nodes.address(node), "seed": request.seed + (node == "server")}
                stack.enter_context(_process(nodes, peer, "disturb", settings | seeded))
            time.sleep(WARM_UP_S)
        asked: dict[str, Any] = {
            "host": nodes.address("server"), "workload": workload.name, "seed": request.seed,
            "run_s": request.seconds, "acknowledged": request.acknowledged,
        }  # fmt: skip
        with _process(nodes, "client", "drive", settings | asked) as client:
            try:
                out, errors = client.communicate(timeout=lives_s + 5)
            except subprocess.TimeoutExpired:
                raise RunFailed(
                    f"The client did not end within {lives_s + 5:.0f} s: this machine is too busy for {workload.name}"
                    f" under {profile.name}. Try again, or lower --link-mbit"
                ) from None
            if client.returncode != 0 or not out:
                words = errors.strip().splitlines()
                raise RunFailed(f"The client failed: {words[-1] if words else 'no reason'}")
    latencies = {Operation(name): values for name, values in json.loads(out).items()}
    return figures(workload.name, profile.name, request.seconds, latencies)


@contextmanager
def _process(
    nodes: Star, node: str, role: str, settings: dict[str, Any], waits: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """Run a role in the namespace of a host; end it afterwards. `waits`: until it listens."""
    command = inside(nodes.hosts[node], sys.executable, "-m", "sinemora.labs.shaping_lab.roles", role)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            if process.stdin is None or process.stdout is None:
                raise RunFailed(f"{role} has no input")
            process.stdin.write(json.dumps(settings))
            process.stdin.close()
            process.stdin = None
            if waits and process.stdout.readline().strip() != "ready":
                raise RunFailed(f"{role} does not listen")
            yield process
        finally:
            process.kill()
