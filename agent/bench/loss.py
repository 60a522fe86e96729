"""Loss per direction compared with the count of an injector, and false loss where the round trip is long."""

import math
import re
import time
from collections.abc import Sequence

from lab.benchmarks import figures
from sinemora.measurements.ingest.agent_pb2 import Columns, MeshWindow

from agents import Fleet
from clocks import Clock, Pair
from laboratory import Host, Lab

RATE_HZ, SECONDS = 128, 40
SHARES = (0.01, 0.05, 0.1)


def run() -> None:
    """Measure injected loss of three sizes at the same time, then a round trip of several intervals."""
    with Lab() as lab:
        _injected(lab)
    with Lab() as lab:
        _far(lab)


def _injected(lab: Lab) -> None:
    """Let one message type of each direction get lost between pairs: Delay_Req and Sync."""
    fleet = Fleet(lab)
    pairs = []
    for share in SHARES:
        hosts = [lab.host(f"{end}{round(100 * share)}") for end in "cr"]
        for host in hosts:
            _drop(host, share)
        client, responder = (fleet.agent(host) for host in hosts)
        responder.follow([client.peer("responder")], RATE_HZ)
        pairs.append((client, responder))
    time.sleep(2)
    began_s = time.time()
    for client, responder in pairs:
        client.follow([responder.peer("client")], RATE_HZ)
    time.sleep(SECONDS)
    for client, _ in pairs:
        client.follow([], 1)
    time.sleep(4)
    # Each direction is compared with the count of its injector, in standard deviations of such a count.
    deviations = []
    for share, (client, responder) in zip(SHARES, pairs, strict=True):
        for direction, host in (("outbound", client.host), ("inbound", responder.host)):
            sent, lost = _sums(client.windows(began_s - 1), direction)
            dropped = _dropped(host)
            figures.comment(f"{share:.0%} {direction}: {dropped} dropped of {sent}, {lost} reported lost")
            deviations.append(abs(lost - dropped) / math.sqrt(sent * share * (1 - share)))
    figures.report("agent_loss_error_sigmas", max(deviations), shares=list(SHARES))


def _sums(windows: Sequence[MeshWindow], direction: str) -> tuple[int, int]:
    """Return the packets sent and lost; leave out and note windows in which they are unknown."""
    of: list[Columns] = [getattr(window, direction) for window in windows]
    known = [columns for columns in of if -1 not in (*columns.sent, *columns.lost)]
    if len(known) < len(of):
        figures.comment(f"{direction}: unknown in {len(of) - len(known)} of {len(of)} windows")
    return sum(sum(columns.sent) for columns in known), sum(sum(columns.lost) for columns in known)


def _drop(host: Host, share: float) -> None:
    """Drop this share of the event messages (IPv4, UDP to port 319) that leave a host, each independently."""
    threshold = round(share * 2**32)
    program = [
        "40 0 0 12",  # EtherType
        "21 0 6 2048",
        "48 0 0 23",  # protocol
        "21 0 4 17",
        "40 0 0 36",  # destination port
        "21 0 2 319",
        "32 0 0 4294963256",  # a random number (SKF_AD_RANDOM)
        f"53 0 1 {threshold}",  # at least the threshold: pass
        "6 0 0 0",
        "6 0 0 2",  # TC_ACT_SHOT
    ]
    host.lab.run("tc", "qdisc", "add", "dev", host.port, "clsact")
    bytecode = f"{len(program)},{','.join(program)}"
    host.lab.run("tc", "filter", "add", "dev", host.port, "ingress", "bpf", "da", "bytecode", bytecode)


def _dropped(host: Host) -> int:
    """Return the number of packets that the injector of a host has dropped."""
    text = host.lab.run("tc", "-s", "qdisc", "show", "dev", host.port, "clsact")
    match = re.search(r"dropped (\d+)", text)
    return int(match[1]) if match else 0


def _far(lab: Lab) -> None:
    """Measure a round trip of 20 ms with 7.8 ms between requests, which needs several open requests at a time."""
    pair = Pair(lab, "far", Clock(0, 0, 0, 1), Fleet(lab), ["--both=delay=10ms"])
    pair.measure(RATE_HZ)
    time.sleep(20)
    windows = pair.client.windows(pair.began_s + 1)
    sent, lost = _sums(windows, "round_trip")
    shortest_ms = min(window.round_trip.min_ns[0] for window in windows) / 1e6
    figures.report("agent_false_loss_percent", round(100 * lost / sent, 3), sent=sent, rtt_ms=shortest_ms)
