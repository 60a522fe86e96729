"""When windows are due: late agents, agents that are gone, clocks, silence; and how far evaluation is behind."""

from dataclasses import replace
from uuid import uuid4

import pytest

from sinemora.alerts.detection import due
from sinemora.alerts.detection.due import BlockReports, MeshReports


def mesh(at_s: float, *blocks: tuple[int, int, float], evaluated_s: int | None = 80, **more: float) -> MeshReports:
    """A mesh of 10-s windows; blocks as (end of the newest window, number, seconds it took to arrive)."""
    known = [BlockReports(ended_s, count, ended_s + delay_s) for ended_s, count, delay_s in blocks]
    return replace(MeshReports(uuid4(), uuid4(), 10, at_s, known, evaluated_s, at_s - 1), **more)


@pytest.mark.parametrize(
    ("reports", "due_s"),
    [
        (mesh(101, (100, 2, 0.5), (90, 4, 1)), 90),
        (mesh(103.1, (100, 2, 0.5), (90, 4, 1)), 100),  # the others had their time
        (mesh(101, (100, 6, 0.5), evaluated_s=90), 100),
        (mesh(101, (100, 6, 0.5), evaluated_s=100), None),
        (mesh(101, (100, 6, 0.5), evaluated_s=None), 100),
        (mesh(130, (80, 6, 1)), None),  # nobody reported more
        (mesh(1000, (990, 5, 0.5), (690, 1, 300), evaluated_s=690), 870),  # none is waited for longer than the limit
        (mesh(151, (150, 5, 0.5), (100, 1, 1), evaluated_s=140), 150),  # nor one that is gone
        (mesh(101, (500, 1, -399), (100, 5, 0.5), evaluated_s=90), 100),  # a window in the future waits
        (mesh(101, (100, 6, 0.5), evaluated_s=3700), 100),  # a clock that was stepped back stops nothing
    ],
)
def test_a_window_is_due_once_all_agents_reported_it_or_had_their_time(reports: MeshReports, due_s: int | None):
    assert due.due_end_s(reports) == due_s


@pytest.mark.parametrize("late_s", [5.0, 15.0, 30.0, 60.0])
def test_an_agent_that_is_always_late_is_waited_for(late_s: float):
    newest_s = 100
    behind_s = newest_s - 10 * -(-int(late_s) // 10)
    reports = [(newest_s, 5, 0.5), (behind_s, 1, late_s)]
    assert due.due_end_s(mesh(newest_s + 3.5, *reports, evaluated_s=behind_s)) is None
    # It did not come although it had its time: the others are not kept waiting.
    later = mesh(behind_s + 10 + late_s + 2, *reports, evaluated_s=behind_s)
    assert due.due_end_s(later) == behind_s + 10


def test_lateness_is_that_of_nine_in_ten_and_of_the_last_minutes():
    assert due.lateness_s(mesh(101, (100, 19, 0.5), (90, 1, 9))) == 0.5
    assert due.lateness_s(mesh(130, (100, 10, 25))) == 25
    assert due.lateness_s(mesh(161, (160, 10, 1), lateness_s=40, looked_at_s=101)) == pytest.approx(20)
    assert due.lateness_s(mesh(1000, (700, 10, 290))) == due.LATENESS_MAX_S


def test_silence_is_looked_at_less_often_the_longer_it_lasts():
    looks = ((30, 9, False), (30, 11, True), (1200, 60, False), (1200, 121, True), (1200, -3600, True))
    for silent_s, looked_s_ago, is_due in looks:  # the last one before the clock was stepped back
        at_s = 80.0 + silent_s
        assert due.silence_is_due(mesh(at_s, (80, 6, 1), looked_at_s=at_s - looked_s_ago)) is is_due
    assert not due.silence_is_due(mesh(200, (90, 6, 1)))


def test_lag_counts_from_when_a_window_could_have_been_evaluated():
    assert due.lag_s(mesh(101, (100, 6, 0.5), evaluated_s=100)) == 0
    assert due.lag_s(mesh(101, (100, 6, 0.5), evaluated_s=90)) == 0
    behind = mesh(201, (200, 6, 0.5), evaluated_s=90, looked_at_s=91, reported_s=90)
    assert due.lag_s(behind) == pytest.approx(201 - 103)
    # It was silent for an hour until now: nothing could have been evaluated.
    back = mesh(3701, (3700, 6, 0.5), evaluated_s=90, looked_at_s=3500, reported_s=90)
    assert due.lag_s(back) == 0
    # The backend itself was away: its windows are late from their end on, also before the agents have sent them.
    away = mesh(201, (90, 6, 0.5), evaluated_s=90, looked_at_s=200, reported_s=90)
    for at_s, back_s, lag_s in ((201, 199, 98), (201, 102, 0), (290, 199, 0)):
        assert due.lag_s(replace(away, at_s=at_s), None, (95, back_s)) == pytest.approx(lag_s)
    assert due.lag_s(mesh(201, (200, 6, 0.5), evaluated_s=90, looked_at_s=200, reported_s=90), None, (95, 199)) == 98
