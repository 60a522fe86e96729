"""Rules about fairness on windows: index against its definition, members in scope, M of N, one cause."""

from collections.abc import Mapping
from dataclasses import replace
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.alerts.evaluation.baseline import Floats
from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Among, Condition, Kind, Rule, Severity
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.fairness import FlowShares, jain_index
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from tests.alerts.evaluation.windows import window_of

SIZE = 4
KEYS = np.array([10, 20, 30, 40])


def rule(among: Among, **fields: object) -> Rule:
    base = Rule(among.value, "Uneven", Condition(Kind.FAIRNESS, among=among, below=0.883))
    return replace(base, **fields)  # type: ignore[arg-type]


def flows_of(by_pair: Mapping[tuple[int, int], list[float]]) -> FlowShares:
    """Return shares of flows by positions of the client and the target."""
    widths = [len(shares) for shares in by_pair.values()]
    firsts = np.cumsum([0, *widths])[:-1]
    clients, targets = (KEYS[[pair[end] for pair in by_pair]] if by_pair else np.empty(0, np.int64) for end in (0, 1))
    return FlowShares(clients, targets, firsts, np.array([share for one in by_pair.values() for share in one]))


def window(
    number: int,
    trips_ns: Floats | None = None,
    performances: Mapping[str, float] | None = None,
    flows: Mapping[tuple[int, int], list[float]] | None = None,
) -> EvaluationWindow:
    """A window of four VMs in two zones with these round trips, performances, and shares of flows by pair."""
    trips = np.full((SIZE, SIZE), 200_000.0, np.float32) if trips_ns is None else trips_ns

    def values(metric: Metric, _: Statistic) -> Floats:
        return trips if metric is Metric.ROUND_TRIP else np.zeros((SIZE, SIZE), np.float32)

    more = {"keys": KEYS, "performances": performances or {}, "flows": lambda: flows_of(flows or {})}
    return window_of(number, np.array([0, 0, 1, 1]), values, **more)


def fired(rules: list[Rule], windows: list[EvaluationWindow]) -> list[list[Detection]]:
    state = EvaluationState(np.zeros(0, np.int64))
    return [step(state, rules, one).detections for one in windows]


def slow_vm(at: int, trip_ns: float) -> Floats:
    """Return round trips in which all paths of one VM take `trip_ns`, the others 200 µs."""
    trips = np.full((SIZE, SIZE), 200_000.0, np.float32)
    trips[at, :] = trips[:, at] = trip_ns
    np.fill_diagonal(trips, np.nan)
    return trips


@given(st.lists(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=6), min_size=1, max_size=6))
def test_the_indices_of_flows_are_those_of_each_pair(pairs: list[list[float]]):
    found = flows_of({(0, at): shares for at, shares in enumerate(pairs, 0)} if len(pairs) <= SIZE else {})
    for at, index in enumerate(found.indices().tolist()):
        naive = jain_index(pairs[at])
        assert index == pytest.approx(naive) if len(pairs[at]) > 1 else np.isnan(index)


def test_an_index_at_the_limit_is_no_breach():
    # Shares 1, 1, 1 and x: the index is (3 + x)² / (4 (3 + x²)).
    shares = [1.0, 1.0, 1.0, 0.5]
    index = sum(shares) ** 2 / (4 * sum(share * share for share in shares))
    at_limit = rule(Among.APPLICATIONS, condition=Condition(Kind.FAIRNESS, among=Among.APPLICATIONS, below=index))
    above = replace(at_limit, id="a", condition=replace(at_limit.condition, below=index + 1e-6))
    windows = [window(number, performances=dict(zip("abcd", shares, strict=True))) for number in (1, 2, 3)]
    assert [tuple(one.rules) for one in fired([at_limit, above], windows)[-1]] == [("a",)]


def test_one_application_or_unknown_ones_are_no_breach():
    known = {"a": 0.9, "b": nan}
    windows = [window(number, performances=known) for number in range(1, 5)]
    assert fired([rule(Among.APPLICATIONS)], windows)[-1] == []
    uneven = [window(number, performances={"a": 0.9, "b": 0.1, "c": nan}) for number in range(1, 4)]
    (found,) = fired([rule(Among.APPLICATIONS)], uneven)[-1]
    assert found.cause.culprit.suspect is Suspect.APPLICATION_SHARES


def test_unknown_windows_keep_a_rule_firing_and_even_ones_end_it():
    bad, unknown, good = {"a": 0.9, "b": 0.1}, {"a": nan, "b": nan}, {"a": 0.9, "b": 0.9}
    series = [bad] * 3 + [unknown] * 12 + [good] * 8
    found = fired([rule(Among.APPLICATIONS)], [window(at, performances=one) for at, one in enumerate(series, 1)])
    assert [len(one) for one in found[3:15]] == [1] * 12
    assert found[-1] == []


def test_paths_with_uneven_flows_are_one_cause_with_their_paths():
    uneven, even = [10_000.0, 10_000.0, 10_000.0, 900.0], [10_000.0] * 4
    windows = [window(at, flows={(0, 1): even, (0, 2): uneven, (3, 2): uneven}) for at in range(1, 4)]
    (found,) = fired([rule(Among.FLOWS)], windows)[-1]
    paths = {divmod(cell, SIZE) for cell in found.cause.cells.tolist()}
    assert paths == {(0, 2), (2, 0), (3, 2), (2, 3)}
    assert (found.cause.culprit.suspect, found.rules) == (Suspect.FLOW_SHARES, {"flows": 4})


def test_a_scope_selects_paths_and_with_them_vms():
    trips = slow_vm(3, 5_000_000)
    inside = np.zeros((SIZE, SIZE), bool)
    inside[:2, :2] = True
    of_zone = rule(Among.VMS, id="zone", scope=inside)
    windows = [window(at, trips) for at in range(1, 4)]
    assert [tuple(one.rules) for one in fired([of_zone, rule(Among.VMS)], windows)[-1]] == [("vms",)]
    one_way = np.zeros((SIZE, SIZE), bool)
    one_way[2, 0] = True
    uneven = [window(at, flows={(0, 2): [10_000.0, 500.0], (0, 1): [10_000.0, 500.0]}) for at in range(1, 4)]
    (found,) = fired([rule(Among.FLOWS, scope=one_way)], uneven)[-1]
    assert {divmod(cell, SIZE) for cell in found.cause.cells.tolist()} == {(0, 2), (2, 0)}


def test_several_rules_about_the_same_members_are_one_cause():
    critical = rule(Among.VMS, id="c", severity=Severity.CRITICAL)
    windows = [window(at, slow_vm(0, 5_000_000)) for at in range(1, 4)]
    (found,) = fired([rule(Among.VMS), critical], windows)[-1]
    assert (set(found.rules), found.severity) == ({"vms", "c"}, Severity.CRITICAL)


def test_in_a_mesh_that_rotates_a_path_counts_its_turns():
    uneven = {(0, 1): [10_000.0, 500.0], (1, 0): [10_000.0, 500.0]}
    turn = np.zeros((SIZE, SIZE), bool)
    turn[0, 1] = turn[1, 0] = True
    windows = [
        replace(window(at, flows=uneven if at % 3 == 0 else {}), active=turn if at % 3 == 0 else ~turn, period=3)
        for at in range(1, 8)
    ]
    found = fired([rule(Among.FLOWS)], windows)
    assert [len(one) for one in found] == [0, 0, 0, 0, 0, 1, 1]
