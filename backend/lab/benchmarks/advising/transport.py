"""Figure of the transport advisor: a fixture for each rule, and for their precedence."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from lab.benchmarks.figures import report
from sinemora.advisors.transport.core.evidence import Evidence
from sinemora.advisors.transport.core.rules import RULES, Part, advise, job_saving


@dataclass(frozen=True)
class Fixture:
    """Evidence, and the rules that win by part."""

    evidence: Evidence
    winners: dict[Part, str]


FIXTURES = TypeAdapter(dict[str, Fixture]).validate_python(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
)
# Share of transfers in a job and rule -> share by which the job gets shorter, as the source has it.
SAVINGS = {("R2", 0.5): 0.10, ("R2", 0.6): 0.12, ("R4", 0.5): 0.045}


def wrong() -> list[str]:
    """Return the names of fixtures with other winners, of rules without a fixture, and of other savings."""
    names = [
        name
        for name, fixture in FIXTURES.items()
        if {fired.rule.part: fired.rule.id for fired in advise(fixture.evidence) if fired.overridden_by is None}
        != fixture.winners
    ]
    covered = {rule for fixture in FIXTURES.values() for rule in fixture.winners.values()}
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
