"""Faults of the console's benchmark: five at other places for each seed, and the names by which they are recognised."""

import pytest

from lab.benchmarks.showing.sights import LOSS, Sight, drift_of, sights_of, sudden_of
from sinemora.operations.embedded.simulated.faults import effects_of
from sinemora.operations.embedded.simulated.world import World, make_world

NOW_S = 1_700_000_000
SEEDS = range(1, 9)


def sights(world: World) -> dict[str, Sight]:
    return {one.fault: one for one in sights_of(world, [drift_of(world, NOW_S), *sudden_of(world, NOW_S)])}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_fault_has_its_own_ends(seed: int) -> None:
    found = sights(make_world(seed))
    assert {*found} == {"drift", "slow_vm", "zone_pair", "lost_pair", "silent_vm"}
    single = {*found["slow_vm"].names, *found["lost_pair"].names, *found["silent_vm"].names}
    assert len(single) == 4
    for fault in ("drift", "zone_pair"):
        sight = found[fault]
        assert sight.names == sight.zones
        assert sight.sources
        assert sight.targets
        assert not single & {*sight.sources, *sight.targets}
        assert all(vm.startswith(sight.zones[0]) for vm in sight.sources)
        assert all(vm.startswith(sight.zones[1]) for vm in sight.targets)
    assert {*found["drift"].zones} != {*found["zone_pair"].zones}
    assert [one.fault for one in found.values() if not one.has_paths] == ["silent_vm"]


def test_only_the_drift_began_before() -> None:
    world = make_world(3)
    faults = [drift_of(world, NOW_S), *sudden_of(world, NOW_S)]
    before, after = (effects_of(faults, at_s, world.size) for at_s in (NOW_S - 1, NOW_S))
    assert before.added_ns.max() == pytest.approx(68e3, rel=0.01)
    assert before.loss.max() == 0
    assert not before.silent.any()
    assert after.added_ns.max() >= 15e6
    assert LOSS in after.loss
    assert after.silent.sum() == 1


def test_places_differ_between_seeds() -> None:
    assert len({tuple(one.names for one in sights(make_world(seed)).values()) for seed in SEEDS}) == len(SEEDS)
