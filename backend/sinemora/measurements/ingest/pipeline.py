"""Pipeline of reports inside the API: decoding, admission, group commit, announcement of new windows."""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import structlog
from fastapi import FastAPI
from sqlalchemy import exc
from starlette.concurrency import run_in_threadpool

from sinemora.fleet.inventory.agents import AgentIdentity, note_reports
from sinemora.kit.config import settings
from sinemora.kit.db import answer_limit, system_session
from sinemora.kit.errors import ProductError, internal_error
from sinemora.kit.observability import tracing
from sinemora.measurements import metrics
from sinemora.measurements.ingest import admission, presence, storing_check, validation
from sinemora.measurements.ingest.admission import AdmittedReport
from sinemora.measurements.ingest.batching import BatchLimits, BatchQueue
from sinemora.measurements.ingest.dispatch import ANSWERED_S
from sinemora.measurements.ingest.group_commit import BatchWriter
from sinemora.measurements.ingest.key_cache import KeyCache
from sinemora.measurements.ingest.payload import JSON
from sinemora.measurements.ingest.rate_quota import RateQuotas, ReportRates
from sinemora.measurements.ingest.report import Report
from sinemora.measurements.live.hub import LiveHub
from sinemora.measurements.live.publisher import Publisher
from sinemora.measurements.store import (
    connections,
    corrections,
    host_waits,
    inserts,
    partitions,
    traffic,
    traffic_edges,
)

log = structlog.get_logger(__name__)

# Reports are decoded together on a thread: the native module reads a batch while the event loop continues. A batch is
# small, so that none of its reports waits long for the others.
_BATCH = BatchLimits(reports=64, size_bytes=2 << 20)
# Larger bodies and JSON take long: separate threads decode them.
_LARGE_BODY = 512 << 10
_THREADS = 2

# How long a thread may keep the interpreter while others wait for it, s. A question takes it some thirty times, each
# after a wait for the database or for the native module; at Python's own 0.005 it took a third longer under load.
_SWITCH_S = 0.001

# New objects before the collector looks for cycles among them, and collections of a generation before one of the next.
# Hundreds of requests wait for a commit, each with a hundred objects. With Python's own 700 the collector passes over
# them again and again. A collection stops all requests, for up to a tenth of a second, so this limit is high, and the
# API collects while it stores no report.
_GC_THRESHOLDS = (200_000, 10, 10)
_GC_CHECK_S = 0.5
"""Time between two checks whether a report is being stored, s."""
_GC_IDLE_OBJECTS = 20_000
"""New objects that are worth a collection while no report is being stored."""
_GC_FULL_EVERY = 200
"""Every how many of these collections one looks at old objects, too."""


