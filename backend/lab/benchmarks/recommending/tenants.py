"""Random tenants: applications with every kind of limit on a mesh of constant round trips."""

import time
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sqlalchemy import update

from lab.benchmarks.recommending.api import Api
from lab.benchmarks.storing.worlds import frame_of, frame_rows, peers
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.library import LIBRARY, published
from sinemora.fleet.inventory.models import Zone
from sinemora.kit.db import system_session
from sinemora.measurements.store import inserts

ZONES = 3
WINDOWS, WINDOW_S, SAMPLES = 24, 10, 10
"""Enough windows of ten seconds that some are held out."""
_CURVES = sorted({entry.key for entry in LIBRARY})
_UNLIMITED = 1 << 40


@dataclass(frozen=True)
class Star:
    """An application as declared; without a root it is a graph. `at` and `pinned` by task, -1 is a waiting task."""

    name: str
    curve: str
    root: bool
    at: list[int]
    pinned: list[bool]
    takes: list[tuple[int, int]]
    """Slots and millicores of each task."""
    links: list[tuple[int, int, float]]
    zones: tuple[int, ...]
    spread: tuple[int | None, int | None]
    """Most tasks on one VM and in one zone."""
    moves_max: int | None
    apart_from: int | None
    move_cost: float = 0.0
    leaves_region: bool = True
    moves_for_others: bool = False


@dataclass(frozen=True)
class Tenant:
    """VMs with slots and millicores, constant round trips in µs, applications, and the question."""

    slots: list[int]
    millicores: list[int | None]
    round_trip_us: Floats
    applications: list[Star]
    objective: str
    moves_max: int
    regions: tuple[int, ...] = (0,) * ZONES
    """Region of each zone."""

    @property
    def room(self) -> np.ndarray:
        """Return slots and millicores of each VM, shape (VMs, 2)."""
        return np.array([(a, _UNLIMITED if b is None else b) for a, b in zip(self.slots, self.millicores, strict=True)])

    def performance(self, application: Star) -> Floats:
        """Return the performance of a link of an application between each pair of VMs."""
        return published(application.curve).curve(self.round_trip_us)


def small(rng: np.random.Generator) -> Tenant:
    """Return a tenant of 4 to 7 VMs with up to three applications and six tasks."""
    objective = str(rng.choice(["loss", "loss", "fair", "slowdown"]))
    moves_max = int(rng.choice([1, 2, 3, 10]))
    return _drawn(rng, int(rng.integers(4, 8)), int(rng.integers(1, 4)), (2, 4), 6, objective, moves_max)


