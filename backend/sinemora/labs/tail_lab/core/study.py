"""A study: policies compared at one link under one workload, the α of each found by search.

α is found on flows of one seed. The policies are then compared on other flows of the same workload, so that no figure
is fitted to the flows that it is shown on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sinemora.labs.tail_lab.core import link as links
from sinemora.labs.tail_lab.core import source
from sinemora.labs.tail_lab.core.classes import ClassSpread, boundaries_of
from sinemora.labs.tail_lab.core.link import Chosen, Flows, Link, draw_flows
from sinemora.labs.tail_lab.core.policies import NAMES, NATURAL, TUNABLE, USUAL, PacketPolicy
from sinemora.labs.tail_lab.core.search import AlphaEvaluation, Goal, best_of, search
from sinemora.labs.tail_lab.core.summary import Figures, Summary, TailFigure, figures_of, gain_percent, summary_of
from sinemora.labs.tail_lab.core.workloads import Workload

PACKETS_MAX = 100_000_000
"""Packets of one simulation: some tens of seconds."""
STUDY_PACKETS_MAX = 10_000_000_000
"""Packets of all simulations of a study: about a quarter of an hour."""
_PACKETS_USUAL, _FLOWS_MIN, _FLOWS_MAX = 10_000_000, 20_000, 200_000
_COMPARED_SEED = 1_000_003
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class StudyRequest:
    """Parameters of a study. Without `alpha`, search it; without `against`, compare each policy with its limit."""

    workload: Workload
    load: float = 0.8
    link: Link = field(default_factory=Link)
    flows: int | None = None
    seed: int = 1
    policies: tuple[PacketPolicy, ...] = USUAL
    objective: TailFigure = TailFigure.TAIL_MEAN
    against: PacketPolicy | None = None
    mean_loss_max: float | None = 3.0
    alpha: float | None = None
    evaluations: int = 25
    classes: int | None = None
    spread: ClassSpread = ClassSpread.BYTES

    @property
    def flow_count(self) -> int:
        """Number of flows: as asked, or enough for a steady tail within seconds."""
        if self.flows is not None:
            return self.flows
        usual = _PACKETS_USUAL / self.workload.packets_per_flow(self.link.packet_bytes)
        return int(np.clip(usual, _FLOWS_MIN, _FLOWS_MAX))

    @property
    def packets(self) -> float:
        """Expected packets of one simulation."""
        return self.flow_count * self.workload.packets_per_flow(self.link.packet_bytes)

    @property
    def transmissions(self) -> float:
        """Expected transmissions of packets in all simulations."""
        return self.packets * self.simulations

    @property
    def tunable(self) -> list[PacketPolicy]:
        """The policies with α."""
        return [policy for policy in self.policies if policy in TUNABLE]

    @property
    def classed(self) -> list[PacketPolicy]:
        """The policies that are also simulated with classes of priority."""
        if not self.classes:
            return []
        return [policy for policy in self.tunable if policy is not PacketPolicy.PBS]

    @property
    def searched_against(self) -> set[PacketPolicy]:
        """The baselines of searches; empty where α is given."""
        return {self.baseline_of(policy) for policy in self.tunable} if self.alpha is None else set()

    @property
    def simulations(self) -> int:
        searches = len(self.searched_against) + len(self.tunable) * self.evaluations if self.alpha is None else 0
        return searches + len(self.baselines) + len(self.tunable) + 2 * len(self.classed)

    def too_long(self) -> str | None:
        """Return why the request would take too long, None if it does not."""
        if self.packets > PACKETS_MAX:
            return (
                f"each simulation would send {self.packets:,.0f} packets, at most {PACKETS_MAX:,} are possible:"
                " ask for fewer flows or larger packets"
            )
        if self.transmissions > STUDY_PACKETS_MAX:
            return (
                f"{self.simulations} simulations would send {self.transmissions:,.0f} packets, at most"
                f" {STUDY_PACKETS_MAX:,} are possible: ask for fewer flows, evaluations or policies"
            )
        return None

    def baseline_of(self, policy: PacketPolicy) -> PacketPolicy:
        """Return the policy that a tunable one is compared with."""
        return self.against or NATURAL[policy]

    @property
    def baselines(self) -> list[PacketPolicy]:
        """All policies without α that are simulated: those asked for, and those compared with."""
        needed = {self.baseline_of(policy) for policy in self.tunable}
        return [
            policy for policy in PacketPolicy if policy not in TUNABLE and (policy in self.policies or policy in needed)
        ]


@dataclass(frozen=True)
class Searched:
    """Evaluations of α in the order made, and the best."""

    policy: PacketPolicy
    against: PacketPolicy
    evaluations: list[AlphaEvaluation]
    best: AlphaEvaluation


@dataclass(frozen=True)
class PolicyOutcome:
    """Figures of one policy; `alpha` is None without one. `class_shares`: of bytes, lowest class first."""

    policy: PacketPolicy
    alpha: float | None
    classes: int | None
    summary: Summary
    boundaries: list[float]
    class_shares: list[float]


@dataclass(frozen=True)
class SourceComparison:
    """A gain that the source prints, and the gain found here, percent."""

    printed: source.Printed
    here: float
    alpha: float
    verdict: source.SourceVerdict


@dataclass(frozen=True)
class Study:
    """Outcomes of all policies on the same flows, searches, and figures next to those of the source."""

    request: StudyRequest
    flows: int
    packets: int
    mean_bytes: float
    load: float
    outcomes: list[PolicyOutcome]
    searches: list[Searched]
    beside_source: list[SourceComparison]

    def outcome(self, policy: PacketPolicy, classes: int | None = None) -> PolicyOutcome | None:
        """Return the outcome of a policy, None if it was not simulated; without `classes` its first."""
        found = (each for each in self.outcomes if each.policy is policy and classes in (None, each.classes))
        return next(found, None)


class _Steps:
    """Progress over all simulations of a study."""

    def __init__(self, total: int, report: Report) -> None:
        self._total = total
        self._report = report
        self._done = 0

    def next(self, note: str) -> links.Progress:
        start = self._done
        self._done += 1
        self._report(min(start / self._total, 1.0), note)
        return lambda share: self._report(min((start + share) / self._total, 1.0), note)


def run(request: StudyRequest, report: Report = lambda share, note: None) -> Study:
    """Run a study. `report` gets the share that is done and the current step; what it raises ends the study."""
    steps = _Steps(request.simulations, report)
    searches = _searches(request, _draw(request, request.seed), steps) if request.searched_against else []
    alphas = {found.policy: found.best.alpha for found in searches}
    flows = _draw(request, request.seed + _COMPARED_SEED)
    outcomes, packets = [], 0
    for policy in (*request.baselines, *request.tunable):
        alpha = None if policy not in TUNABLE else alphas.get(policy, request.alpha or 0.0)
        chosen = Chosen(policy, alpha or 0.0)
        simulated = links.simulate(flows, chosen, steps.next(NAMES[policy]))
        packets = simulated.packets
        outcomes.append(PolicyOutcome(policy, alpha, None, summary_of(flows, simulated), [], []))
        if request.classes and policy in request.classed:
            outcomes.append(_in_classes(request, request.classes, flows, chosen, steps))
    study = Study(request, len(flows.sizes), packets, float(flows.sizes.mean()), flows.load, outcomes, searches, [])
    study.beside_source.extend(_source_comparison(study))
    return study


def _draw(request: StudyRequest, seed: int) -> Flows:
    return draw_flows(request.workload, request.link, request.load, request.flow_count, seed)


def _searches(request: StudyRequest, flows: Flows, steps: _Steps) -> list[Searched]:
    baselines = {
        policy: figures_of(flows, links.simulate(flows, Chosen(policy), steps.next(f"baseline {NAMES[policy]}")))
        for policy in sorted(request.searched_against)
    }
    return [_search(request, policy, baselines, flows, steps) for policy in request.tunable]


def _search(
    request: StudyRequest,
    policy: PacketPolicy,
    baselines: dict[PacketPolicy, Figures],
    flows: Flows,
    steps: _Steps,
) -> Searched:
    against = request.baseline_of(policy)

    def evaluate(alpha: float, number: int) -> Figures:
        note = f"{NAMES[policy]}: evaluation {number + 1} of {request.evaluations}"
        return figures_of(flows, links.simulate(flows, Chosen(policy, alpha), steps.next(note)))

    goal = Goal(request.objective, baselines[against], request.mean_loss_max)
    evaluations = list(search(goal, evaluate, request.evaluations, request.seed))
    return Searched(policy, against, evaluations, best_of(evaluations))


def _in_classes(request: StudyRequest, classes: int, flows: Flows, chosen: Chosen, steps: _Steps) -> PolicyOutcome:
    name = f"{NAMES[chosen.policy]}, {classes} classes"
    boundaries = boundaries_of(flows, chosen, classes, request.spread, steps.next(f"{name}: boundaries"))
    simulated = links.simulate(flows, Chosen(chosen.policy, chosen.alpha, boundaries), steps.next(name))
    summary = summary_of(flows, simulated)
    return PolicyOutcome(chosen.policy, chosen.alpha, classes, summary, boundaries, simulated.class_shares)


def _source_comparison(study: Study) -> list[SourceComparison]:
    rows = []
    for printed in source.PRINTED.get(study.request.workload.key, []):
        outcome, baseline = study.outcome(printed.policy), study.outcome(printed.against)
        if outcome is not None and baseline is not None and outcome.alpha is not None:
            of = printed.figure
            here = gain_percent(baseline.summary.figures.of(of), outcome.summary.figures.of(of))
            rows.append(SourceComparison(printed, here, outcome.alpha, printed.verdict(here)))
    return rows
