"""Sending of simulated windows: the reports of all agents, the next ones made while some are sent."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version

import numpy as np
import zstandard

from sinemora.fleet.meshes.plan import clients
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.operations.embedded.simulated.api import Identity, Post, send_report
from sinemora.operations.embedded.simulated.faults import Fault
from sinemora.operations.embedded.simulated.reports import add_window, columns_of, sketches_of
from sinemora.operations.embedded.simulated.windows import WINDOW_S, measure
from sinemora.operations.embedded.simulated.world import World

WINDOWS_A_REPORT = 10
"""Windows of a report while the past is loaded, as of an agent that sends its spool."""
_CONNECTIONS = 8


class Sender:
    """Sends the windows of a network as its agents would."""

    def __init__(
        self,
        post: Post,
        world: World,
        faults: Sequence[Fault],
        mesh_key: int,
        agents: Mapping[str, Identity],
        window_s: int = WINDOW_S,
    ) -> None:
        self._post = post
        self._world = world
        self._faults = faults
        self._mesh_key = mesh_key
        self._window_s = window_s
        self._credentials = [agents[name].credential for name in world.names]
        self._keys = np.array([agents[name].vm_key for name in world.names])
        # As the plan of the mesh: one client for each pair. Peers are in the order of their keys.
        client, server = np.nonzero(clients(self._keys.tolist()))
        order = np.lexsort((self._keys[server], client))
        self._client, self._server = client[order], server[order]
        self._sizes = np.bincount(client, minlength=world.size).tolist()
        self._version = version("sinemora")

    @property
    def pairs(self) -> int:
        """Return the number of pairs of the network."""
        return int(self._client.size)

    def send(self, starts: Sequence[int], sent: Callable[[Sequence[int]], None]) -> None:
        """Send the windows that begin at `starts` (Unix s, ascending), several in a report.

        `sent` is called with windows that all agents have sent. The next reports are made meanwhile. EmbeddedError.
        """
        waiting: tuple[Sequence[int], list[Future[None]]] = ((), [])
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            for first in range(0, len(starts), WINDOWS_A_REPORT):
                some = starts[first : first + WINDOWS_A_REPORT]
                reports = self.reports(some)
                _finish(*waiting, sent)
                waiting = some, [pool.submit(send_report, self._post, *report) for report in reports]
            _finish(*waiting, sent)

    def deliver(self, reports: Sequence[tuple[str, bytes]]) -> None:
        """Send reports, several at once. EmbeddedError when one is refused."""
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            for future in [pool.submit(send_report, self._post, *report) for report in reports]:
                future.result()

    def reports(self, starts: Sequence[int]) -> list[tuple[str, bytes]]:
        """Return credential and compressed report of each agent that has something to report in these windows."""
        messages = [
            Report(sequence=starts[-1] // self._window_s, made_at_ns=time.time_ns(), agent_version=self._version)
            for _ in self._sizes
        ]
        for started_at_s in starts:
            window = measure(self._world, self._faults, started_at_s, self._client, self._server)
            columns = columns_of(window.delays_ns, window.counts, window.sent, window.lost, window.clock_error_ns)
            sketches = sketches_of(window.delays_ns, window.counts, self._sizes)
            low = 0
            for vm, size in enumerate(self._sizes):
                part = slice(low, low + size)
                low += size
                if size and not window.silent[vm]:
                    add_window(
                        messages[vm],
                        self._mesh_key,
                        started_at_s,
                        self._window_s,
                        self._keys[self._server[part]],
                        columns[:, :, part],
                        sketches[vm],
                    )
        compressor = zstandard.ZstdCompressor(level=3)
        return [
            (credential, compressor.compress(message.SerializeToString()))
            for credential, message in zip(self._credentials, messages, strict=True)
            if message.windows
        ]


def _finish(starts: Sequence[int], waiting: Sequence[Future[None]], sent: Callable[[Sequence[int]], None]) -> None:
    for future in waiting:
        future.result()
    if starts:
        sent(starts)
