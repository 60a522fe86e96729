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

from sinemora.inventory.agents import AgentIdentity, ReportNote, note_reports
from sinemora.kit import tracing
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError
from sinemora.measurements import metrics
from sinemora.measurements.ingest import admission, validation
from sinemora.measurements.ingest.admission import Admitted
from sinemora.measurements.ingest.group_commit import BatchWriter
from sinemora.measurements.ingest.key_cache import KeyCache, TenantKeys
from sinemora.measurements.ingest.payload import JSON, decompress
from sinemora.measurements.ingest.rate_quota import RateQuotas
from sinemora.measurements.ingest.validation import Window
from sinemora.measurements.live.hub import LiveHub
from sinemora.measurements.live.publisher import Publisher
from sinemora.measurements.store import corrections, inserts, partitions

log = structlog.get_logger(__name__)

# Larger bodies are decoded on other threads, so that the event loop stays responsive. More threads would only wait for
# the interpreter's lock.
_LARGE_BODY = 32 << 10
_THREADS = 2

# How long a thread may keep the interpreter while others wait for it, s. A question takes it some thirty times, each
# after a wait for the database or for the native module; at Python's own 0.005 it took a third longer under load.
_SWITCH_S = 0.001


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
        # Released in the next round of the event loop: of simultaneous reports one is decoded in each round, so that
        # other requests wait for one report and not for all.
        self._turn = asyncio.Lock()
        self._aside = ThreadPoolExecutor(_THREADS, "reports")
        self._writer = BatchWriter(self._store, settings().ingest_queue_reports, settings().ingest_batch_ms)

    async def take(self, agent: AgentIdentity, body: bytes, media_type: str, encoding: str) -> int:
        """Store a report. Return the number of skipped windows after the commit. ProductError for a refused report."""
        try:
            skipped = await self._take(agent, body, media_type, encoding)
        except ProductError as error:
            metrics.REPORTS.labels(error.code).inc()
            raise
        metrics.REPORTS.labels("stored").inc()
        return skipped

    async def _take(self, agent: AgentIdentity, body: bytes, media_type: str, encoding: str) -> int:
        now_s = time.time()
        known = self.keys.kept(agent.tenant_id)
        if len(body) > _LARGE_BODY or media_type == JSON:
            arguments = (agent, body, media_type, encoding, now_s, known)
            loop = asyncio.get_running_loop()
            windows, note, admitted = await loop.run_in_executor(self._aside, _prepare, *arguments)
        else:
            await self._turn.acquire()
            try:
                windows, note, admitted = _prepare(agent, body, media_type, encoding, now_s, known)
            finally:
                asyncio.get_running_loop().call_soon(self._turn.release)
        if admitted is None or known is None:
            known = await self.keys.of(
                agent.tenant_id, {window.mesh_key for window in windows}, [window.targets for window in windows]
            )
            admitted = _admit(windows, agent, known, now_s)
        counted = 2 * sum(int(row.targets.size) for row in admitted.frames)
        self._quotas.take(agent.tenant_id, counted, known.windows_per_s, time.monotonic())
        size = sum(len(row.stats) + len(row.sketch) for row in admitted.frames) + 1024
        await self._writer.write(Intake(admitted, note), size)
        return admitted.skipped

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
            note_reports(session, [intake.note for intake in intakes])
        self._rosters.learn(learnt)
        metrics.FRAMES.labels("stored").inc(stored)
        metrics.FRAMES.labels("already_there").inc(len(frames) - stored)
        metrics.SPIKES.inc(len(spikes))
        self.publisher.publish(seen for intake in intakes for seen in intake.admitted.seen)

    def close(self) -> None:
        """Store the queue, then stop."""
        self._aside.shutdown()
        self._writer.close()
        self.publisher.close()


def _decode(
    agent: AgentIdentity, body: bytes, media_type: str, encoding: str, now_s: float
) -> tuple[list[Window], ReportNote]:
    plain = decompress(body, encoding, settings().body_limit_bytes)
    health, version, windows = validation.read(plain, media_type, agent.vm_key)
    admission.check_time(windows, now_s)
    window_s = max((window.window_s for window in windows), default=10)
    at = datetime.fromtimestamp(now_s, UTC)
    return windows, ReportNote(agent.agent_id, at, health, version, window_s)


def _prepare(
    agent: AgentIdentity, body: bytes, media_type: str, encoding: str, now_s: float, known: TenantKeys | None
) -> tuple[list[Window], ReportNote, Admitted | None]:
    """Decode a body. Return its windows, its note, and its rows if the `known` keys cover them, else None."""
    windows, note = _decode(agent, body, media_type, encoding, now_s)
    if known is None or not known.knows(
        {window.mesh_key for window in windows}, [window.targets for window in windows]
    ):
        return windows, note, None
    return windows, note, _admit(windows, agent, known, now_s)


def _admit(windows: list[Window], agent: AgentIdentity, known: TenantKeys, now_s: float) -> Admitted:
    return admission.admit(windows, agent.tenant_key, agent.vm_key, known, now_s, settings().retention_raw_days)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run `app.state.ingest` and `app.state.live` for the lifetime of the API."""
    # Imported objects live to the end. Without this the collector scans them again and again under load.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_S)
    app.state.ingest = IngestPipeline()
    app.state.live = LiveHub()
    ahead = asyncio.create_task(run_in_threadpool(_partitions_ahead))
    try:
        yield
    finally:
        ahead.cancel()
        await app.state.live.close()
        await run_in_threadpool(app.state.ingest.close)


def _partitions_ahead() -> None:
    try:
        with system_session() as session:
            partitions.make_ahead(session, datetime.now(UTC), settings().retention_raw_days)
    except exc.SQLAlchemyError as error:
        # Not migrated or not up yet: the sweep tries again, and so does the first report that needs one.
        log.warning("partitions not made at start", error=str(error).strip())
