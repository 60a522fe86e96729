"""Tests of the caches of merged ranges and newest windows: results equal those of a fresh read."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from sinemora.measurements import tasks
from sinemora.measurements.aggregate import corrections as clock_corrections
from sinemora.measurements.query.caches import rollup_cache
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.query.scan import utc
from sinemora.measurements.store import corrections
from tests.api_clients import AgentCaller, MeshWorld
from tests.measurements.reports import AgentWindow, report_of, sent, sent_together, whole_mesh, window_start
from tests.measurements.worlds import Raw, simple
from tests.statements import call

pytestmark = [pytest.mark.whole_store, pytest.mark.agents(4)]

MINUTES = 13


def measure(mesh: MeshWorld, started_at_s: int, seed: int) -> None:
    """Store one window of the whole mesh; the first VM of each pair is the client."""
    sent_together(mesh.key, window(mesh, started_at_s, seed))


def window(mesh: MeshWorld, started_at_s: int, seed: int) -> Iterator[AgentWindow]:
    def raw_of(agent: AgentCaller, peer: AgentCaller) -> Raw:
        count, lost = 5 + mesh.agents.index(agent), seed % 2
        return simple(50_000 + 977 * seed + 100 * peer.vm_key, 80_000 - 300 * seed, count=count, lost=lost)

    return whole_mesh(mesh, started_at_s, raw_of)


@pytest.fixture
def start(mesh) -> int:
    """Thirteen minutes of a window or two each; the first is at a minute and no multiple of five."""
    start = window_start(30, 300) + 120
    sent_together(
        mesh.key,
        (
            one
            for minute in range(MINUTES)
            for n in range(1 + minute % 2)
            for one in window(mesh, start + 60 * minute + 10 * n, 3 * minute + n)
        ),
    )
    tasks.roll_up()
    return start


def matrix_of(mesh: MeshWorld, start_s: int | None = None, end_s: int = 0, **more):
    when = {} if start_s is None else {"from": utc(start_s).isoformat(), "to": utc(end_s).isoformat()}
    parameters = {"statistic": "p50", "more": ["p99", "min", "max", "mean"], **when, **more}
    return mesh.read("matrix", **parameters)


def shift(mesh: MeshWorld, start_s: int, end_s: int, shift_ns: int) -> None:
    """Corrections of all pairs of the first VM."""
    shifts = np.zeros(3, clock_corrections.SHIFTS)
    shifts["client"], shifts["target"] = mesh.agents[0].vm_key, [agent.vm_key for agent in mesh.agents[1:]]
    shifts["shift_ns"], shifts["bound_ns"] = shift_ns, 250
    call(corrections.store, mesh.owner.tenant_key, mesh.key, utc(start_s), utc(end_s), np.sort(shifts), np.zeros(1))


def test_a_range_that_moves_is_the_same_as_one_read_for_the_first_time(mesh, start, monkeypatch):
    ranges = [(start + 60 * a, start + 60 * b) for a, b in ((0, 12), (1, 13), (2, 11), (1, 13), (4, 10))]
    for metric, by in (("one_way_delay", "vm"), ("one_way_delay", "zone"), ("round_trip", "vm"), ("loss", "zone")):
        shared_cache.cache_clear()
        moved = [matrix_of(mesh, *entry, metric=metric, by=by) for entry in ranges]
        for entry, time_range in zip(ranges, moved, strict=True):
            shared_cache.cache_clear()
            assert matrix_of(mesh, *entry, metric=metric, by=by) == time_range, (metric, by)
        assert moved[0] != moved[1]


def test_a_range_is_what_its_windows_are_merged_client_by_client(mesh, start, monkeypatch):
    result = matrix_of(mesh, start, start + 720)
    monkeypatch.setattr(rollup_cache, "_PAIRS_MAX", 0)
    one_by_one = matrix_of(mesh, start, start + 720)
    means = np.array([item["more"].pop("mean") for item in (result, one_by_one)], float)
    assert result == one_by_one
    assert np.nanmax(np.abs(means[0] - means[1])) <= 1


def test_a_late_window_shows_in_a_range_that_is_remembered(mesh, start, monkeypatch):
    before = matrix_of(mesh, start, start + 720)
    assert matrix_of(mesh, start, start + 720) == before
    measure(mesh, start + 330, 40)
    tasks.roll_up()
    after = matrix_of(mesh, start, start + 720)
    assert after["more"]["max"] != before["more"]["max"]
    shared_cache.cache_clear()
    assert matrix_of(mesh, start, start + 720) == after


def test_a_range_is_corrected_anew_when_corrections_change(mesh, start, monkeypatch):
    result = [matrix_of(mesh, start, start + 720)]
    for end_s, shift_ns in ((start + 100, 4_000), (start + 600, 9_000)):
        shift(mesh, end_s - 60, end_s, shift_ns)
        result.append(matrix_of(mesh, start, start + 720))
    means = [entry["more"]["mean"] for entry in result]
    assert means[0] != means[1] != means[2]
    shared_cache.cache_clear()
    assert matrix_of(mesh, start, start + 720) == result[2]


def test_the_newest_windows_are_those_written_last(mesh, monkeypatch):
    def newest() -> dict[str, object]:  # without the states, which time alone changes
        return {name: value for name, value in matrix_of(mesh).items() if name in ("values", "more", "clock_error_ns")}

    def known() -> object:
        return shared_cache().get(("newest", mesh.owner.tenant_key, mesh.key))

    now = window_start(2)
    measure(mesh, now - 10, 1)
    result, first = [newest()], known()
    assert newest() == result[0]
    assert known() is first
    sent(mesh.agents[0], report_of(mesh.key, {entry.vm_key: simple(900_000) for entry in mesh.agents[1:]}, now))
    result.append(newest())
    shift(mesh, now - 100, now + 10, 5_000)
    result.append(newest())
    sent(mesh.agents[1], report_of(mesh.key, {mesh.agents[3].vm_key: simple(70_000)}, now))  # another roster
    result.append(newest())
    assert all(entry != other for entry, other in pairwise(result))
    shared_cache.cache_clear()
    assert newest() == result[3]