def large(rng: np.random.Generator, vms: int) -> Tenant:
    """Return a tenant with an application of 4 to 9 tasks for every ten VMs, and a budget of ten moves."""
    return _drawn(rng, vms, vms // 10, (4, 9), vms, "loss", 10)


def _drawn(
    rng: np.random.Generator,
    vms: int,
    count: int,
    sizes: tuple[int, int],
    tasks_most: int,
    objective: str,
    moves_max: int,
) -> Tenant:
    """Return a tenant whose applications keep their limits now."""
    # A third of the meshes has few different round trips: many places are equal.
    even = rng.integers(10, 450, (vms, vms)) * 2.0
    if rng.random() < 0.3:
        even = rng.integers(10, 450, (vms, vms)) * 2.0
    if rng.random() < 0.3:
        even = rng.choice([100.0, 400.0, 800.0], (vms, vms))
    trips = np.minimum(np.maximum(even, even.T), 900)
    np.fill_diagonal(trips, 0)
    slots = rng.integers(1, 4, vms).tolist()
    tight = rng.random() < 0.4
    free = np.array([(slots[vm], 2_000 if tight else _UNLIMITED) for vm in range(vms)])
    applications: list[Star] = []
    left = tasks_most
    for number in range(count):
        size = int(rng.integers(sizes[0], sizes[1] + 1))
        if size > left or (star := _application(rng, number, size, free, tight, applications)) is None:
            break
        left -= size
        applications.append(star)
    if not applications:
        return _drawn(rng, vms, count, sizes, tasks_most, objective, moves_max)
    return Tenant(
        slots,
        [2_000 if tight else None] * vms,
        trips,
        applications,
        objective,
        moves_max,
        (0, 0, 1) if rng.random() < 0.5 else (0, 0, 0),
    )


def _application(
    rng: np.random.Generator, number: int, size: int, free: np.ndarray, tight: bool, others: list[Star]
) -> Star | None:
    root = bool(rng.random() < 0.7)
    takes = [
        (2 if task and rng.random() < 0.15 else 1, int(rng.integers(0, 3)) * 500 if tight else 0)
        for task in range(size)
    ]
    apart = int(rng.integers(len(others))) if others and rng.random() < 0.3 else None
    taken = set() if apart is None else set(others[apart].at)
    zones = tuple(sorted(rng.choice(ZONES, 2, replace=False).tolist())) if rng.random() < 0.2 else ()
    at = []
    for task, need in enumerate(takes):
        fits = [
            vm
            for vm in range(len(free))
            if (free[vm] >= need).all() and vm not in taken and (not zones or vm % ZONES in zones)
        ]
        waits = task > 0 and rng.random() < 0.1
        if not fits and not waits:
            return None
        at.append(-1 if waits else int(rng.choice(fits)))
        if not waits:
            free[at[-1]] -= need
    if root:
        links = [(0, task, 1.0) for task in range(1, size)]
    else:
        pairs = list(combinations(range(size), 2))
        links = [(a, b, float(rng.integers(1, 4))) for a, b in pairs if b == a + 1 or rng.random() < 0.3]
    spread: list[int | None] = [None, None]
    if rng.random() < 0.3:
        level = int(rng.integers(2))
        counted = [vm if level == 0 else vm % ZONES for vm in at[1 if root else 0 :] if vm >= 0]
        # Some are exceeded already.
        most = max(1, int(np.bincount(counted).max(initial=0)) - int(rng.random() < 0.3))
        # An application that has no room in its zones is refused.
        spread[level] = max(most, -(-(size - root) // len(zones))) if level and zones else most
    pinned = [bool(vm >= 0 and rng.random() < 0.15) for vm in at]
    moves_max = int(rng.integers(0, 3)) if rng.random() < 0.2 else None
    curve = _CURVES[int(rng.integers(len(_CURVES)))]
    return Star(
        f"application-{number}",
        curve,
        root,
        at,
        pinned,
        takes,
        links,
        zones,
        (spread[0], spread[1]),
        moves_max,
        apart,
        move_cost=float(rng.choice([0.0, 0.0, 0.02, 0.1, 0.3])),
        leaves_region=bool(rng.random() < 0.5),
        moves_for_others=bool(rng.random() < 0.2),
    )


def declare(api: Api, name: str, tenant: Tenant) -> None:
    """Create the mesh with its windows, the capacity of its VMs, and the applications."""
    world = api.product.world(name, len(tenant.slots), ZONES)
    newest = int(time.time()) // WINDOW_S * WINDOW_S - 2 * WINDOW_S
    starts = [newest - WINDOW_S * ago for ago in range(WINDOWS)]
    rows: list[inserts.FrameRow] = []
    place = {key: at for at, key in enumerate(world.vm_keys)}
    for at, key in enumerate(world.vm_keys):
        targets = peers(world.vm_keys, at)
        one_way = np.array([tenant.round_trip_us[at, place[target]] * 500 for target in targets], np.int64)
        whole = frame_of(key, targets, np.broadcast_to(one_way[None, :, None], (2, len(targets), SAMPLES)).copy())
        rows += frame_rows(world.tenant_key, world.mesh_key, whole, starts, WINDOW_S)
    with system_session() as session:
        inserts.store_frames(session, rows, inserts.RosterKeys())
    vm_name = [f"{name}-{at:04}" for at in range(len(tenant.slots))]
    for at, identity in enumerate(world.vm_ids):
        capacity: dict[str, Any] = {"slots": tenant.slots[at], "cpu_millicores": tenant.millicores[at]}
        api.read(f"/v1/vms/{identity}/capacity", capacity, method="PATCH", if_match="*")
    zone = {number: f"{name}-z{number}" for number in range(ZONES)}
    with system_session() as session:
        for number, region in enumerate(tenant.regions):
            session.execute(update(Zone).where(Zone.name == zone[number]).values(region=f"region-{region}"))
    for application in tenant.applications:
        tasks = [
            {
                "name": f"task-{task}",
                "vm": None if at < 0 else vm_name[at],
                "root": application.root and task == 0,
                "pinned": application.pinned[task],
                "slots": application.takes[task][0],
                "cpu_millicores": application.takes[task][1],
            }
            for task, at in enumerate(application.at)
        ]
        same = ("curve", "moves_max", "move_cost", "leaves_region", "moves_for_others")
        body: dict[str, Any] = {field: getattr(application, field) for field in same}
        body |= {"name": f"{name}-{application.name}", "mesh": name, "reference_us": 0, "tasks": tasks}
        body |= {"per_vm_max": application.spread[0], "per_zone_max": application.spread[1]}
        body["zones"] = [zone[number] for number in application.zones]
        if application.apart_from is not None:
            body["apart_from"] = [f"{name}-{tenant.applications[application.apart_from].name}"]
        if not application.root:
            body["edges"] = [
                {"source": f"task-{a}", "target": f"task-{b}", "weight": weight} for a, b, weight in application.links
            ]
        api.read("/v1/applications", body)
