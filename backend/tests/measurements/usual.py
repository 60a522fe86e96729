"""A mesh with usual delays: windows with changed paths, stored steps of earlier times, and the deviations of now."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from sinemora.fleet.meshes.plan import is_client
from sinemora.fleet.meshes.service import mesh_state, zone_runs
from sinemora.measurements.codec import frame
from sinemora.measurements.store import frames, inserts
from sinemora.measurements.store.inserts import FrameRow, RosterKeys
from sinemora.measurements.store.tiers import Tier, floor
from tests.api_clients import MeshWorld
from tests.measurements.reports import AgentWindow, sent_together, window_start
from tests.measurements.worlds import Raw, RawWindow, frame_of, simple
from tests.statements import call, execute

USUAL_NS = 200_000
RISE_NS = 400_000
DAY = timedelta(days=1)

Changes = dict[tuple[int, int], Raw]
"""Changed paths, by the positions of client and target."""


def measure(mesh: MeshWorld, started_at_s: int, changed: Changes | None = None) -> None:
    """Send a window of the whole mesh; `changed` paths by position."""
    measure_all(mesh, {started_at_s: changed or {}})


def measure_all(mesh: MeshWorld, windows: Mapping[int, Changes]) -> None:
    """Send windows of the whole mesh: changed paths by the start of the window (Unix s)."""
    sent_together(mesh.key, (one for start, changed in windows.items() for one in _window(mesh, start, changed)))


def _window(mesh: MeshWorld, started_at_s: int, changed: Changes) -> Iterator[AgentWindow]:
    for n, agent in enumerate(mesh.agents):
        peers = {
            peer.vm_key: changed.get((n, m)) or simple(USUAL_NS)
            for m, peer in enumerate(mesh.agents)
            if m != n and is_client(agent.vm_key, peer.vm_key)
        }
        yield agent, peers, started_at_s


def rise(mesh: MeshWorld, source: int, target: int, by_ns: int = RISE_NS) -> Changes:
    """Return the change of one direction of a pair, for whichever VM is its client."""
    if is_client(mesh.agents[source].vm_key, mesh.agents[target].vm_key):
        return {(source, target): simple(USUAL_NS + by_ns, USUAL_NS)}
    return {(target, source): simple(USUAL_NS, USUAL_NS + by_ns)}


def keep_steps(
    mesh: MeshWorld,
    changes: Mapping[datetime, Changes],
    delay_ns: int = USUAL_NS,
    without: int | None = None,
    tier: Tier = Tier.HOUR,
) -> None:
    """Store steps of all paths and zone pairs: changed paths by the start of the step; no path of VM `without`."""
    vms = [agent.vm_key for n, agent in enumerate(mesh.agents) if n != without]
    state = call(mesh_state, mesh.id, tenant=mesh.owner.tenant_id)
    zones = call(frames.zone_keys, [run.id for run in zone_runs(state)], tenant=mesh.owner.tenant_id).tolist()
    between = [
        RawWindow(zone, {other: simple(delay_ns) for other in zones[place:]}) for place, zone in enumerate(zones)
    ]

    def rows_of(at: datetime, windows: Iterable[RawWindow]) -> Iterator[FrameRow]:
        for window in windows:
            for number, block in enumerate(frame_of(window).blocks() if window.peers else ()):
                blobs = (frame.encode_stats(block.stats), frame.encode_sketches(block.sketches, block.stats))
                of_mesh = (mesh.owner.tenant_key, mesh.key, int(at.timestamp()))
                yield FrameRow(*of_mesh, window.vm_key, number, tier.step_s, block.targets, *blobs)

    pair_rows: list[FrameRow] = []
    zone_rows: list[FrameRow] = []
    for at, changed in changes.items():
        of_keys = {(mesh.agents[n].vm_key, mesh.agents[m].vm_key): raw for (n, m), raw in changed.items()}
        pairs = [
            RawWindow(
                key, {other: of_keys.get((key, other), simple(delay_ns)) for other in vms if is_client(key, other)}
            )
            for key in vms
        ]
        pair_rows += rows_of(at, pairs)
        zone_rows += rows_of(at, between)
    for day in {at.date() for at in changes}:
        execute("SELECT make_measurement_partitions(:day, :day)", {"day": day})
    call(inserts.store_merged, tier, pair_rows, {}, RosterKeys())
    call(inserts.store_merged_zones, tier, zone_rows, {}, RosterKeys())


def hour_of(start: int) -> datetime:
    """Return the hour of a window."""
    return floor(datetime.fromtimestamp(start, UTC), 3600)


def hour_of_newest() -> datetime:
    return hour_of(window_start())


def keep_days(mesh: MeshWorld, count: int, skipped: int = 0, hour: datetime | None = None, **options) -> None:
    """Store the same hour (default: of the newest window) of days before the `skipped` last ones, of weekdays or
    weekends like today.
    """
    hour, day = hour or hour_of_newest(), skipped
    kept: dict[datetime, Changes] = {}
    while len(kept) < count:
        day += 1
        if ((hour - day * DAY).weekday() >= 5) is (hour.weekday() >= 5):
            kept[hour - day * DAY] = {}
    keep_steps(mesh, kept, **options)


def deviations(mesh: MeshWorld, **params):
    return mesh.read("deviations", **params)
