"""Paths behind source ports, against simulated fabrics whose paths are known."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from sinemora.measurements.on_demand.port_paths import SAMPLES, PortSweep, advise, paths_of, sweep_of
from sinemora.measurements.on_demand.summary import Exchanges
from tests.seeds import seeds


def sweep(
    offsets_ns: list[int], seed: int, ports: int = 64, rounds: int = 120, loss: dict[int, float] | None = None
) -> tuple[list[int], list[int], list[int | None], list[bool | None]]:
    """Return the true path of each port, and flow, delay and loss of each exchange in turn.

    A path has a base of 200 µs and its offset; queues add an exponential delay of 15 µs, one exchange in a hundred
    waits for 2 ms.
    """
    random = np.random.default_rng(seed)
    path = random.permutation(np.arange(ports) % len(offsets_ns))
    flow = np.tile(np.arange(ports), rounds)
    queue = random.exponential(15_000, flow.size) + 2_000_000 * (random.random(flow.size) < 0.01)
    delays = 200_000 + np.array(offsets_ns)[path[flow]] + queue
    ratio = np.array([(loss or {}).get(at, 0.0) for at in range(len(offsets_ns))])
    lost = random.random(flow.size) < ratio[path[flow]]
    values = [None if gone else int(delay) for delay, gone in zip(delays, lost, strict=True)]
    return path.tolist(), flow.tolist(), values, lost.tolist()


def test_one_path_is_not_split():
    split = sum(len(paths_of(64, *sweep([0], seed)[1:])) > 1 for seed in seeds(range(100)))
    assert split <= 3


@pytest.mark.parametrize("offsets", [[0, 40_000], [0, 30_000, 90_000, 400_000], [0, 60_000, 120_000, 180_000]])
def test_paths_that_differ_are_found_with_their_ports(offsets: list[int]):
    for seed in seeds(range(20)):
        truth, *exchanges = sweep(offsets, seed)
        found = paths_of(64, *exchanges)
        assert len(found) == len(offsets)
        for at, path in enumerate(found):
            assert {truth[port] for port in path.ports} == {at}
            assert path.slower_by_ns == pytest.approx(offsets[at], abs=5_000)
            assert not path.lossy


def test_a_path_that_loses_packets_is_marked():
    truth, *exchanges = sweep([0, 50_000, 100_000], 3, loss={1: 0.05})
    found = paths_of(64, *exchanges)
    assert [path.lossy for path in found] == [False, True, False]
    assert {truth[port] for port in found[1].ports} == {1}


def test_losses_everywhere_mark_no_path():
    found = paths_of(64, *sweep([0, 50_000], 5, loss={0: 0.05, 1: 0.05})[1:])
    assert [path.lossy for path in found] == [False, False]


def test_ports_with_few_delays_are_on_no_path():
    _, flow, delays, lost = sweep([0], 1, ports=4, rounds=SAMPLES)
    kept = [None if port == 2 and at > 8 else delay for at, (port, delay) in enumerate(zip(flow, delays, strict=True))]
    (path,) = paths_of(4, flow, kept, lost)
    assert path.ports == (0, 1, 3)
    assert paths_of(4, [], [], []) == []


def exchanges_of(flow: list[int], delays: list[int | None], lost: list[bool | None]) -> Exchanges:
    """Return exchanges with these outbound delays, and 90 µs back."""
    size, nothing = len(flow), [None] * len(flow)
    return Exchanges([*range(size)], flow, delays, [90_000] * size, lost, [False] * size, *[nothing] * 4)


def swept(offsets_ns: list[int], seed: int, day: int = 1) -> tuple[list[int], PortSweep]:
    """Return the true path of each port, and a sweep of ports from 40000 on."""
    truth, *exchanges = sweep(offsets_ns, seed)
    found = sweep_of(datetime(2026, 11, day, tzinfo=UTC), range(40_000, 40_064), exchanges_of(*exchanges))
    assert found is not None
    return truth, found


def test_advice_names_the_faster_ports_and_none_where_all_are_alike():
    for seed in seeds(range(40)):
        truth, found = swept([0, 50_000], seed)
        assert found.fast == {40_000 + port for port, path in enumerate(truth) if path == 0}
    false = sum(len(swept([0], seed)[1].fast) < 64 for seed in seeds(range(100)))
    assert false == 0
    by_all_amounts = swept([*range(0, 64_000, 1_000)], 1)[1]  # as the phase of a busy machine delays them
    assert len(by_all_amounts.fast) == 64


def test_advice_says_since_when_and_how_often_the_same_ports_were_faster():
    _, first = swept([0, 50_000], 1, day=1)
    _, other = swept([0, 50_000], 2, day=2)
    days = [swept([0, 50_000], 1, day)[1] for day in (3, 4)]
    advice = advise([days[1], other, first, days[0]])
    assert (advice.newest, advice.since, advice.agreeing, advice.compared) == (days[1], days[0].at, 3, 4)
    assert advice.faster_by_ns == pytest.approx(50_000, abs=5_000)
    elsewhere = replace(first, excess_ns={1: 0, 2: 9_000}, fast=frozenset({1}))  # other ports say nothing
    assert advise([days[0], elsewhere]).compared == 1
    assert advise([]) is None
    few = sweep([0, 50_000], 1, ports=8)[1:]
    assert sweep_of(first.at, range(8), exchanges_of(*few)) is None