class IngestPipeline:
    """The pipeline of this process."""

    def __init__(self) -> None:
        self.keys = KeyCache()
        self.publisher = Publisher()
        self._rosters = inserts.RosterKeys()
        self._quotas = RateQuotas()
        self._report_rates = ReportRates()
        self._stored = metrics.REPORTS.labels("stored")
        self.reports_in_progress = 0
        self._large = ThreadPoolExecutor(_THREADS, "large-reports")
        capacity = settings().ingest_queue_reports
        self._writer = BatchWriter(self._store, capacity, settings().ingest_batch_ms, _tenant_of)
        # A report passes from its queue to the writer's without a turn of the event loop.
        self._decoder: BatchQueue[Report, AdmittedReport | None] = BatchQueue(
            "ingest-decoder", _decode_safely, capacity, _BATCH, metrics.DECODE_QUEUE, self._commit_later, _tenant_of
        )

    async def take(self, agent: AgentIdentity, content: bytes, media_type: str, encoding: str) -> int:
        """Store a report. Return the number of skipped windows after the commit. ProductError for a refused report."""
        self.reports_in_progress += 1
        try:
            stored = await self._take(agent, content, media_type, encoding)
        except ProductError as error:
            metrics.REPORTS.labels(error.code).inc()
            raise
        finally:
            self.reports_in_progress -= 1
        self._stored.inc()
        return stored.skipped

    async def _take(self, agent: AgentIdentity, content: bytes, media_type: str, encoding: str) -> AdmittedReport:
        arrived_s = time.monotonic()
        self._report_rates.take(agent.agent_id, arrived_s)
        keys = self.keys.kept(agent.tenant_id) or await self.keys.of(agent.tenant_id, set(), [], arrived_s)
        report = Report(agent, content, media_type, encoding, time.time(), keys)
        if len(content) <= _LARGE_BODY and media_type != JSON:
            stored = await self._decoder.put(report, len(content))
        else:
            (outcome,) = await asyncio.get_running_loop().run_in_executor(self._large, _decode_safely, [report])
            stored = await self._committed(outcome)
        if stored is None:
            meshes, targets = {window.mesh_key for window in report.windows}, [one.targets for one in report.windows]
            report.keys = await self.keys.of(agent.tenant_id, meshes, targets, arrived_s)
            (outcome,) = _admit([report], keys_decide=True)
            stored = await self._committed(outcome)
            assert stored is not None, "the keys decide"
        return stored

    async def _committed(self, outcome: AdmittedReport | ProductError | None) -> AdmittedReport | None:
        if outcome is None:
            return None
        if isinstance(outcome, ProductError):
            raise outcome
        done: asyncio.Future[AdmittedReport | None] = asyncio.get_running_loop().create_future()
        self._commit_later(outcome, done)
        return await done

    def _commit_later(self, admitted: AdmittedReport, done: "asyncio.Future[AdmittedReport | None]") -> None:
        """Count a report against the quota of its tenant and queue it for the writer, from any thread."""
        keys = admitted.keys
        self._quotas.take(admitted.agent.tenant_id, admitted.paths, keys.windows_per_s, time.monotonic(), keys.plan)
        self._writer.add(admitted, admitted.size_bytes, done)

    def _store(self, reports: Sequence[AdmittedReport]) -> None:
        """Store all reports in one transaction, on the writer's thread."""
        with tracing.span("store reports", reports=len(reports)), answer_limit(ANSWERED_S):
            try:
                self._commit_with_partitions(reports)
            except exc.DBAPIError as error:
                storing_check.note_outcome(error)
                raise
            storing_check.note_outcome(None)

    def _commit_with_partitions(self, reports: Sequence[AdmittedReport]) -> None:
        try:
            self._commit(reports)
        except exc.IntegrityError as error:
            if "no partition of relation" not in str(error.orig):
                raise
            log.warning("partitions missing: the sweep that creates them is late")
            with system_session() as session:
                partitions.make_ahead(session, datetime.now(UTC), settings().retention_raw_days)
            self._commit(reports)

    def _commit(self, reports: Sequence[AdmittedReport]) -> None:
        frames = [row for report in reports for row in report.frames]
        spikes = [row for report in reports for row in report.spikes]
        clocks = [row for report in reports for row in report.clocks]
        with system_session() as session:
            stored, learnt = inserts.store_frames(session, frames, self._rosters)
            inserts.store_spikes(session, spikes)
            corrections.store_clocks(session, clocks)
            traffic.store(session, [row for report in reports for row in report.traffic])
            host_waits.store(session, [row for report in reports for row in report.host])
            connections.store(session, [row for report in reports for row in report.connections])
            traffic_edges.store(session, [window for report in reports for window in report.services])
            note_reports(session, [report.note for report in reports])
        self._rosters.learn(learnt)
        metrics.FRAMES.labels("stored").inc(stored)
        metrics.FRAMES.labels("already_there").inc(len(frames) - stored)
        metrics.SPIKES.inc(len(spikes))
        self.publisher.publish(seen for report in reports for seen in report.seen)

    def close(self) -> None:
        """Store the queue, then stop."""
        self._large.shutdown()
        self._decoder.close()
        self._writer.close()
        self.publisher.close()


def _tenant_of(report: Report | AdmittedReport) -> UUID:
    return report.agent.tenant_id


def _decode_safely(reports: Sequence[Report]) -> list[AdmittedReport | ProductError | None]:
    """Decode a batch. When that raises, decode its reports one at a time, so that a bad report fails alone."""
    try:
        return _decode(reports)
    except Exception:
        if len(reports) == 1:
            log.exception("report not readable")
            return [internal_error()]
        return [outcome for report in reports for outcome in _decode_safely([report])]


def _decode(reports: Sequence[Report]) -> list[AdmittedReport | ProductError | None]:
    """Read and check reports, and convert to rows those whose meshes and VMs are known."""
    refusals = validation.read(reports, settings().report_limit_bytes)
    admitted = iter(_admit([report for report, refusal in zip(reports, refusals, strict=True) if refusal is None]))
    return [next(admitted) if refusal is None else refusal for refusal in refusals]


def _admit(reports: Sequence[Report], *, keys_decide: bool = False) -> list[AdmittedReport | ProductError | None]:
    return admission.admit(reports, settings().retention_raw_days, keys_decide=keys_decide)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run `app.state.ingest` and `app.state.live` for the lifetime of the API."""
    # Imported objects live to the end. Without this the collector scans them again and again under load.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    sys.setswitchinterval(_SWITCH_S)
    app.state.ingest = IngestPipeline()
    app.state.live = LiveHub()
    ahead = asyncio.create_task(run_in_threadpool(_partitions_ahead))
    noting = asyncio.create_task(presence.keep_noting())
    collecting = asyncio.create_task(_collect_when_idle(app.state.ingest))
    try:
        yield
    finally:
        ahead.cancel()
        noting.cancel()
        collecting.cancel()
        await app.state.live.close()
        await run_in_threadpool(app.state.ingest.close)


async def _collect_when_idle(ingest: IngestPipeline) -> None:
    collections = 0
    while True:
        await asyncio.sleep(_GC_CHECK_S)
        if not ingest.reports_in_progress and gc.get_count()[0] > _GC_IDLE_OBJECTS:
            collections += 1
            gc.collect(1 if collections % _GC_FULL_EVERY else 2)


def _partitions_ahead() -> None:
    try:
        with system_session() as session:
            partitions.make_ahead(session, datetime.now(UTC), settings().retention_raw_days)
    except exc.SQLAlchemyError as error:
        # Not migrated or not up yet: the sweep tries again, and so does the first report that needs one.
        log.warning("partitions not made at start", error=str(error).strip())
