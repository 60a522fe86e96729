"""Resources of an agent with many peers: processor time of each role, memory, and requests it skipped.

The peers are addresses of a few agents, a hundred each: a client's cost does not depend on who responds.
"""

import os
import statistics
import time
from collections.abc import Sequence

from lab.benchmarks import figures

from agents import Agent, Fleet, peer
from laboratory import Host, Lab, cpu_percent, wait_until

# Further addresses of a host. They are routed to it, as in a cloud's network: on one segment the kernel's table of
# neighbours, 1,024 for all namespaces together, would limit the measurement.
PER_HOST = 100
WARM_UP_S = 25.0
ROUNDS = 3
CPU_S = 20.0
SCHEDULE_S = 300.0
SCHEDULE_PEERS = 1000


def run() -> None:
    """Measure 100 peers, then 1,000; FOOTPRINT_S shortens the five minutes of the latter."""
    with Lab() as lab:
        client, responders = _fleet(lab, 100)
        _shares(lab, client, responders[0])
        # Of the thread that reads the host's counters, and the interface's, at every window.
        (share,) = cpu_percent([client.process], ROUNDS * CPU_S, "traffic")
        figures.report("agent_host_metrics_cpu_percent", share)
        _memory(client, 100)
    with Lab() as lab:
        client, responders = _fleet(lab, SCHEDULE_PEERS)
        before, began = client.metrics(), time.monotonic()
        seconds = float(os.environ.get("FOOTPRINT_S", SCHEDULE_S))
        time.sleep(seconds)
        after, passed = client.metrics(), time.monotonic() - began
        names = ("exchanges_completed_total", "requests_left_out_total", "exchanges_lost_total")
        done, skipped, lost = (after[f"sinemora_agent_{name}"] - before[f"sinemora_agent_{name}"] for name in names)
        due = SCHEDULE_PEERS * passed
        detail = {"seconds": round(passed), "completed_percent": round(100 * done / due, 2), "lost": lost}
        figures.report("agent_schedule_loss_percent_1000x1", 100 * skipped / due, **detail)
        _memory(client, SCHEDULE_PEERS)


def _shares(lab: Lab, client: Agent, responder: Agent) -> None:
    """Print the processor time of client and responder, medians over the rounds; the figure is the larger one."""
    lab.spare_senders()
    rounds = [cpu_percent([client.process, responder.process], CPU_S) for _ in range(ROUNDS)]
    client_percent, responder_percent = (statistics.median(role) for role in zip(*rounds, strict=True))
    roles = {"client_percent": round(client_percent, 3), "responder_percent": round(responder_percent, 3)}
    figures.report("agent_core_percent_100x1", round(max(client_percent, responder_percent), 3), **roles)


def _fleet(lab: Lab, peers: int) -> tuple[Agent, Sequence[Agent]]:
    """Start a client that measures `peers` addresses once per second in windows of 10 s, and wait until it is warm."""
    fleet = Fleet(lab)
    client = fleet.agent(lab.host("client"))
    responders, asked = [], []
    for nth in range(peers // PER_HOST):
        host = lab.host(f"many{nth}")
        addresses = _more_addresses(client.host, host, nth)
        # It listens on all addresses and responds from the destination address of each request.
        responder = fleet.agent(host, listen_address="0.0.0.0", probe_address=host.address)
        responder.follow([client.peer("responder")], 1, window_s=10)
        responders.append(responder)
        asked += [peer(10_000 + PER_HOST * nth + at, address, "client") for at, address in enumerate(addresses)]
    client.follow(asked, 1, window_s=10)
    wait_until(f"{peers} peers", lambda: client.metrics()["sinemora_agent_peers"] == peers)
    time.sleep(WARM_UP_S)
    return client, responders


def _more_addresses(client: Host, host: Host, nth: int) -> list[str]:
    addresses = [f"10.78.{nth}.{at + 1}" for at in range(PER_HOST)]
    for address in addresses:
        host.run("ip", "address", "add", f"{address}/32", "dev", "lo")
    client.run("ip", "route", "add", f"10.78.{nth}.0/24", "via", host.address)
    return addresses


def _memory(client: Agent, peers: int) -> None:
    figures.report(f"agent_rss_mib_{peers}", client.process.rss_mib(), reports_sent=len(client.reports()))
