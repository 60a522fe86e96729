"""ECN marks and the order of packets, observed by two agents through a delaybox that marks, clears and reorders.

Each test measures on demand, with packets that the kernel sends and the box changes: what the agents report is compared
with the counters of the box and with the share it was asked for.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import pytest
from sinemora.advisors.transport.core.evidence import Ecn, Evidence, ecn_of, reordering_of
from sinemora.advisors.transport.core.rules import Part, advise
from sinemora.measurements.on_demand.path_probes import PathProbes, count_probes

from on_demand import Second, measure, through_box

SECONDS = 8
DIRECTIONS = ("outbound", "inbound")
# What the box does in each direction, and what is asked of the agents.
SCENES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "not asked": ("delay=300us mark=100% reorder=20%", "delay=300us", {}),
    "marks": ("delay=300us mark=10%", "delay=300us mark=40%", {"ecn": True}),
    "bleaching": ("delay=300us clear=100%", "delay=300us", {"ecn": True}),
    # Both packets of a pair are in the box at once, however late it reads the second one.
    "outbound": ("delay=5ms reorder=20%", "delay=5ms", {"reordering": True, "rate_hz": 64}),
    "inbound": ("delay=5ms", "delay=5ms reorder=20%", {"reordering": True, "rate_hz": 64}),
    "nothing": ("delay=1ms", "delay=1ms", {"ecn": True, "reordering": True}),
}


@pytest.fixture(scope="module")
def scenes() -> dict[str, list[Second]]:
    """Return the seconds that the client of each scene reports. Three laboratories at a time: they mostly wait."""
    with ThreadPoolExecutor(3) as pool:
        return dict(zip(SCENES, pool.map(measured, *zip(*SCENES.values(), strict=True)), strict=True))


def measured(outbound: str, inbound: str, asked: dict[str, Any]) -> list[Second]:
    with through_box([f"--outbound={outbound}", f"--inbound={inbound}"]) as ends:
        return measure(ends, SECONDS, **{"rate_hz": 128, **asked})


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


def test_nothing_is_observed_unless_asked(scenes: dict[str, list[Second]]) -> None:
    seconds = scenes["not asked"]
    assert sent(seconds) > 0
    names = {name for second in seconds for name in second if name.endswith(("_ecn", "_reversed"))}
    assert names == set(), "no packet is ECN-capable, and no list is sent"


def test_marks_are_counted_by_direction(scenes: dict[str, list[Second]]) -> None:
    outbound, inbound = (probes_of(scenes["marks"], direction) for direction in DIRECTIONS)
    # The last responses, and those before the agents know one another, say nothing.
    assert min(outbound.ecn_known, inbound.ecn_known) >= 0.8 * sent(scenes["marks"]), (outbound, inbound)
    # Four standard deviations of 10 and 40 % of 800 packets.
    assert 0.05 <= outbound.ce / outbound.ecn_known <= 0.15
    assert 0.32 <= inbound.ce / inbound.ecn_known <= 0.48
    assert (outbound.cleared, outbound.altered, inbound.cleared, inbound.altered) == (0, 0, 0, 0)
    assert transport(outbound) == "R2"
    assert outbound.pairs == inbound.pairs == 0, "order was not asked for"


def test_bleaching_is_recognised_and_is_no_mark(scenes: dict[str, list[Second]]) -> None:
    outbound, inbound = (probes_of(scenes["bleaching"], direction) for direction in DIRECTIONS)
    assert outbound.cleared == outbound.ecn_known >= 0.8 * sent(scenes["bleaching"])
    assert inbound.cleared == inbound.ce == 0
    assert inbound.ecn_known >= 0.8 * sent(scenes["bleaching"])
    assert ecn_of(outbound.ecn_known, outbound.ce, outbound.cleared) is Ecn.BLEACHED
    assert transport(outbound) == "R15"


@pytest.mark.parametrize(("direction", "other"), [DIRECTIONS, DIRECTIONS[::-1]])
def test_reordering_is_counted_in_its_direction(scenes: dict[str, list[Second]], direction: str, other: str) -> None:
    reordered, straight = (probes_of(scenes[direction], of) for of in (direction, other))
    assert min(reordered.pairs, straight.pairs) >= 0.35 * sent(scenes[direction]), (reordered, straight)
    # Four standard deviations of 20 % of 200 pairs: a packet overtakes another one of its pair only.
    assert 0.08 <= reordered.reversed / reordered.pairs <= 0.32, asdict(reordered)
    assert straight.reversed == 0, straight
    assert transport(reordered) == "R12"
    assert transport(straight) == "R15"
    assert reordered.ecn_known == 0, "ECN was not asked for"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_path_that_does_neither_shows_neither(scenes: dict[str, list[Second]], direction: str) -> None:
    probes = probes_of(scenes["nothing"], direction)
    assert probes.ecn_known >= 0.8 * sent(scenes["nothing"]), probes
    assert probes.pairs >= 0.35 * sent(scenes["nothing"]), probes
    assert (probes.ce, probes.cleared, probes.altered, probes.reversed) == (0, 0, 0, 0)
    assert transport(probes) == "R15"
