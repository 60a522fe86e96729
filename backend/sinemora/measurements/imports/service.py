"""Use cases of imports: a job turns a trace into VMs of a mesh and their windows."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.fleet.inventory.models import EVENT_PORT, GENERAL_PORT
from sinemora.fleet.inventory.queries import ensure_vm, ensure_zone
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.queries import join_mesh
from sinemora.fleet.meshes.service import mesh_state
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError
from sinemora.kit.http.upload import Upload
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.imports import readers, windowing
from sinemora.measurements.imports.dialect import Dialect, TraceError, text_lines
from sinemora.measurements.imports.readers import Exchange, LineError, TraceKind, Zones
from sinemora.measurements.imports.windowing import Trace
from sinemora.measurements.schemas import TraceTimes
from sinemora.measurements.store import inserts, roll_up
from sinemora.measurements.store.inserts import RosterKeys
from sinemora.measurements.store.retention import kept_from_of
from sinemora.measurements.store.tiers import ROLLED, Tier

IMPORTED = {"source": "imported"}
"""Label of VMs that an import created."""
_PROVIDER = "imported"
_ERRORS_SHOWN = 100
_FRAMES_AT_ONCE = 200
_EXISTS = text("SELECT EXISTS (SELECT 1 FROM meshes WHERE key = :key)")


def submit(
    session: Session,
    actor: Actor,
    mesh_id: UUID,
    kind: TraceKind,
    times: TraceTimes,
    client: str | None,
    server: str | None,
    trace: Upload,
) -> Job:
    """Submit an import. ProductError `mesh_unknown`, `mesh_is_live`, `trace_ends_missing`, `trace_empty`."""
    mesh = mesh_state(session, mesh_id)
    if any(member.has_agent for member in mesh.members):
        raise ProductError(
            "mesh_is_live",
            409,
            f"Mesh in use: {mesh.name} has agents. Import into a separate mesh.",
        )
    if kind is TraceKind.PTPD and not (client and server and client != server):
        raise ProductError(
            "trace_ends_missing",
            422,
            "Names missing: a PTPd log names no machines. Set two different names, `client` and `server`.",
        )
    if not any(piece.strip() for piece in trace.pieces()):
        raise ProductError("trace_empty", 422, "Trace empty.")
    params: dict[str, Any] = {"mesh_id": str(mesh.id), "kind": kind, "times": times, "client": client, "server": server}
    params["size_bytes"] = trace.size_bytes
    return jobs.submit(session, actor, IMPORT, f"Import into {mesh.name}", params, input=trace.pieces())


def import_job(job: JobContext) -> dict[str, Any]:
    """Import a trace. A repeated run stores nothing twice."""
    job.progress(0, "reading the trace")
    zones, dialect = Zones({}), Dialect()
    trace, errors, wrong = _read(text_lines(_pieces(job), settings().import_limit_bytes, dialect), job, zones, dialect)
    if not len(trace):
        raise ProductError(
            "trace_unreadable",
            422,
            f"Trace unreadable: {errors[0]['message'] if errors else 'it has no lines after the header.'}",
            errors=errors,
        )
    job.progress(0.2, "creating VMs")
    with job.session() as session:
        mesh = mesh_state(session, UUID(job.params["mesh_id"]))
        tenant_key = session.info["tenant_key"]
        keys = _vms(session, job, mesh.id, trace.names, zones)
    first_s, last_s = (at_ns // 1_000_000_000 for at_ns in trace.span_ns())
    shift_s = _shift_s(first_s, last_s, TraceTimes(job.params["times"]), mesh.window_s, datetime.now(UTC))
    windows, stored = _store(job, trace, keys, tenant_key, mesh, shift_s)
    job.progress(0.9, "merging windows")
    for tier in ROLLED:
        while roll_up.roll_up_mesh(tenant_key, mesh.key, tier, datetime.now(UTC)):
            job.check()
    return {
        "exchanges": len(trace),
        "windows": windows,
        "windows_stored": stored,
        "vms": keys.size,
        "from": _iso(_floor_s(first_s + shift_s, mesh.window_s)),
        "to": _iso(_floor_s(last_s + shift_s, mesh.window_s) + mesh.window_s),
        "shifted_s": shift_s,
        "lines_wrong": wrong,
        "read_as": ", ".join(dialect.words),
        "errors": errors,
    }


IMPORT = register(
    JobKind(
        "measurements.import",
        Queue.bulk,
        import_job,
        size=lambda params: float(params.get("size_bytes", 1)),
        second_per_size=1e-6,
    )
)


def _pieces(job: JobContext) -> Iterator[bytes]:
    """Yield the bytes of a trace, and report the progress of reading."""
    read_bytes = 0
    for piece in job.input():
        read_bytes += len(piece)
        yield piece
        job.progress(0.15 * read_bytes / max(int(job.params.get("size_bytes", 0)), read_bytes), "reading the trace")


def _read(
    lines: Iterator[str], job: JobContext, zones: Zones, dialect: Dialect
) -> tuple[Trace, list[dict[str, Any]], int]:
    """Return the exchanges, the first errors, and the number of errors."""
    trace = Trace()
    errors: list[dict[str, Any]] = []
    failed = 0
    try:
        for line in _lines(lines, job.params, zones, dialect):
            if isinstance(line, LineError):
                failed += 1
                if len(errors) < _ERRORS_SHOWN:
                    errors.append({"line": line.line, "message": line.message})
            else:
                trace.add(line)
    except TraceError as error:
        raise ProductError("trace_unreadable", 422, str(error)) from error
    return trace, errors, failed


def _lines(
    lines: Iterator[str], params: dict[str, Any], zones: Zones, dialect: Dialect
) -> Iterator[Exchange | LineError]:
    if params["kind"] == TraceKind.PTPD:
        return readers.read_ptpd(lines, params["client"], params["server"])
    return readers.read_csv(lines, zones, dialect)


def _vms(session: Session, job: JobContext, mesh_id: UUID, names: dict[str, int], zones: Zones) -> Ints:
    """Find or create the VMs of a trace by name, add them to the mesh, and return their keys by position."""
    keys = np.zeros(len(names), np.int64)
    for name, position in sorted(names.items()):
        job.check()
        zone = ensure_zone(session, _PROVIDER, _PROVIDER, zones.of.get(name, _PROVIDER))
        vm = ensure_vm(session, name, zone, EVENT_PORT, GENERAL_PORT)
        if vm.agent is not None:
            raise ProductError(
                "vm_has_agent",
                409,
                f"Name in use: VM {name} has an agent. Rename it in the trace.",
            )
        vm.labels = {**vm.labels, **IMPORTED}
        session.flush()
        join_mesh(session, mesh_id, vm.id)
        keys[position] = vm.key
    return keys


def _shift_s(first_s: int, last_s: int, times: TraceTimes, window_s: int, now: datetime) -> int:
    """Return the shift of a trace, s. ProductError `trace_out_of_range` when retention would delete it."""
    now_s = int(now.timestamp())
    # Whole windows and minutes, so that the cuts of a trace do not depend on the shift.
    step_s = 60 * window_s
    shift_s = 0 if times is TraceTimes.KEEP else (now_s - window_s - last_s) // step_s * step_s
    kept_from_s = kept_from_of(now)[Tier.MINUTE].timestamp()
    if last_s + shift_s + window_s > now_s or first_s + shift_s < kept_from_s:
        raise ProductError(
            "trace_out_of_range",
            422,
            f"Trace out of range: it is from {_iso(first_s + shift_s)} to {_iso(last_s + shift_s)};"
            f" the retention begins at {_iso(int(kept_from_s))}."
            + ("" if times is TraceTimes.END_NOW else " Set `times=end_now` to shift its end to now."),
        )
    return shift_s


def _store(
    job: JobContext, trace: Trace, keys: Ints, tenant_key: int, mesh: MeshState, shift_s: int
) -> tuple[int, int]:
    """Store the windows of a trace, some at a time. Return their number, and that of new blocks.

    ProductError `mesh_unknown` once the mesh, or its tenant, was deleted: nothing is stored for them afterwards.
    """
    known, windows, stored, done = RosterKeys(), 0, 0, 0
    _make_partitions(trace, mesh.window_s, shift_s)
    for rows in trace.slices(mesh.window_s, shift_s):
        job.progress(0.2 + 0.7 * done / len(trace), "storing windows")
        frames = windowing.windows_of_slice(rows, keys)
        for first in range(0, len(frames), _FRAMES_AT_ONCE):
            job.check()
            blocks = [
                row
                for window in frames[first : first + _FRAMES_AT_ONCE]
                for row in inserts.rows_of_frame(window.frame, tenant_key, mesh.key, window.started_at_s, mesh.window_s)
            ]
            with system_session() as session:
                if not session.scalar(_EXISTS, {"key": mesh.key}):
                    raise ProductError("mesh_unknown", 404, "Mesh deleted: the import has ended.")
                new, learnt = inserts.store_frames(session, blocks, known)
            known.learn(learnt)
            stored += new
        windows += len(frames)
        done += len(rows)
    return windows, stored


def _make_partitions(trace: Trace, window_s: int, shift_s: int) -> None:
    starts_s = (_floor_s(at_ns // 1_000_000_000 + shift_s, window_s) for at_ns in trace.span_ns())
    first, last = (datetime.fromtimestamp(start_s, UTC).date() for start_s in starts_s)
    with system_session() as session:
        session.execute(
            text("SELECT make_measurement_partitions(:first, :last)"),
            {"first": first, "last": last + timedelta(days=1)},
        )


def _floor_s(at_s: int, step_s: int) -> int:
    return at_s // step_s * step_s


def _iso(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")
