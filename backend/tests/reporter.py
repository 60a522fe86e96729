"""An agent of the tests that remembers which of its windows were acknowledged."""

import random
import threading
import time
from typing import Any

import httpx2

from tests.api_clients import AgentCaller

REPORTERS = 3
"""Agents that share the seconds."""


class Reporter(threading.Thread):
    """Reporter of every `REPORTERS`-th second; `refused` counts connections that nobody accepted."""

    def __init__(self, agent: AgentCaller, peer_key: int, mesh_key: int, number: int) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(number)
        self.number = number
        self.sent_again = 0
        self.agent = agent
        self.peer_key = peer_key
        self.mesh_key = mesh_key
        self.acknowledged: list[int] = []
        self.failures = 0
        self.refused = 0
        self._ended = threading.Event()

    def run(self) -> None:
        # Each has every REPORTERS-th second, going back in time; one in four windows is sent once more, much later.
        window = int(time.time()) // REPORTERS * REPORTERS - 6 + self.number
        while not self._ended.wait(0.02):
            again = self.acknowledged and self.random.random() < 0.25
            started_at_s = self.random.choice(self.acknowledged) if again else window
            try:
                answer = self.agent.post("/v1/agents/self/reports", json=self._report(started_at_s), timeout=5)
            except httpx2.HTTPError as error:
                self.failures += 1
                self.refused += isinstance(error, httpx2.ConnectError)
                continue
            if answer.status_code != 204:
                self.failures += 1
            elif again:
                self.sent_again += 1
            else:
                self.acknowledged.append(window)
                window -= REPORTERS

    def end(self) -> None:
        self._ended.set()
        self.join()

    def _report(self, started_at_s: int) -> dict[str, Any]:
        zeros = {name: [0] for name in ("count", "min_ns", "mean_ns", "max_ns", "m2", "clock_error_ns", "sketch_words")}
        silent = zeros | {"sent": [8], "lost": [8], "sketch": ""}
        window = {
            "mesh_key": self.mesh_key,
            "started_at_s": started_at_s,
            "window_s": 1,
            "peer_keys": [self.peer_key],
            "flows": [1],
            "outbound": silent,
            "inbound": silent,
            "round_trip": silent,
        }
        return {"sequence": len(self.acknowledged) + 1, "made_at_ns": time.time_ns(), "windows": [window]}
