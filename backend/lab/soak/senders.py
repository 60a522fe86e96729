"""Agents of a soak: some report windows as they end, others send a burst."""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Self

from lab.benchmarks.alerting.agents import Agents
from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import reports
from lab.soak.fleet import BROKEN, PAUSE_S, REFUSED, UNANSWERED, WINDOW_S, Fleet, Line, Record
from sinemora.measurements.ingest.agent_pb2 import Report

# The deadline of an exchange and the tick that settles it, before a report can leave; then a phase of up to a second.
DECIDED_S, PHASE_S = 1.2, 1.0
SLOW_WINDOWS = 3
_KINDS = 6
"""Different windows of a live sender, in turn."""


class LiveFleet(Fleet):
    """Senders of a mesh as agents are: each sends a window when it has ended, and after an outage all that it missed.

    Delays vary by one percent around those of each path, and nothing is lost.
    """

    def __init__(self, port: int, world: World) -> None:
        super().__init__(port, world, WINDOW_S, int(time.time()) - WINDOW_S)

    def _reports(self) -> list[list[Report]]:
        agents = Agents(self._world, seed=1)
        vms = range(len(self._world.vm_keys))
        return [[agents.quiet(vm) for _ in range(_KINDS)] for vm in vms]

    def _start(self, count: int) -> int:
        return self._newest_s + WINDOW_S * count

    def _due_in_s(self, number: int, count: int, began_s: float) -> float:
        phase_s = PHASE_S * number / len(self._messages)
        return self._start(count) + WINDOW_S + DECIDED_S + phase_s - time.time()


class FaultyFleet(LiveFleet):
    """Live agents, some of whose paths are slow for some windows. `pairs`: all of them, by number."""

    def __init__(self, port: int, world: World) -> None:
        super().__init__(port, world)
        self._agents = Agents(world, seed=1)
        self._slow: dict[tuple[int, int], int] = {}
        self.pairs = [(vm, int(target)) for vm, targets in enumerate(self._agents.targets) for target in targets]

    def slow_down(self, vm: int, target: int, start_s: int, windows: int = SLOW_WINDOWS) -> None:
        """Let an agent be slow towards a peer in windows from a start on, Unix s."""
        self._slow |= {(vm, start_s + WINDOW_S * number): target for number in range(windows)}

    def _message(self, number: int, count: int) -> Report | None:
        target = self._slow.get((number, self._start(count)))
        return super()._message(number, count) if target is None else self._agents.slow(number, target)


class RepeatingFleet(LiveFleet):
    """Live agents of meshes; each repeats a window, since thousands of different ones take long to prepare."""

    def __init__(self, port: int, worlds: Sequence[World]) -> None:
        self._worlds, first = worlds, worlds[0]
        keys = [key for world in worlds for key in world.vm_keys]
        ids = [one for world in worlds for one in world.vm_ids]
        words = [word for world in worlds for word in world.credentials]
        super().__init__(port, World(first.mesh_id, first.mesh_key, first.tenant_key, keys, ids, words))

    def _reports(self) -> list[list[Report]]:
        return [[message] for world in self._worlds for message in reports(world)]


class Burst:
    """Reports sent all at once, each over a separate connection and again until it is acknowledged.

    `requests` by their windows (VM key, start); `record` gets their fate.
    """

    def __init__(self, port: int, requests: Mapping[tuple[int, int], bytes], record: Record) -> None:
        self._port, self._requests, self._record = port, requests, record
        self._refused = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(120)
        if self._thread.is_alive():
            raise RuntimeError("reports of a burst still wait for acknowledgements after 120 s")

    def wait_for_refusal(self, seconds: float) -> bool:
        """Return whether one was refused by its status within a time."""
        return self._refused.wait(seconds)

    async def _run(self) -> None:
        await asyncio.gather(*(self._send(window, request) for window, request in self._requests.items()))

    async def _send(self, window: tuple[int, int], request: bytes) -> None:
        line = Line(self._port)
        while (why := await line.attempt(request)) is not None:
            self._record.failures.append((time.time(), why))
            if why not in (REFUSED, BROKEN, UNANSWERED):
                self._refused.set()
            await asyncio.sleep(PAUSE_S)
        self._record.acknowledged[window] = time.time()
        line.close()
