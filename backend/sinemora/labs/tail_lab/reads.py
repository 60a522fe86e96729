"""Conversion of requests and studies between JSON and the core."""

from collections.abc import Sequence
from uuid import UUID

from sinemora.labs.tail_lab import schemas
from sinemora.labs.tail_lab.core.link import Link
from sinemora.labs.tail_lab.core.policies import TUNABLE, PacketPolicy, command_of
from sinemora.labs.tail_lab.core.study import PolicyOutcome, SourceComparison, Study, StudyRequest
from sinemora.labs.tail_lab.core.summary import Figures, TailFigure, gain_percent
from sinemora.labs.tail_lab.core.workloads import WORKLOADS, Workload


def request_of(body: schemas.TailStudyCreate, points: Sequence[tuple[int, float]] | None = None) -> StudyRequest:
    """Return the request of a body; `points` are those of its own flow sizes."""
    workload = (
        WORKLOADS[body.workload.value]
        if points is None
        else Workload("own", "Own flow sizes", tuple((size, share) for size, share in points), stepped=True)
    )
    return StudyRequest(
        workload,
        body.load,
        Link(body.link_mbit, body.packet_bytes),
        body.flows,
        body.seed,
        tuple(body.chosen_policies),
        body.objective,
        None if body.against is None else PacketPolicy(body.against.value),
        body.mean_loss_max,
        body.alpha,
        body.evaluations,
        body.classes,
        body.spread,
    )


def study_read(study_id: UUID, body: schemas.TailStudyCreate, study: Study) -> schemas.TailStudyRead:
    return schemas.TailStudyRead.from_row(
        body,
        id=study_id,
        workload_name=study.request.workload.name,
        flows=study.flows,
        packets=study.packets,
        mean_bytes=study.mean_bytes,
        offered_load=study.load,
        outcomes=[_outcome(outcome, study) for outcome in study.outcomes],
        searches=[schemas.TailSearchRead.model_validate(search) for search in study.searches],
        beside_source=[_source_comparison(row) for row in study.beside_source],
    )


def _outcome(outcome: PolicyOutcome, study: Study) -> schemas.TailOutcomeRead:
    summary = outcome.summary
    return schemas.TailOutcomeRead.from_row(
        outcome,
        figures=schemas.TailFiguresRead.model_validate(summary.figures),
        gains=[
            schemas.TailGainRead(against=baseline.policy, gains=_gains(baseline.summary.figures, summary.figures))
            for baseline in study.outcomes
            if baseline.policy not in TUNABLE and baseline.policy is not outcome.policy
        ],
        tail_means_s=summary.tail_means_s,
        buckets=[schemas.TailBucketRead.model_validate(bucket) for bucket in summary.buckets],
        slowdown=summary.slowdown,
        egress_guard=command_of(outcome.policy, outcome.alpha, outcome.boundaries, study.request.link.mbit),
    )


def _gains(baseline: Figures, figures: Figures) -> schemas.TailFiguresRead:
    gains = {of.value: gain_percent(baseline.of(of), figures.of(of)) for of in TailFigure}
    return schemas.TailFiguresRead.model_validate(gains)


def _source_comparison(row: SourceComparison) -> schemas.TailBesideSourceRead:
    printed = row.printed
    return schemas.TailBesideSourceRead.from_row(
        printed,
        source_percent=printed.percent,
        source_alpha=printed.alpha,
        here_percent=row.here,
        here_alpha=row.alpha,
        verdict=row.verdict,
    )
