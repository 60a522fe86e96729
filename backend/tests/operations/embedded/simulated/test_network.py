"""The simulated network: its delays and faults against the truth that is written down about them."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from sinemora.measurements.codec import frame, llq16
from sinemora.operations.embedded.simulated import reports
from sinemora.operations.embedded.simulated.api import Identity
from sinemora.operations.embedded.simulated.faults import Fault, FaultKind, make_faults
from sinemora.operations.embedded.simulated.schedule import HISTORY_S, due_starts
from sinemora.operations.embedded.simulated.state import State
from sinemora.operations.embedded.simulated.windows import EXCHANGES, Window, measure
from sinemora.operations.embedded.simulated.world import World, make_world
from tests.seeds import seeds

AT_S = int(datetime(2026, 11, 23, 9, 7, tzinfo=UTC).timestamp())
WORLD = make_world(1)
FAULTS = {fault.kind: fault for fault in make_faults(WORLD, AT_S)}
CLIENT, SERVER = np.triu_indices(WORLD.size, 1)


def window(at_s: int = AT_S, faults: list[Fault] | None = None, world: World = WORLD) -> Window:
    client, server = np.triu_indices(world.size, 1)
    return measure(world, faults or [], at_s, client, server)


@pytest.mark.parametrize(
    ("kind", "added_ns", "there", "back"),
    [
        (FaultKind.PAST_ZONE_PAIR, 350e3, 1, 0),
        (FaultKind.DRIFT, 160e3, 1, 1),
        (FaultKind.SLOW_VM, 15e6, 1, 1),
        (FaultKind.ZONE_PAIR, 400e3, 1, 0),
    ],
)
def test_a_fault_adds_its_delay_to_its_paths_only(kind: FaultKind, added_ns: float, there: int, back: int) -> None:
    fault = FAULTS[kind]
    at_s = (fault.ended_at_s or AT_S) - 60
    added = window(at_s, [fault]).delays_ns - window(at_s).delays_ns
    source, target = set(fault.sources), set(fault.targets)
    for direction, ends in enumerate(((CLIENT, SERVER), (SERVER, CLIENT))):
        for pair, (a, b) in enumerate(zip(*ends, strict=True)):
            expected = added_ns * (there * (a in source and b in target) + back * (b in source and a in target))
            assert added[direction, pair] == pytest.approx(expected, abs=0.001 * added_ns + 1)


def test_a_fault_is_over_at_its_end_and_absent_before_its_start() -> None:
    fault = FAULTS[FaultKind.PAST_ZONE_PAIR]
    assert fault.ended_at_s is not None
    times = (fault.started_at_s - 60, fault.started_at_s, fault.ended_at_s - 60, fault.ended_at_s)
    assert [fault.strength(at) for at in times] == [0, 1, 1, 0]


def test_the_lossy_vm_loses_an_eighth_of_its_packets() -> None:
    fault = FAULTS[FaultKind.LOSSY_VM]
    assert fault.ended_at_s is not None
    found = [window(at, [fault]) for at in range(fault.started_at_s, fault.ended_at_s, 1800)]
    of_vm = (fault.sources[0] == CLIENT) | (fault.sources[0] == SERVER)
    lost, sent = (np.stack([getattr(one, name)[:2] for one in found]) for name in ("lost", "sent"))
    assert lost[:, :, of_vm].sum() / sent[:, :, of_vm].sum() == pytest.approx(0.12, abs=0.015)
    assert lost[:, :, ~of_vm].sum() / sent[:, :, ~of_vm].sum() < 2e-4


def test_a_pair_and_a_silent_vm_lose_everything() -> None:
    found = window(AT_S, list(FAULTS.values()))
    pair, silent = FAULTS[FaultKind.LOST_PAIR], FAULTS[FaultKind.SILENT_VM].sources[0]
    expected = (np.isin(CLIENT, (*pair.sources, *pair.targets)) & np.isin(SERVER, (*pair.sources, *pair.targets))) | (
        (silent == CLIENT) | (silent == SERVER)
    )
    assert np.array_equal(found.counts == 0, expected)
    assert (found.lost[0, expected] == EXCHANGES).all()
    assert (found.sent[1, expected] == -1).all()
    assert np.flatnonzero(found.silent).tolist() == [silent]


def test_a_seed_gives_the_same_network_and_another_one_another() -> None:
    again, other = make_world(1), make_world(2)
    assert np.array_equal(window(world=again).delays_ns, window().delays_ns)
    assert not np.array_equal(other.base_ns, WORLD.base_ns)
    assert [fault.text for fault in make_faults(again, AT_S)] == [fault.text for fault in FAULTS.values()]
    assert [fault.sources for fault in make_faults(other, AT_S)] != [fault.sources for fault in FAULTS.values()]


@pytest.mark.parametrize("seed", seeds(range(40)))
def test_faults_do_not_overlap_in_any_network(seed: int) -> None:
    world = make_world(seed)
    faults = {fault.kind: fault for fault in make_faults(world, AT_S)}
    alone = (FaultKind.LOSSY_VM, FaultKind.SLOW_VM, FaultKind.SILENT_VM, FaultKind.LOST_PAIR)
    assert len({*(faults[kind].sources[0] for kind in alone), *faults[FaultKind.LOST_PAIR].targets}) == 5
    zones = [frozenset(world.zone_of[[faults[kind].sources[0], faults[kind].targets[0]]].tolist())
             for kind in (FaultKind.PAST_ZONE_PAIR, FaultKind.DRIFT, FaultKind.ZONE_PAIR)]  # fmt: skip
    assert len({*zones, frozenset(world.asymmetric)}) == 4
    assert faults[FaultKind.PAST_ZONE_PAIR].started_at_s > AT_S - HISTORY_S


def test_recent_windows_are_all_due_and_older_ones_are_sampled() -> None:
    starts = due_starts(0, AT_S + 7)
    ages = AT_S - np.array(starts)
    gaps = -np.diff(ages)
    assert starts[-1] == AT_S - 60
    assert starts[0] == pytest.approx(AT_S - HISTORY_S, abs=3600)
    assert set(gaps[ages[1:] < 3 * 3600 - 60]) == {60}
    assert max(gaps[ages[:-1] < 2 * 86_400 - 900]) == 900
    assert max(gaps) == 3600


def test_windows_are_due_once() -> None:
    starts = due_starts(0, AT_S)
    assert due_starts(starts[-1], AT_S) == []
    assert due_starts(starts[-1], AT_S + 125) == [AT_S, AT_S + 60]
    # The rest of an interrupted loading, a minute later.
    rest = due_starts(starts[100], AT_S)
    assert rest == starts[101:]


def test_reports_have_the_statistics_of_the_delays() -> None:
    small = make_world(3, 8, 1)
    found = window(AT_S, make_faults(small, AT_S), small)
    sizes = [7, 6, 5, 4, 3, 2, 1, 0]
    columns = reports.columns_of(found.delays_ns, found.counts, found.sent, found.lost, found.clock_error_ns)
    sketches = reports.sketches_of(found.delays_ns, found.counts, sizes)
    pair = 0
    for size, sketch in zip(sizes, sketches, strict=True):
        cut = 0
        for direction in range(3):
            for at in range(size):
                both = found.delays_ns[:, pair + at, : found.counts[pair + at]].tolist()
                delays = [*both, [a + b for a, b in zip(*both, strict=True)]][direction]
                words = sketch.words[cut : cut + sketch.lengths[direction, at]]
                cut += int(sketch.lengths[direction, at])
                assert words.tolist() == llq16.encode(delays).tolist()
                column = columns[:, direction, pair + at].tolist()
                assert column[frame.COUNT] == len(delays)
                assert column[frame.MIN] == min(delays, default=0)
                assert column[frame.MAX] == max(delays, default=0)
                assert column[frame.MEAN] == pytest.approx(sum(delays) / max(len(delays), 1), abs=0.5)
        pair += size


def test_the_state_is_read_as_it_was_written_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "simulated.json"
    assert State.read(path) is None
    state = State("tenant", 2, AT_S, AT_S + 60, True, {"vm": Identity(7, "sma_secret")})
    state.write(path)
    state.write(path)
    assert State.read(path) == state
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text('{"seed": 1}')
    assert State.read(path) is None
