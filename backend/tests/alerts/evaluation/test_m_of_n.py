"""M of N: phases of a rule on a path, window by window."""

import numpy as np
import pytest

from sinemora.alerts.evaluation.m_of_n import MOfN, Phase, RuleState


@pytest.mark.parametrize(
    ("windows", "m_of_n", "firing"),
    [
        ("+", MOfN(1, 1), "F"),
        ("-++-+", MOfN(2, 3), "--FFF"),
        ("+-+--", MOfN(2, 3), "--F--"),
        ("+++-", MOfN(1, 1, hold=2), "--F-"),
        ("++---", MOfN(1, 1, keep=2), "FFFF-"),
        ("++????", MOfN(2, 2), "-FFFFF"),  # missing windows keep the state
        ("++?+", MOfN(3, 4), "---F"),
    ],
)
def test_fires_after_m_of_n_windows_with_hold_and_keep(windows: str, m_of_n: MOfN, firing: str):
    rule_state, seen = RuleState.new((1,)), ""
    for window in windows:
        rule_state.step(np.array([window == "+"]), np.array([window != "?"]), m_of_n)
        seen += "F" if rule_state.phases(m_of_n)[0] == Phase.FIRING else "-"
    assert seen == firing


def test_missing_data_is_neither_ok_nor_a_breach():
    rule_state, m_of_n = RuleState.new((2,)), MOfN(2, 3)
    for _ in range(3):
        rule_state.step(np.array([False, False]), np.array([True, False]), m_of_n)
    assert rule_state.phases(m_of_n).tolist() == [Phase.INACTIVE, Phase.UNKNOWN]


def test_a_late_window_counts_at_its_place():
    in_time, late, m_of_n = RuleState.new((1,)), RuleState.new((1,)), MOfN(2, 3)
    yes, no = np.array([True]), np.array([False])
    for breach in (yes, no, yes):
        in_time.step(breach, yes, m_of_n)
    late.step(no, no, m_of_n)  # no data yet
    late.step(no, yes, m_of_n)
    late.amend(yes, yes, 1)
    late.step(yes, yes, m_of_n)
    assert late.hits == in_time.hits
    assert late.firing[0] == in_time.firing[0]


def test_missed_windows_count_as_missing_data():
    rule_state, yes = RuleState.new((1,)), np.array([True])
    rule_state.step(yes, yes, MOfN(2, 3))
    rule_state.step(yes, yes, MOfN(2, 3), windows=4)
    assert rule_state.hits[0] == 0b10001
    assert not rule_state.firing[0]
