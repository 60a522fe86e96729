"""Pairs of agents with a known difference of their clocks, and bottlenecks between them."""

import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from sinemora.measurements.ingest.agent_pb2 import MeshWindow

import boxes
from agents import HERE, Fleet
from laboratory import Lab, LabError, Process, tool

SYNTHETIC = HERE.parent / "target" / "synthetic" / "release" / "sinemora-agent"
NOT_KNOWN = 2**64 - 1
WINDOW_S = 1

# Sends datagrams of 1,400 bytes to an address at a rate (bit/s), for a number of seconds from each of the start times.
_FLOOD = """
import socket, sys, time
address, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
apart = 1428 * 8 / rate
for start in map(float, sys.argv[4:]):
    time.sleep(max(0.0, start - time.time()))
    due = start
    while due < start + seconds:
        out.sendto(bytes(1400), (address, 9))
        due += apart
        if due > time.time() + 0.001:
            time.sleep(due - time.time())
"""
# Receives these datagrams, so that the kernel sends no ICMP errors back.
_SINK = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 9)); time.sleep(1e6)"


@dataclass(frozen=True)
class Clock:
    """Difference of a responder's clock from that of its client, which is this machine's raw clock plus `base_ns`."""

    offset_ns: int = 3_000_000
    skew_ppb: int = 20_000
    wander_ppb: int = 50
    wander_s: int = 120
    step_ns: int = 0
    step_at_s: float = 0.0
    origin_ns: int = 0

    def ahead_ns(self, raw_ns: float) -> float:
        """Return how far it is ahead at a raw time, ns."""
        passed_s = (raw_ns - self.origin_ns) / 1e9
        turn = math.tau / self.wander_s
        stepped = self.step_ns if passed_s >= self.step_at_s else 0
        wandered = self.wander_ppb / turn * math.sin(turn * passed_s)
        return self.offset_ns + self.skew_ppb * passed_s + wandered + stepped

    def steps_within(self, first_ns: float, last_ns: float) -> bool:
        """Return whether it is stepped between two raw times."""
        return self.step_ns != 0 and first_ns <= self.origin_ns + self.step_at_s * 1e9 < last_ns

    def environment(self, base_ns: int) -> dict[str, str]:
        """Return the environment in which an agent's timestamps are those of this clock."""
        numbers = asdict(self) | {"base_ns": base_ns, "step_at_ns": round(self.step_at_s * 1e9)}
        del numbers["step_at_s"]
        return {"SINEMORA_SYNTHETIC_CLOCK": ",".join(f"{name}={value}" for name, value in numbers.items())}


@dataclass(frozen=True)
class WindowEnd:
    """The end of a window: time (s since the plan), error of the offset, and its bound, ns.

    `stepped`: the clock was stepped during the window.
    """

    at_s: float
    error_ns: float
    bound_ns: int
    window: MeshWindow
    stepped: bool

    def holds(self) -> bool:
        """Return whether the delays of the window lie within the bound they state: their error is that of the offset.

        After a step during the window the offset at its end does not apply to earlier delays. Then they need only be
        possible: not negative, and not longer than their round trip.
        """
        if not self.stepped:
            return abs(self.error_ns) <= self.bound_ns
        outbound_ns, round_trip_ns = self.window.outbound.mean_ns[0], self.window.round_trip.mean_ns[0]
        return -self.bound_ns <= outbound_ns <= round_trip_ns + self.bound_ns


class Pair:
    """A client and a responder on separate hosts, the responder with a separate clock."""

    def __init__(self, lab: Lab, name: str, clock: Clock, fleet: Fleet, tuning: Sequence[str] | None = None) -> None:
        self.lab = lab
        self.hosts = (lab.host(f"c{name}"), lab.host(f"r{name}"))
        addresses = tuple(host.address for host in self.hosts)
        if tuning is not None:
            self.box = boxes.join(lab, *self.hosts, tuning)
            addresses = self.box.addresses
        # One base for both, so that the difference of the two clocks is exactly as requested.
        base_ns = time.time_ns() - raw_ns()
        self.clock = replace(clock, origin_ns=raw_ns())
        ends = (Clock(0, 0, 0, 1), self.clock)
        self.client, self.responder = (
            fleet.agent(host, 10_319, env=end.environment(base_ns), listen_address=address)
            for host, end, address in zip(self.hosts, ends, addresses, strict=True)
        )
        self.began_s = 0.0

    def measure(self, rate_hz: int, spike_ns: int = 10**15) -> None:
        """Start the exchanges; exchanges `spike_ns` above the median of a window are kept."""
        more = {"window_s": WINDOW_S, "loss_deadline_ms": 250, "spike_threshold_ns": spike_ns}
        self.responder.follow([self.client.peer("responder")], rate_hz, **more)
        time.sleep(1.5)
        self.began_s = time.time()
        self.client.follow([self.responder.peer("client")], rate_hz, **more)

    def flood(self, bits_per_s: float, seconds: float, starts_s: Sequence[float]) -> Process:
        """Send traffic to the client, for `seconds` from each of the times (Unix)."""
        self.hosts[0].start([sys.executable, "-c", _SINK], "sink")
        arguments = [str(bits_per_s), str(seconds), *map(str, starts_s)]
        return self.hosts[1].start([sys.executable, "-c", _FLOOD, self.client.address, *arguments], "flood")

    def narrow(self, rate: str, queue: str) -> None:
        """Put a token bucket in front of the client."""
        port = self.hosts[0].port
        self.lab.run("tc", "qdisc", "add", "dev", port, "root", "tbf", "rate", rate, "burst", "5kb", "limit", queue)

    def window_ends(self, from_s: float = 0.0) -> list[WindowEnd]:
        """Compare every window so far that ended `from_s` after the plan or later with the truth."""
        real_ahead_ns = time.time_ns() - raw_ns()
        ends = []
        for window in self.client.windows():
            end_s = window.started_at_s + window.window_s
            known = window.offset_error_ns and window.offset_error_ns[0] != NOT_KNOWN
            if not known or end_s - self.began_s < from_s or not window.outbound.count[0]:
                continue
            first_ns, last_ns = (at_s * 1e9 - real_ahead_ns for at_s in (window.started_at_s, end_s))
            # The clock of the responder is ahead: the client's offset from it is negative.
            error_ns = window.offset_from_peer_ns[0] + self.clock.ahead_ns(last_ns)
            stepped = self.clock.steps_within(first_ns, last_ns)
            ends.append(WindowEnd(end_s - self.began_s, error_ns, window.outbound.clock_error_ns[0], window, stepped))
        return ends

    def exchanges(self) -> Iterator[tuple[float, int, int]]:
        """Yield the exchanges kept in windows: start (Unix s), outbound and inbound delay, ns."""
        for window in self.client.windows():
            for kept in window.evidence:
                rows = zip(kept.at_ns, kept.outbound_ns, kept.inbound_ns, strict=True)
                yield from ((window.started_at_s + at_ns / 1e9, out, back) for at_ns, out, back in rows)


def raw_ns() -> int:
    """Return the time of the raw clock."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def build() -> None:
    """Build the agent with a synthetic clock; raises LabError when it cannot be built."""
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "sinemora-agent"]
    command += ["--features", "synthetic-clock", "--target-dir", str(SYNTHETIC.parent.parent)]
    done = subprocess.run(
        [tool(command[0]), *command[1:]], cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise LabError(f"the agent with a synthetic clock cannot be built:\n{done.stderr[-2000:]}")
