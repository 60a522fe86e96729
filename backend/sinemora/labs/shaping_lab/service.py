"""Use cases of studies of the shaping lab."""

from sinemora.labs.shaping_lab import schemas
from sinemora.labs.shaping_lab.core.profiles import BASELINE, PROFILES, Profile, ProfileName, Scale, described
from sinemora.labs.shaping_lab.core.source import SORT_MB_PER_S, source_row
from sinemora.labs.shaping_lab.core.workloads import Operation, WorkloadName, workload_named


def compare(body: schemas.ShapingStudyCreate) -> schemas.ShapingStudyRead:
    """Return the figures of a study next to those of the source, by operation and profile."""
    rows = {(row.workload, row.operation, row.profile): row for row in body.rows}
    scale = Scale(body.link_mbit)
    operations = dict.fromkeys((row.workload, row.operation) for row in body.rows)
    return schemas.ShapingStudyRead.from_row(
        body,
        operations=[
            schemas.StudyOperationRead(
                workload=workload,
                title=workload_named(workload).title,
                operation=operation,
                profiles=[
                    _profile(profile, scale, workload, operation, rows.get((workload, operation, profile.name)),
                             rows.get((workload, operation, BASELINE)))
                    for profile in PROFILES
                ],
            )
            for workload, operation in operations
        ],
    )  # fmt: skip


def _profile(
    profile: Profile,
    scale: Scale,
    workload: WorkloadName,
    operation: Operation,
    row: schemas.StudyRow | None,
    base: schemas.StudyRow | None,
) -> schemas.StudyProfileRead:
    return schemas.StudyProfileRead(
        profile=profile.name,
        measures=described(profile, scale),
        measured=None if row is None else _measured(row, base),
        source=_reference(workload, operation, profile.name),
    )


def _measured(row: schemas.StudyRow, base: schemas.StudyRow | None) -> schemas.MeasuredRead:
    return schemas.MeasuredRead.from_row(
        row,
        ratio=_ratio(row.p99_us, None if base is None else base.p99_us),
        tail_found=row.tail.found,
        tail_evidence=row.tail.evidence,
    )


def _reference(workload: WorkloadName, operation: Operation, profile: ProfileName) -> schemas.ReferenceRead | None:
    if operation is Operation.FETCH:
        sort = SORT_MB_PER_S[profile]
        return schemas.ReferenceRead(mb_per_s=sort, p95_us=None, p99_us=None, p999_us=None, ratio=None)
    row, base = (source_row(workload, operation.value, each) for each in (profile, BASELINE))
    if row is None:
        return None
    ratio = _ratio(row.p99_us, None if base is None else base.p99_us)
    return schemas.ReferenceRead(mb_per_s=None, p95_us=row.p95_us, p99_us=row.p99_us, p999_us=row.p999_us, ratio=ratio)


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None
