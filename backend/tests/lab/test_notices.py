"""Notices of the lab follow the product: an info incident waits before its first."""

import numpy as np

from lab.incidents.notices import NoticeLog
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.evaluation.tracking import Track
from sinemora.alerts.notifications.grouping import INFO_WAIT_S

TRACK = Track("one", Culprit(Suspect.AGENT, 1, -1), np.array([1], np.int64), 1.0, 100, 100)


def test_a_higher_severity_replaces_a_notice_that_waits():
    log = NoticeLog()
    log.add(TRACK, Severity.INFO, 100, begins=True)
    assert log.add(TRACK, Severity.WARNING, 99 + INFO_WAIT_S, begins=False)
    assert log.sent(1000) == 1


def test_a_higher_severity_after_the_wait_is_a_second_notification():
    log = NoticeLog()
    log.add(TRACK, Severity.INFO, 100, begins=True)
    assert not log.add(TRACK, Severity.WARNING, 100 + INFO_WAIT_S, begins=False)
    assert log.sent(1000) == 2


def test_a_warning_does_not_wait():
    log = NoticeLog()
    log.add(TRACK, Severity.WARNING, 100, begins=True)
    assert not log.add(TRACK, Severity.CRITICAL, 101, begins=False)
    assert log.sent(1000) == 2
