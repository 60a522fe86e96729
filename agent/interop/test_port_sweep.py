"""A sweep of source ports over two equal-cost paths: the ports that take the slow one are named.

Two delayboxes join two routers' addresses, and the kernel sends each flow over one of them by a hash of addresses and
ports (RFC 2992), as a fabric does. One path is 400 µs longer than the other, outbound only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sinemora.measurements.on_demand.port_paths import paths_of

from agents import Fleet
from boxes import CLIENT, RESPONDER, join_by_hash
from laboratory import Lab
from on_demand import measure

PORTS, SECONDS = 64, 30
FAST_NS, SLOW_NS = 500_000, 900_000


def joined(seconds: Sequence[dict[str, Any]], column: str) -> list[Any]:
    return [value for second in seconds for value in second[column]]


def test_the_ports_on_the_slow_path_are_named() -> None:
    with Lab() as lab:
        fleet = Fleet(lab)
        hosts = lab.host("client"), lab.host("responder")
        join_by_hash(lab, *hosts, [(FAST_NS // 1000, 300), (SLOW_NS // 1000, 300)])
        ends = [(fleet.agent(host, listen_address=at), at) for host, at in zip(hosts, (CLIENT, RESPONDER), strict=True)]
        seconds = measure(ends, SECONDS, flows=PORTS, rate_hz=2)
    flow, outbound = joined(seconds, "flow"), joined(seconds, "outbound_ns")
    assert set(flow) == set(range(PORTS))
    found = paths_of(PORTS, flow, outbound, joined(seconds, "outbound_lost"))
    # The truth of each port: most of its delays are nearer to one path than to the other.
    flows, delays = np.array(flow), np.array([np.nan if delay is None else delay for delay in outbound])
    fastest = np.array([np.nanmin(delays[flows == port]) for port in range(PORTS)])
    is_slow = fastest > np.min(fastest) + (SLOW_NS - FAST_NS) / 2
    assert 10 < is_slow.sum() < PORTS - 10, "the kernel spreads the flows"
    assert len(found) == 2
    assert set(found[1].ports) == set(np.flatnonzero(is_slow).tolist())
    assert abs(found[1].slower_by_ns - (SLOW_NS - FAST_NS)) < 60_000
    assert len(paths_of(PORTS, flow, joined(seconds, "inbound_ns"), joined(seconds, "inbound_lost"))) == 1
