"""Figure of the transport advisor: a fixture for each rule, and for their precedence."""

from dataclasses import replace

from lab.benchmarks.figures import report
from sinemora.advisors.transport.core.evidence import Ecn, Evidence, Pattern
from sinemora.advisors.transport.core.rules import RULES, Part, advise, job_saving

_FAST = Evidence(min_round_trip_us=60.0, round_trip_us=80.0, loss=0.0)

# Evidence -> the rules that win, by part.
FIXTURES: tuple[tuple[str, Evidence, dict[Part, str]], ...] = (
    ("R1", Evidence(same_host=True, ecn=Ecn.MARKED, routes=4), {Part.TRANSPORT: "R1"}),
    ("R2", Evidence(ecn=Ecn.MARKED), {Part.TRANSPORT: "R2"}),
    ("R2 before R3 and R4", Evidence(ecn=Ecn.MARKED, routes=2, interfaces=2), {Part.TRANSPORT: "R2"}),
    ("R3", Evidence(routes=3), {Part.TRANSPORT: "R3"}),
    ("R3 when ECN is bleached", Evidence(ecn=Ecn.BLEACHED, routes=3), {Part.TRANSPORT: "R3"}),
    ("R4", Evidence(interfaces=2, routes=1), {Part.TRANSPORT: "R4"}),
    ("R5", Evidence(encrypt=True), {Part.ENCRYPTION: "R5", Part.TRANSPORT: "R15"}),
    ("R5 with R3", Evidence(encrypt=True, routes=2), {Part.ENCRYPTION: "R5", Part.TRANSPORT: "R3"}),
    ("R6", Evidence(deadlines=True, programmable_network=True, ecn=Ecn.MARKED), {Part.TRANSPORT: "R6"}),
    ("no R6 in a network that cannot be programmed", Evidence(deadlines=True), {Part.TRANSPORT: "R15"}),
    ("R7", Evidence(prioritised_streams=True), {Part.TRANSPORT: "R7"}),
    (
        "R8",
        Evidence(pattern=Pattern.MANY_TO_MANY, volume_ratio=4.0),
        {Part.SCHEDULE: "R8", Part.TRANSPORT: "R15"},
    ),
    ("no R8 for equal volumes", Evidence(pattern=Pattern.MANY_TO_MANY, volume_ratio=1.0), {Part.TRANSPORT: "R15"}),
    ("R9", Evidence(pattern=Pattern.ONE_TO_MANY), {Part.SCHEDULE: "R9", Part.TRANSPORT: "R15"}),
    (
        "R10",
        replace(_FAST, pattern=Pattern.MANY_TO_ONE, fan_in=40),
        {Part.SCHEDULE: "R10", Part.TRANSPORT: "R15"},
    ),
    (
        "R10 before R8",
        replace(_FAST, pattern=Pattern.MANY_TO_MANY, fan_in=40, volume_ratio=3.0, ecn=Ecn.MARKED),
        {Part.SCHEDULE: "R10", Part.TRANSPORT: "R2"},
    ),
    (
        "no R10 over a long round trip",
        Evidence(pattern=Pattern.MANY_TO_ONE, fan_in=40, round_trip_us=20_000.0),
        {Part.TRANSPORT: "R15"},
    ),
    ("R11", Evidence(prefers_low_latency=True, ecn=Ecn.MARKED), {Part.TRANSPORT: "R11"}),
    ("R12", Evidence(is_split=True, ecn=Ecn.MARKED), {Part.TRANSPORT: "R12"}),
    ("R12 by reordering", Evidence(reordering=0.02), {Part.TRANSPORT: "R12"}),
    (
        "R13",
        Evidence(min_round_trip_us=50.0, round_trip_us=400.0, loss=0.0),
        {Part.HOST: "R13", Part.TRANSPORT: "R15"},
    ),
    (
        "no R13 where a queue drops",
        Evidence(min_round_trip_us=50.0, round_trip_us=400.0, loss=0.02),
        {Part.TRANSPORT: "R15"},
    ),
    ("R14 vetoes R2", Evidence(short_flows_fair=True, ecn=Ecn.MARKED), {Part.TRANSPORT: "R14"}),
    ("R15", _FAST, {Part.TRANSPORT: "R15"}),
    ("nothing is known", Evidence(), {Part.TRANSPORT: "R15"}),
)
# Share of transfers in a job and rule -> share by which the job gets shorter, as the source has it.
SAVINGS = {("R2", 0.5): 0.10, ("R2", 0.6): 0.12, ("R4", 0.5): 0.045}


def wrong() -> list[str]:
    """Return the names of fixtures with other winners, of rules without a fixture, and of other savings."""
    names = [
        name
        for name, seen, expected in FIXTURES
        if {fired.rule.part: fired.rule.id for fired in advise(seen) if fired.overridden_by is None} != expected
    ]
    covered = {rule for _, _, expected in FIXTURES for rule in expected.values()}
    names += [f"{rule.id} has no fixture" for rule in RULES if rule.id not in covered]
    by_id = {rule.id: rule for rule in RULES}
    names += [
        f"{rule} at {share}"
        for (rule, share), expected in SAVINGS.items()
        if abs(job_saving(share, by_id[rule].effect.saved or 0) - expected) > 1e-12
    ]
    return names


def main(_seed: int) -> None:
    """Print the figure."""
    names = wrong()
    report("transport_rule_fixtures_wrong", len(names), fixtures=len(FIXTURES), wrong=names)
