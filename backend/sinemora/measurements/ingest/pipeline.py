"""Pipeline of reports inside the API: decoding, admission, group commit, announcement of new windows."""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from fastapi import FastAPI
from sqlalchemy import exc
from starlette.concurrency import run_in_threadpool

from sinemora.fleet.inventory.agents import AgentIdentity, ReportNote, note_reports
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError, internal_error
from sinemora.kit.observability import tracing
from sinemora.measurements import metrics
from sinemora.measurements.ingest import admission, presence, validation
from sinemora.measurements.ingest.admission import Admitted, Submission
from sinemora.measurements.ingest.batching import BatchQueue, Limits
from sinemora.measurements.ingest.group_commit import BatchWriter
from sinemora.measurements.ingest.key_cache import KeyCache, TenantKeys
from sinemora.measurements.ingest.payload import JSON
from sinemora.measurements.ingest.rate_quota import RateQuotas, ReportRates
from sinemora.measurements.ingest.validation import Body, Connections, Traffic, Window
from sinemora.measurements.live.hub import LiveHub
from sinemora.measurements.live.publisher import Publisher
from sinemora.measurements.store import connections, corrections, inserts, partitions, traffic

log = structlog.get_logger(__name__)

# Reports are decoded together on a thread: the native module reads a batch while the event loop continues. A batch is
# small, so that none of its reports waits long for the others.
_BATCH = Limits(reports=64, size_bytes=2 << 20)
# Larger bodies and JSON take long: separate threads decode them.
_LARGE_BODY = 512 << 10
_THREADS = 2

# How long a thread may keep the interpreter while others wait for it, s. A question takes it some thirty times, each
# after a wait for the database or for the native module; at Python's own 0.005 it took a third longer under load.
_SWITCH_S = 0.001

# New objects before the collector looks for cycles among them, and collections of a generation before one of the next.
# Hundreds of requests wait for a commit, each with a hundred objects. With Python's own 700 the collector passes over
# them again and again.
_GC_THRESHOLDS = (50_000, 10, 10)


@dataclass(frozen=True, slots=True)
class Received:
    """A report as it arrived, who sent it and when, and the keys of the sender's tenant."""

    agent: AgentIdentity
    body: Body
    at_s: float
    keys: TenantKeys


@dataclass(slots=True)
class Decoded:
    """A decoded report: its windows, the counters of its VM, a note on its agent, and its rows or their refusal.

    `admitted` is None when the report names meshes or VMs that the known keys lack.
    """

    windows: list[Window]
    traffic: list[Traffic]
    connections: list[Connections]
    note: ReportNote
    admitted: Admitted | ProductError | None = None


@dataclass(frozen=True, slots=True)
class Intake:
    """An admitted report and the note on the state of its agent."""

    admitted: Admitted
    note: ReportNote


