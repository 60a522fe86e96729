"""Which source ports are faster: two links 50 µs apart by the kernel's hash, and one link. A JSON object a figure.

The truth of a port is the link on which the kernel of the client would send it: `ip route get` with its ports.
"""

import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from lab.benchmarks.figures import comment, report
from sinemora.measurements.on_demand.port_paths import PortSweep, sweep_of
from sinemora.measurements.on_demand.summary import Exchanges

from agents import fleet_in_lab
from boxes import CLIENT, RESPONDER, join_by_hash
from laboratory import Host
from on_demand import Second, measure

PORTS, SECONDS, TRIALS = 64, 60, 3
LINKS_US = ((300, 300), (350, 300))
_FIELDS = ("outbound_ns", "inbound_ns", "outbound_lost", "inbound_lost")


def run() -> None:
    """Print the share of ports rightly advised, and of those called slower where there is one link."""
    right, false = [], []
    for nth in range(TRIALS):
        found, on_first = trial(LINKS_US)
        right += [(port in found.fast) == first for port, first in on_first.items()]
        comment(
            f"trial {nth + 1}: {sum(on_first.values())} of {PORTS} ports on the faster link, {len(found.fast)} named"
        )
        found, on_first = trial(LINKS_US[:1])
        false += [port not in found.fast for port in on_first]
    report("port_advice_right_percent", 100 * sum(right) / len(right), ports=len(right))
    report("port_advice_false_percent", 100 * sum(false) / len(false), ports=len(false))


def trial(links_us: Sequence[tuple[int, int]], seconds: int = SECONDS) -> tuple[PortSweep, dict[int, bool]]:
    """Return what a sweep finds, and whether each port is on the first link."""
    with fleet_in_lab() as (lab, fleet):
        hosts = lab.host("client"), lab.host("responder")
        join_by_hash(lab, *hosts, links_us)
        ends = [fleet.agent(host, listen_address=at) for host, at in zip(hosts, (CLIENT, RESPONDER), strict=True)]
        reported = measure(ends, seconds, flows=PORTS, rate_hz=2)
        ports = max((second["ports"] for second in reported), key=len)
        on_first = {port: _hop(hosts[0], port) == "path0" for port in ports}
    found = sweep_of(datetime.now(UTC), ports, _exchanges(reported))
    assert found is not None
    return found, on_first


def _hop(client: Host, port: int) -> str:
    """Return the interface by which the client's kernel sends a flow from this port to the event port."""
    udp = str(int(socket.IPPROTO_UDP))  # a minimal system has no names of protocols
    asked = ("to", RESPONDER, "from", CLIENT, "ipproto", udp, "sport", str(port), "dport", "319")
    words = client.run("ip", "route", "get", *asked).split()
    return words[words.index("dev") + 1]


def _exchanges(seconds: list[Second]) -> Exchanges:
    columns: dict[str, list[Any]] = {
        name: [value for second in seconds for value in second[name]] for name in ("flow", *_FIELDS)
    }
    nothing = [None] * len(columns["flow"])
    return Exchanges(columns["flow"], columns["flow"], *(columns[name] for name in _FIELDS), *[nothing] * 4)
