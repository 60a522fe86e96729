"""Tables of measurements. All have `tenant_key`, and row-level security confines them to it.

Frames, their rollups and spikes are partitioned by day or month (or TimescaleDB hypertables), so that retention drops
tables instead of deleting rows. None has foreign keys: a report is stored even if its mesh was deleted meanwhile.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from sinemora.kit.db import Base

_BY_TIME: dict[str, Any] = {"postgresql_partition_by": "RANGE (started_at)"}
_AT = DateTime(timezone=True)


def _key(*names: str) -> tuple[Column[Any], ...]:
    """Return columns of a primary key, in order: keys of VMs and meshes, blocks, the start of a window."""
    types: dict[str, Any] = {"started_at": _AT, "block": SmallInteger}
    return tuple(Column(name, types.get(name, Integer), primary_key=True, autoincrement=False) for name in names)


def _block_of_a_window() -> tuple[Column[int] | Column[bytes], ...]:
    """Return the columns after the key of all tables of frames; `n` targets in the order of the roster."""
    return (
        Column("window_s", SmallInteger, nullable=False),
        Column("roster_key", Integer, nullable=False),
        Column("n", SmallInteger, nullable=False),
        Column("stats", LargeBinary, nullable=False),
    )


# One VM's window of one mesh towards at most 256 targets. Bytes: `frame.py`.
probe_frames = Table(
    "probe_frames",
    Base.metadata,
    *_key("tenant_key", "mesh_key", "started_at", "vm_key", "block"),
    *_block_of_a_window(),
    Column("sketch", LargeBinary, nullable=False),
    Column("received_at", _AT, nullable=False, server_default=func.now()),
    # Of the VM's packets: `TIMESTAMP_SOURCES`, from 1; null is not reported.
    Column("timestamp_source", SmallInteger),
    # By target: marks (`peer_marks` of reports), residence times outbound and inbound, ns; null: all are 0.
    Column("peer_notes", ARRAY(Integer)),
    CheckConstraint("n BETWEEN 1 AND 256", name="n"),
    CheckConstraint("window_s BETWEEN 1 AND 60", name="window_s"),
    CheckConstraint("timestamp_source BETWEEN 1 AND 3", name="timestamp_source"),
    **_BY_TIME,
)

# All windows that began within one minute, merged. `frames` counts the rows of `probe_frames` merged into the
# minute of this VM; block 0 has it and the others have 0, so that sums of both tables can be compared.
probe_frames_1m = Table(
    "probe_frames_1m",
    Base.metadata,
    *_key("tenant_key", "mesh_key", "started_at", "vm_key", "block"),
    *_block_of_a_window(),
    Column("sketch", LargeBinary, nullable=False),
    Column("frames", Integer, nullable=False),
    Column("rolled_at", _AT, nullable=False, server_default=func.now()),
    CheckConstraint("n BETWEEN 1 AND 256", name="n"),
    **_BY_TIME,
)


def _tier(table: str, source: str) -> Table:
    """Return the table of a tier above the minute, of VMs or of zones: merged frames of the tier below in one step.

    `frames` counts the rows merged into the step of this source, as in `probe_frames_1m`; steps: `tiers.py`.
    """
    return Table(
        table,
        Base.metadata,
        *_key("tenant_key", "mesh_key", "started_at", source, "block"),
        Column("roster_key", Integer, nullable=False),
        Column("n", SmallInteger, nullable=False),
        Column("stats", LargeBinary, nullable=False),
        Column("sketch", LargeBinary, nullable=False),
        Column("frames", Integer, nullable=False),
        Column("rolled_at", _AT, nullable=False, server_default=func.now()),
        CheckConstraint("n BETWEEN 1 AND 256", name="n"),
        **_BY_TIME,
    )


# Between zones, `outbound` leads from `zone_key` to the zones of the roster, whose keys are not smaller. Within one
# zone both directions contain all its paths.
ROLLED_TABLES = [
    _tier(table, source)
    for table, source in (
        ("probe_frames_15m", "vm_key"),
        ("probe_frames_1h", "vm_key"),
        ("probe_frames_1d", "vm_key"),
        ("zone_frames_1m", "zone_key"),
        ("zone_frames_15m", "zone_key"),
        ("zone_frames_1h", "zone_key"),
        ("zone_frames_1d", "zone_key"),
    )
]

# VM keys of the targets of frames, by position; stored once for each distinct list (`digest`: SHA-256 of the keys).
# Rosters that no process has written for longer than the longest retention are deleted.
rosters = Table(
    "rosters",
    Base.metadata,
    Column("key", Integer, Identity(always=True), primary_key=True),
    Column("tenant_key", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("target_keys", ARRAY(Integer), nullable=False),
    Column("written_at", _AT, nullable=False, server_default=func.now()),
    UniqueConstraint("tenant_key", "digest"),
)

# The newest window of every block. UNLOGGED: cheap to rewrite each window, empty after a crash of the database and
# then rebuilt from `probe_frames`. Half of each page is left free so that a rewrite stays on it.
path_latest = Table(
    "path_latest",
    Base.metadata,
    *_key("tenant_key", "mesh_key", "vm_key", "block"),
    Column("started_at", _AT, nullable=False),
    *_block_of_a_window(),
    Column("received_at", _AT, nullable=False, server_default=func.now()),
    prefixes=["UNLOGGED"],
    postgresql_with={
        "fillfactor": 50,
        "autovacuum_vacuum_scale_factor": 0.1,
        "toast.autovacuum_vacuum_scale_factor": 0.1,
    },
)

# Meshes whose `path_latest` is complete; emptied by the same crash.
path_latest_meshes = Table(
    "path_latest_meshes",
    Base.metadata,
    *_key("tenant_key", "mesh_key"),
    prefixes=["UNLOGGED"],
)

# Windows with an outlying largest delay towards a target, and the exchanges around it. Bytes: `frame.py`.
spikes = Table(
    "spikes",
    Base.metadata,
    *_key("tenant_key", "mesh_key", "started_at", "source_key", "target_key"),
    Column("window_s", SmallInteger, nullable=False),
    Column("max_ns", BigInteger, nullable=False),
    Column("median_ns", BigInteger, nullable=False),
    Column("evidence", LargeBinary, nullable=False),
    **_BY_TIME,
)

# Bytes and packets of a VM's network interface in one window, counted over `elapsed_ms`, NULL without an interface; and
# waits on the VM, counted over `host_elapsed_ms`, NULL if not available.
vm_traffic = Table(
    "vm_traffic",
    Base.metadata,
    *_key("tenant_key", "vm_key", "started_at"),
    Column("window_s", SmallInteger, nullable=False),
    Column("elapsed_ms", Integer, nullable=False),
    Column("bytes_sent", BigInteger),
    Column("packets_sent", BigInteger),
    Column("bytes_received", BigInteger),
    Column("packets_received", BigInteger),
    Column("interface", String),
    Column("host_elapsed_ms", Integer),
    *(
        Column(f"{wait}_{name}", Integer)
        for wait in ("wake", "receive", "send", "queue")
        for name in ("count", "p50_us", "p99_us", "max_us")
    ),
    Column("stalled_us", BigInteger),
    Column("stall_at_us", ARRAY(BigInteger)),
    Column("stall_us", ARRAY(Integer)),
    Column("processors", Integer),
    *(Column(name, BigInteger) for name in ("steal_ms", "pressure_us", "throttled_us", "softirq_squeezed")),
    Column("receive_drops", BigInteger),
    CheckConstraint("window_s BETWEEN 1 AND 60", name="window_s"),
    CheckConstraint("elapsed_ms > 0", name="elapsed_ms"),
    **_BY_TIME,
)

# TCP connections of a VM to one peer in one window of a minute; peer 0: to all that are no peer.
vm_connections = Table(
    "vm_connections",
    Base.metadata,
    *_key("tenant_key", "vm_key", "started_at", "peer_key"),
    Column("connections", Integer, nullable=False),
    Column("segments_sent", BigInteger, nullable=False),
    Column("segments_retransmitted", BigInteger, nullable=False),
    Column("timeouts", Integer, nullable=False),
    Column("timeouts_in_band", Integer, nullable=False),
    Column("stalled_ms", BigInteger, nullable=False),
    Column("rto_us", Integer, nullable=False),
    CheckConstraint("timeouts_in_band <= timeouts", name="timeouts_in_band"),
    **_BY_TIME,
)

# Clocks of the peers of each agent at the end of its newest window. Bytes: `clocks.CLOCKS`. UNLOGGED: after a crash
# the next windows restore them.
clocks_latest = Table(
    "clocks_latest",
    Base.metadata,
    *_key("tenant_key", "mesh_key", "vm_key"),
    Column("started_at", _AT, nullable=False),
    Column("window_s", SmallInteger, nullable=False),
    Column("clocks", LargeBinary, nullable=False),
    prefixes=["UNLOGGED"],
    postgresql_with={
        "fillfactor": 50,
        "autovacuum_vacuum_scale_factor": 0.1,
        "toast.autovacuum_vacuum_scale_factor": 0.1,
    },
)

# Corrections of one-way delays of a mesh, each for the windows that start in [started_at, ended_at). Bytes, compressed:
# `clocks.SHIFTS`. Sums around loops of three VMs, which
# are independent of clocks, measure the asymmetry of routes.
corrections = Table(
    "corrections",
    Base.metadata,
    *_key("tenant_key", "mesh_key", "started_at"),
    Column("ended_at", _AT, nullable=False),
    Column("shifts", LargeBinary, nullable=False),
    Column("loops", Integer, nullable=False),
    Column("loop_median_ns", BigInteger),
    Column("loop_max_ns", BigInteger),
)

# Catalogue of the objects that hold ranges of merged tiers in object storage (`store/aged/`). `tier` is the name of the
# table that the rows came from. `rows`, `targets` and `merged_ms` (sum of `rolled_at` less `started_at`) identify the
# rows; they and the rest are known once the object is written. States: `AgedState`.
aged_objects = Table(
    "aged_objects",
    Base.metadata,
    Column("id", Uuid, primary_key=True, server_default=func.gen_random_uuid()),
    Column("tenant_key", Integer, nullable=False),
    Column("mesh_key", Integer, nullable=False),
    Column("tier", String, nullable=False),
    Column("started_at", _AT, nullable=False),
    Column("ended_at", _AT, nullable=False),
    Column("object_key", String, nullable=False, unique=True),
    Column("state", String, nullable=False),
    Column("rows", BigInteger),
    Column("targets", BigInteger),
    Column("merged_ms", BigInteger),
    Column("bytes", BigInteger),
    Column("checksum", LargeBinary),
    Column("created_at", _AT, nullable=False, server_default=func.now()),
    Column("held_until", _AT),
    CheckConstraint("started_at < ended_at", name="range"),
    CheckConstraint("state IN ('writing', 'current', 'restored', 'removing')", name="state"),
    CheckConstraint(
        "state NOT IN ('current', 'restored') OR num_nulls(rows, targets, merged_ms, bytes, checksum) = 0", name="known"
    ),
    Index(None, "tenant_key", "mesh_key", "tier", "started_at"),
)

# Newest run of ageing of each tenant.
aging_runs = Table(
    "aging_runs",
    Base.metadata,
    *_key("tenant_key"),
    Column("started_at", _AT, nullable=False),
    Column("ended_at", _AT, nullable=False),
    Column("objects", Integer, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("error", String),
)

# Steps of tiers (`minute`: their start) with frames that are not rolled up yet. They are written with the frames and
# deleted by the rollup.
rollup_marks = Table(
    "rollup_marks",
    Base.metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("tenant_key", Integer, nullable=False),
    Column("mesh_key", Integer, nullable=False),
    Column("minute", _AT, nullable=False),
    Column("step_s", Integer, nullable=False, server_default=text("60")),
    Index(None, "step_s", "tenant_key", "mesh_key", "minute"),
)
