"""ECN marks and the order of packets, observed by two agents through a delaybox that marks, clears and reorders.

Each test measures on demand, with packets that the kernel sends and the box changes: what the agents report is compared
with the counters of the box and with the share it was asked for.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest
from sinemora.advisors.transport.core.evidence import Ecn, Evidence, ecn_of, reordering_of
from sinemora.advisors.transport.core.rules import Part, advise
from sinemora.measurements.on_demand.path_probes import PathProbes, count_probes

import boxes
from agents import Fleet, peer
from laboratory import Lab, wait_until

SECONDS, RATE_HZ, KEY = 8, 128, 9
Second = dict[str, Any]


@contextmanager
def measured(outbound: str, inbound: str, **asked: Any) -> Iterator[list[Second]]:
    """Measure a path through a box with these settings on demand; yield the seconds that the client reports."""
    with Lab() as lab:
        fleet = Fleet(lab)
        hosts = lab.host("client"), lab.host("responder")
        path = boxes.join(lab, *hosts, [f"--outbound={outbound}", f"--inbound={inbound}"])
        client = fleet.agent(hosts[0], listen_address=path.addresses[0])
        responder = fleet.agent(hosts[1], listen_address=path.addresses[1])
        starts_s = int(time.time()) + 4
        common = {"id": "o", "key": KEY, "rate_hz": RATE_HZ, "loss_deadline_ms": 1000} | asked
        common |= {"starts_at_ns": starts_s * 10**9, "ends_at_ns": (starts_s + SECONDS) * 10**9}
        for agent, other, address, role in (
            (responder, client, path.addresses[0], "responder"),
            (client, responder, path.addresses[1], "client"),
        ):
            agent.follow([], 1, on_demand=[common | {"peer": peer(other.key, address, role)}])
        name = f"{client.key}-{KEY}-*.second"
        wait_until("the last second", lambda: len(list(fleet.folder.glob(name))) >= SECONDS, SECONDS + 30)
        yield [json.loads(file.read_text("utf-8")) for file in sorted(fleet.folder.glob(name))]


def probes_of(seconds: Sequence[Second], direction: str) -> PathProbes:
    def column(name: str) -> list[Any]:
        return [value for second in seconds for value in second.get(f"{direction}_{name}", ())]

    return count_probes(column("ecn"), column("reversed"))


def transport(probes: PathProbes) -> str:
    """Return the rule of the transport advisor that these observations choose."""
    ecn = ecn_of(probes.ecn_known, probes.ce, probes.cleared)
    seen = Evidence(ecn=ecn, reordering=reordering_of(probes.pairs, probes.reversed))
    fired = advise(seen)
    return next(one.rule.id for one in fired if one.rule.part is Part.TRANSPORT and one.overridden_by is None)


def sent(seconds: Sequence[Second]) -> int:
    return sum(len(second["at_ns"]) for second in seconds)


def test_nothing_is_observed_unless_asked() -> None:
    with measured("delay=300us mark=100% reorder=20%", "delay=300us") as seconds:
        assert sent(seconds) > 0
        names = {name for second in seconds for name in second if name.endswith(("_ecn", "_reversed"))}
    assert names == set(), "no packet is ECN-capable, and no list is sent"


def test_marks_are_counted_by_direction() -> None:
    with measured("delay=300us mark=10%", "delay=300us mark=40%", ecn=True) as seconds:
        outbound, inbound = (probes_of(seconds, direction) for direction in ("outbound", "inbound"))
    # The last responses, and those before the agents know one another, say nothing.
    assert min(outbound.ecn_known, inbound.ecn_known) >= 0.8 * sent(seconds), (outbound, inbound)
    # Four standard deviations of 10 and 40 % of 800 packets.
    assert 0.05 <= outbound.ce / outbound.ecn_known <= 0.15
    assert 0.32 <= inbound.ce / inbound.ecn_known <= 0.48
    assert (outbound.cleared, outbound.altered, inbound.cleared, inbound.altered) == (0, 0, 0, 0)
    assert transport(outbound) == "R2"
    assert outbound.pairs == inbound.pairs == 0, "order was not asked for"


def test_bleaching_is_recognised_and_is_no_mark() -> None:
    with measured("delay=300us clear=100%", "delay=300us", ecn=True) as seconds:
        outbound, inbound = (probes_of(seconds, direction) for direction in ("outbound", "inbound"))
    assert outbound.cleared == outbound.ecn_known >= 0.8 * sent(seconds)
    assert inbound.cleared == inbound.ce == 0
    assert inbound.ecn_known >= 0.8 * sent(seconds)
    assert ecn_of(outbound.ecn_known, outbound.ce, outbound.cleared) is Ecn.BLEACHED
    assert transport(outbound) == "R15"


@pytest.mark.parametrize(("outbound", "inbound"), [("reorder=20%", ""), ("", "reorder=20%")])
def test_reordering_is_counted_in_its_direction(outbound: str, inbound: str) -> None:
    # Both packets of a pair are in the box at once, however late it reads the second one.
    ways = (f"delay=5ms {outbound}".strip(), f"delay=5ms {inbound}".strip())
    with measured(*ways, reordering=True, rate_hz=64) as seconds:
        probes = {direction: probes_of(seconds, direction) for direction in ("outbound", "inbound")}
    reordered = probes["outbound" if outbound else "inbound"]
    straight = probes["inbound" if outbound else "outbound"]
    assert min(reordered.pairs, straight.pairs) >= 0.35 * sent(seconds), probes
    # Four standard deviations of 20 % of 200 pairs: a packet overtakes another one of its pair only.
    assert 0.08 <= reordered.reversed / reordered.pairs <= 0.32, asdict(reordered)
    assert straight.reversed == 0, probes
    assert transport(reordered) == "R12"
    assert transport(straight) == "R15"
    assert reordered.ecn_known == 0, "ECN was not asked for"


def test_a_path_that_does_neither_shows_neither() -> None:
    with measured("delay=1ms", "delay=1ms", ecn=True, reordering=True) as seconds:
        for direction in ("outbound", "inbound"):
            probes = probes_of(seconds, direction)
            assert probes.ecn_known >= 0.8 * sent(seconds), probes
            assert probes.pairs >= 0.35 * sent(seconds), probes
            assert (probes.ce, probes.cleared, probes.altered, probes.reversed) == (0, 0, 0, 0)
            assert transport(probes) == "R15"
