"""Verdicts: network, clock, agent or application, from what is known of an incident."""

from uuid import uuid4

import pytest

from sinemora.alerts.evaluation.impact import Shift
from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.verdict import AffectedApplication, IncidentFacts, OtherIncident, verdict_of

UP = Shift(compared=5, slower=5, change_ns=300_000, reverse_change_ns=0, round_trip_change_ns=300_000)
BOTH_UP = Shift(compared=5, slower=5, change_ns=300_000, reverse_change_ns=280_000, round_trip_change_ns=580_000)
CLOCK = Shift(compared=5, slower=5, change_ns=300_000, reverse_change_ns=-297_000, round_trip_change_ns=3_000)
PART_CLOCK = Shift(compared=5, slower=5, change_ns=300_000, reverse_change_ns=-150_000, round_trip_change_ns=150_000)
USUAL = Shift(compared=5, slower=3, change_ns=1_000, reverse_change_ns=-500, round_trip_change_ns=500)


@pytest.mark.parametrize(
    ("facts", "kind", "reasons"),
    [
        (IncidentFacts(Suspect.EGRESS, 5, UP), "network", ["one_way_up", "reverse_unchanged", "round_trip_changed"]),
        (IncidentFacts(Suspect.ZONE_PAIR, 5, BOTH_UP), "network", ["one_way_up", "reverse_up", "round_trip_changed"]),
        (IncidentFacts(Suspect.CLOCK, 5, CLOCK), "clock", ["one_way_up", "reverse_down", "round_trip_unchanged"]),
        # The sign of both directions decides, whatever is suspected.
        (IncidentFacts(Suspect.EGRESS, 5, CLOCK), "clock", ["one_way_up", "reverse_down", "round_trip_unchanged"]),
        (IncidentFacts(Suspect.CLOCK, 5, PART_CLOCK), "network", ["one_way_up", "reverse_down", "round_trip_changed"]),
        # A clock loses no packets.
        (IncidentFacts(Suspect.CLOCK, 5, CLOCK, loss=0.2), "network", ["loss", "one_way_up", "reverse_down"]),
        (IncidentFacts(Suspect.CLOCK, 5, USUAL, clock_error=True), "clock", ["clock_error", "round_trip_unchanged"]),
        (IncidentFacts(Suspect.CLOCK, 5, clock_error=True), "clock", ["clock_error"]),
        (IncidentFacts(Suspect.PATH, 1, USUAL, loss=0.2), "network", ["loss", "round_trip_unchanged"]),
        (IncidentFacts(Suspect.PATH, 1, None, loss=1.0), "network", ["loss"]),
        (IncidentFacts(Suspect.MESH, 20, USUAL, spikes=True), "network", ["spikes", "round_trip_unchanged"]),
        (IncidentFacts(Suspect.AGENT, 0), "agent", ["silent"]),
        (IncidentFacts(Suspect.AGENT, 5, None, loss=1.0), "agent", ["silent"]),
        (IncidentFacts(Suspect.MESH, 0, silent=True), "agent", ["silent"]),
        (IncidentFacts(Suspect.ZONE, 9, None, loss=1.0, silent=True), "agent", ["silent"]),
        (IncidentFacts(Suspect.APPLICATION, 0), "application", ["objective_missed"]),
        (IncidentFacts(Suspect.PATH, 1), "undecided", ["no_usual"]),
        (IncidentFacts(Suspect.PATH, 1, USUAL), "undecided", ["delays_usual", "round_trip_unchanged"]),
    ],
)
def test_a_verdict_follows_from_both_directions_and_the_round_trip(facts: IncidentFacts, kind: str, reasons: list[str]):
    verdict = verdict_of(facts)
    codes = [reason.code.value for reason in verdict.reasons]
    assert (verdict.kind.value, codes[: len(reasons)]) == (kind, reasons)
    assert codes[-1] == "no_applications"


def test_another_incident_explains_a_missed_objective():
    others = [OtherIncident(uuid4(), "slow zone", "cache", 0.1), OtherIncident(uuid4(), "slow pair", "cache", 0.4)]
    for shift in (None, USUAL):
        verdict = verdict_of(IncidentFacts(Suspect.APPLICATION, 5, shift, others=others))
        assert (verdict.kind, verdict.reasons[0].code) == ("network", "other_incident")
        assert [other.title for other in verdict.others] == ["slow pair", "slow zone"]  # the costliest first
    clock = verdict_of(IncidentFacts(Suspect.APPLICATION, 5, CLOCK, others=others))
    assert (clock.kind, clock.others) == ("clock", ())


@pytest.mark.parametrize(
    ("costs", "code", "names"),
    [
        ({"checkout": 0.18, "cache": 0.03, "batch": 0.0}, "applications_lose", ("checkout", "cache")),
        ({"checkout": 0.0, "cache": 0.0001}, "applications_unaffected", ("checkout", "cache")),
        ({"checkout": 0.0, "cache": None}, "applications_unknown", ("checkout", "cache")),
        ({}, "no_applications", ()),
    ],
)
def test_the_last_reason_is_what_curves_predict(costs: dict[str, float | None], code: str, names: tuple[str]):
    applications = [AffectedApplication(name, cost) for name, cost in costs.items()]
    reason = verdict_of(IncidentFacts(Suspect.EGRESS, 5, UP, applications=applications)).reasons[-1]
    assert (reason.code.value, reason.applications) == (code, names)


def test_reasons_have_their_figures():
    first, *_, round_trip, _ = verdict_of(IncidentFacts(Suspect.EGRESS, 5, UP)).reasons
    assert (first.paths, first.compared, first.change_ns) == (5, 5, 300_000)
    assert round_trip.change_ns == 300_000
