"""A sweep of source ports over two equal-cost paths: the ports that take the slow one are named.

Two delayboxes join two routers' addresses, and the kernel sends each flow over one of them by a hash of addresses and
ports (RFC 2992), as a fabric does. One path is 400 µs longer than the other, outbound only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sinemora.measurements.on_demand.port_paths import paths_of

import boxes
from agents import Fleet
from laboratory import Host, Lab
from on_demand import measure

PORTS, SECONDS = 64, 30
FAST_NS, SLOW_NS = 500_000, 900_000
CLIENT, RESPONDER = "10.99.0.1", "10.99.0.2"


def join_by_two_paths(lab: Lab, client: Host, responder: Host) -> None:
    """Give both hosts an address behind two equal-cost paths. Responses take the first one."""
    settings = [[f"--outbound=delay={ns // 1000}us", "--inbound=delay=300us"] for ns in (FAST_NS, SLOW_NS)]
    paths = []
    for nth, setting in enumerate(settings):
        paths.append(boxes.join(lab, client, responder, setting))
        for host in (client, responder):
            # The next box creates an interface of the same name.
            host.run("ip", "link", "set", "delay0", "down")
            host.run("ip", "link", "set", "delay0", "name", f"path{nth}")
            host.run("ip", "link", "set", f"path{nth}", "up")
    for host, own, other, side in ((client, CLIENT, RESPONDER, 1), (responder, RESPONDER, CLIENT, 0)):
        host.run("ip", "address", "add", f"{own}/32", "dev", "lo")
        set_ipv4(host, "conf/all/rp_filter", 0)
        set_ipv4(host, "conf/default/rp_filter", 0)
        for path in paths:
            interface = boxes.interface(host, path.addresses[1 - side])
            set_ipv4(host, f"conf/{interface}/rp_filter", 0)
        hops = [word for path in paths for word in ("nexthop", "via", path.addresses[side])]
        if host is responder:
            hops = ["via", paths[0].addresses[side]]
        host.run("ip", "route", "add", f"{other}/32", *hops)
    set_ipv4(client, "fib_multipath_hash_policy", 1)


def set_ipv4(host: Host, name: str, value: int) -> None:
    """Set a value of IPv4 of a host; a minimal Debian has no sysctl."""
    host.run("sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{name}")


def joined(seconds: Sequence[dict[str, Any]], column: str) -> list[Any]:
    return [value for second in seconds for value in second[column]]


def test_the_ports_on_the_slow_path_are_named() -> None:
    with Lab() as lab:
        fleet = Fleet(lab)
        hosts = lab.host("client"), lab.host("responder")
        join_by_two_paths(lab, *hosts)
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