class IngestPipeline:
    """The pipeline of this process."""

    def __init__(self) -> None:
        self.keys = KeyCache()
        self.publisher = Publisher()
        self._rosters = inserts.RosterKeys()
        self._quotas = RateQuotas()
        self._report_rates = ReportRates()
        self._stored = metrics.REPORTS.labels("stored")
        self._large = ThreadPoolExecutor(_THREADS, "large-reports")
        capacity = settings().ingest_queue_reports
        self._decoder: BatchQueue[Received, Decoded] = BatchQueue(
            "ingest-decoder", _decode_safely, capacity, _BATCH, metrics.DECODE_QUEUE
        )
        self._writer = BatchWriter(self._store, capacity, settings().ingest_batch_ms)

    async def take(self, agent: AgentIdentity, body: bytes, media_type: str, encoding: str) -> int:
        """Store a report. Return the number of skipped windows after the commit. ProductError for a refused report."""
        try:
            skipped = await self._take(agent, body, media_type, encoding)
        except ProductError as error:
            metrics.REPORTS.labels(error.code).inc()
            raise
        self._stored.inc()
        return skipped

    async def _take(self, agent: AgentIdentity, body: bytes, media_type: str, encoding: str) -> int:
        now_s, arrived_s = time.time(), time.monotonic()
        self._report_rates.take(agent.agent_id, arrived_s)
        keys = self.keys.kept(agent.tenant_id) or await self.keys.of(agent.tenant_id, set(), [], arrived_s)
        decoded = await self._decode(Received(agent, Body(body, media_type, encoding, agent.vm_key), now_s, keys))
        admitted = decoded.admitted
        if admitted is None:
            windows = decoded.windows
            meshes, targets = {window.mesh_key for window in windows}, [window.targets for window in windows]
            keys = await self.keys.of(agent.tenant_id, meshes, targets, arrived_s)
            (admitted,) = _admit([_submission(agent, decoded, keys, now_s)])
        if isinstance(admitted, ProductError):
            raise admitted
        counted = 2 * sum(int(row.targets.size) for row in admitted.frames)
        self._quotas.take(agent.tenant_id, counted, keys.windows_per_s, time.monotonic(), keys.plan)
        size = (
            sum(len(row.stats) + len(row.sketch) for row in admitted.frames)
            + 100 * (len(admitted.traffic) + len(admitted.connections))
            + 1024
        )
        await self._writer.write(Intake(admitted, decoded.note), size)
        return admitted.skipped

    async def _decode(self, received: Received) -> Decoded:
        size = len(received.body.content)
        if size <= _LARGE_BODY and received.body.media_type != JSON:
            return await self._decoder.put(received, size)
        (decoded,) = await asyncio.get_running_loop().run_in_executor(self._large, _decode, [received])
        if isinstance(decoded, ProductError):
            raise decoded
        return decoded

    def _store(self, intakes: Sequence[Intake]) -> None:
        """Store all reports in one transaction, on the writer's thread."""
        with tracing.span("store reports", reports=len(intakes)):
            try:
                self._commit(intakes)
            except exc.IntegrityError as error:
                if "no partition of relation" not in str(error.orig):
                    raise
                log.warning("partitions missing: the sweep that creates them is late")
                with system_session() as session:
                    partitions.make_ahead(session, datetime.now(UTC), settings().retention_raw_days)
                self._commit(intakes)

    def _commit(self, intakes: Sequence[Intake]) -> None:
        frames = [row for intake in intakes for row in intake.admitted.frames]
        spikes = [row for intake in intakes for row in intake.admitted.spikes]
        clocks = [row for intake in intakes for row in intake.admitted.clocks]
        with system_session() as session:
            stored, learnt = inserts.store_frames(session, frames, self._rosters)
            inserts.store_spikes(session, spikes)
            corrections.store_clocks(session, clocks)
            traffic.store(session, [row for intake in intakes for row in intake.admitted.traffic])
            connections.store(session, [row for intake in intakes for row in intake.admitted.connections])
            note_reports(session, [intake.note for intake in intakes])
        self._rosters.learn(learnt)
        metrics.FRAMES.labels("stored").inc(stored)
        metrics.FRAMES.labels("already_there").inc(len(frames) - stored)
        metrics.SPIKES.inc(len(spikes))
        self.publisher.publish(seen for intake in intakes for seen in intake.admitted.seen)

    def close(self) -> None:
        """Store the queue, then stop."""
        self._large.shutdown()
        self._decoder.close()
        self._writer.close()
        self.publisher.close()


def _decode_safely(batch: Sequence[Received]) -> Sequence[Decoded | ProductError]:
    """Decode a batch. When that raises, decode its reports one at a time, so that a bad report fails alone."""
    try:
        return _decode(batch)
    except Exception:
        if len(batch) == 1:
            log.exception("report not readable")
            return [internal_error()]
        return [decoded for received in batch for decoded in _decode_safely([received])]


def _decode(batch: Sequence[Received]) -> list[Decoded | ProductError]:
    """Decode and check reports, and convert to rows those whose meshes and VMs are known."""
    results: list[Decoded | ProductError] = []
    known: list[Decoded] = []
    submissions: list[Submission] = []
    contents = validation.read([received.body for received in batch], settings().report_limit_bytes)
    for received, content in zip(batch, contents, strict=True):
        if isinstance(content, ProductError):
            results.append(content)
            continue
        windows, agent = content.windows, received.agent
        try:
            admission.check_time(windows, received.at_s)
            admission.check_time(content.traffic, received.at_s)
            admission.check_time(content.connections, received.at_s)
        except ProductError as refusal:
            results.append(refusal)
            continue
        window_s = max((window.window_s for window in windows), default=10)
        at = datetime.fromtimestamp(received.at_s, UTC)
        note = ReportNote(agent.agent_id, at, content.health, content.agent_version, window_s)
        decoded = Decoded(windows, content.traffic, content.connections, note)
        results.append(decoded)
        submission = _submission(agent, decoded, received.keys, received.at_s)
        if submission.is_known:
            known.append(decoded)
            submissions.append(submission)
    for decoded, admitted in zip(known, _admit(submissions), strict=True):
        decoded.admitted = admitted
    return results


def _submission(agent: AgentIdentity, decoded: Decoded, keys: TenantKeys, at_s: float) -> Submission:
    return Submission(decoded.windows, decoded.traffic, decoded.connections, agent.tenant_key, agent.vm_key, keys, at_s)


def _admit(submissions: Sequence[Submission]) -> list[Admitted | ProductError]:
    return admission.admit(submissions, settings().retention_raw_days)


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
    try:
        yield
    finally:
        ahead.cancel()
        noting.cancel()
        await app.state.live.close()
        await run_in_threadpool(app.state.ingest.close)


def _partitions_ahead() -> None:
    try:
        with system_session() as session:
            partitions.make_ahead(session, datetime.now(UTC), settings().retention_raw_days)
    except exc.SQLAlchemyError as error:
        # Not migrated or not up yet: the sweep tries again, and so does the first report that needs one.
        log.warning("partitions not made at start", error=str(error).strip())
