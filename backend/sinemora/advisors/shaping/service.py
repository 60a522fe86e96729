"""Use cases of shaping."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.shaping import schemas
from sinemora.advisors.shaping.core import tail, treatment
from sinemora.advisors.shaping.core.bucket import Bucket, BucketFinding, Train, Unit, combined, detect, metered_by
from sinemora.advisors.shaping.core.checks import ApplicationFacts, checks
from sinemora.advisors.shaping.core.envelope import Limit
from sinemora.advisors.shaping.core.forecast import forecast, transfer_s
from sinemora.applications.learning import queries as learning
from sinemora.applications.learning.models import MetricSource
from sinemora.fleet.meshes.service import mesh_state

_MBIT = 1e6 / 8
_UNITS_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}


def shaping(body: schemas.ShapingCreate) -> schemas.ShapingRead:
    """Return the bucket of some trains, or a known one, with forecast and checks."""
    if body.rate_mbit is not None and body.burst_kb is not None:
        upper = None
        if body.upper_rate_mbit is not None and body.upper_burst_kb is not None:
            upper = Limit(body.upper_rate_mbit * _MBIT, body.upper_burst_kb * 1e3)
        known = Bucket(body.rate_mbit * _MBIT, body.burst_kb * 1e3, body.mechanism, 0.0, 0.0, upper)
        return _read(body, BucketFinding(known, None, None), [], None)
    largest = max(train.packet_bytes for train in body.trains)
    large = [detect(_train(train)) for train in body.trains if 2 * train.packet_bytes > largest]
    found = combined(large)
    return _read(body, found, large, _unit(body, found.bucket, largest))


def _unit(body: schemas.ShapingCreate, large: Bucket | None, largest: int) -> Unit | None:
    """Return the unit of tokens, from the trains of small packets; None without a bucket in them."""
    small = [train for train in body.trains if 2 * train.packet_bytes <= largest]
    found = combined([detect(_train(train)) for train in small]).bucket
    if large is None or found is None:
        return None
    return metered_by(found, large, float(np.median([train.packet_bytes for train in small])), float(largest))


def treatment_of(body: schemas.TreatmentCreate) -> schemas.TreatmentRead:
    """Return whether a path treats packets apart, by their size and by their DSCP class."""
    # Relative to the first times: nanoseconds since 1970 have more digits than a float.
    first = min((at for at in body.received_ns if at is not None), default=0)
    delay_s = np.array([
        np.nan if received is None else ((received - first) - (sent - body.sent_ns[0])) / 1e9
        for sent, received in zip(body.sent_ns, body.received_ns, strict=True)
    ])  # fmt: skip
    packets = treatment.Mixed(
        np.array(body.packet_bytes, np.float64),
        np.array(body.dscp, np.int64),
        np.array([-1 if value is None else value for value in body.received_dscp], np.int64),
        delay_s,
    )
    # Sizes wait apart, so classes are compared among packets of the most common one.
    sizes, counts = np.unique(packets.size, return_counts=True)
    common = packets.size == sizes[int(np.argmax(counts))]
    alike = treatment.Mixed(packets.size[common], packets.dscp[common], packets.received_dscp[common], delay_s[common])
    return schemas.TreatmentRead(
        by_size=schemas.PacketTreatmentRead.model_validate(treatment.by_size(packets)),
        by_class=schemas.PacketTreatmentRead.model_validate(treatment.by_class(alike)),
    )


def tail_of(body: schemas.TailCreate) -> schemas.TailRead:
    """Return whether a retransmission timeout shows in some latencies."""
    if body.p95_ms is not None and body.p99_ms is not None and body.p999_ms is not None:
        return schemas.TailRead.model_validate(tail.by_percentiles(body.p95_ms, body.p99_ms, body.p999_ms))
    return schemas.TailRead.model_validate(tail.by_samples(body.latency_ms))


def metric_tails(session: Session, mesh_id: UUID, minutes: int) -> list[schemas.MetricTailRead]:
    """Return the tail of each metric source of a mesh that is a duration. ProductError `mesh_unknown`.

    Its minutes count as requests: a source of a high percentile shows the timeout, a mean rarely does.
    """
    mesh_state(session, mesh_id)
    end = datetime.now(UTC)
    start = end - timedelta(minutes=minutes)
    reads = []
    statement = select(MetricSource).where(MetricSource.mesh_id == mesh_id, MetricSource.metric == "duration")
    for source in session.scalars(statement.order_by(MetricSource.name)):
        factor = _UNITS_MS.get(source.unit.strip())
        if factor is None:
            continue
        values = [factor * value for _, value in learning.points(session, source.id, start)]
        found = tail.by_samples(values)
        reads.append(
            schemas.MetricTailRead.from_row(
                found,
                metric_source_id=source.id,
                name=source.name,
                minutes=len(values),
                started_at=start,
                ended_at=end,
                evidence=found.evidence.replace("requests", "minutes"),
            )
        )
    return reads


def _read(
    body: schemas.ShapingCreate, found: BucketFinding, single: list[BucketFinding], unit: Unit | None
) -> schemas.ShapingRead:
    bucket = found.bucket
    application = ApplicationFacts(**body.application.model_dump())
    return schemas.ShapingRead(
        bucket=None
        if bucket is None
        else schemas.BucketRead(
            rate_mbit=bucket.rate / _MBIT,
            burst_kb=bucket.burst / 1e3,
            mechanism=bucket.mechanism,
            peak_mbit=bucket.peak / _MBIT if body.trains else None,
            loss=bucket.loss if body.trains else None,
            upper=None
            if bucket.upper is None
            else schemas.UpperBucketRead(rate_mbit=bucket.upper.rate / _MBIT, burst_kb=bucket.upper.burst / 1e3),
            metered=unit,
            spread=_spread(single),
        ),
        reason=found.reason,
        capacity_mbit=None if found.capacity is None else found.capacity / _MBIT,
        trains_with_bucket=sum(detection.bucket is not None for detection in single),
        forecast=None if bucket is None else _forecast(body, bucket),
        checks=[]
        if bucket is None
        else [schemas.CheckRead.model_validate(check) for check in checks(bucket, application)],
    )


def _spread(single: list[BucketFinding]) -> schemas.SpreadRead | None:
    """Return the spread of the rates and depths of the single trains with a bucket; None without one."""
    buckets = [detection.bucket for detection in single if detection.bucket is not None]
    if not buckets:
        return None
    rates, depths = ([getattr(bucket, name) for bucket in buckets] for name in ("rate", "burst"))
    return schemas.SpreadRead(
        bursts=len(single),
        rate_min_mbit=min(rates) / _MBIT,
        rate_max_mbit=max(rates) / _MBIT,
        burst_min_kb=min(depths) / 1e3,
        burst_max_kb=max(depths) / 1e3,
    )


def _forecast(body: schemas.ShapingCreate, bucket: Bucket) -> schemas.ForecastRead:
    tokens = None if body.tokens_kb is None else 1e3 * body.tokens_kb
    ahead = forecast(bucket.rate, bucket.burst, (body.use_mbit or 0.0) * _MBIT, tokens, bucket.upper)
    line = body.line_mbit * _MBIT
    return schemas.ForecastRead(
        tokens_kb=ahead.tokens / 1e3,
        empty_in_s=ahead.empty_in_s,
        burst_mb=None if ahead.burst_bytes is None else ahead.burst_bytes / 1e6,
        full_in_s=ahead.full_in_s,
        transfer_s=None
        if body.transfer_mb is None
        else transfer_s(bucket.rate, bucket.burst, line, 1e6 * body.transfer_mb, bucket.upper),
        safe_mbit=bucket.rate / _MBIT,
    )


def _train(train: schemas.TrainWrite) -> Train:
    first_sent = train.sent_ns[0]
    first = min((at for at in train.received_ns if at is not None), default=0)
    sent = np.array([(at - first_sent) / 1e9 for at in train.sent_ns])
    received = np.array([np.nan if at is None else (at - first) / 1e9 for at in train.received_ns])
    return Train(sent, received, np.full(sent.size, float(train.packet_bytes)))
