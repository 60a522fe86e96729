"""Times of a tenant of six VMs next to tenants that ask for all they can, in turns with times when it is alone.

Its reports, the GETs of a page, small jobs and alerts are measured on a whole product; a neighbour is a process
that gets the processors when nobody else wants them. A ratio contains the contention for those of this machine.
"""

import http.client
import json
import multiprocessing as mp
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Event as Flag
from typing import Any
from uuid import UUID, uuid4

import httpx2
import numpy as np

from lab import embedded_product
from lab.benchmarks import figures
from lab.benchmarks.alerting.stack import Listener
from lab.benchmarks.figures import comment
from lab.benchmarks.store import fill
from lab.benchmarks.storing.product import World, key_of, make_world
from lab.embedded_product import EmbeddedProduct
from lab.soak.day import use_settings, watch
from lab.soak.fleet import WINDOW_S, Fleet
from lab.soak.neighbours import trace_of
from lab.soak.senders import FaultyFleet, RepeatingFleet
from sinemora.access.tenants.service import create_owner
from sinemora.alerts.rules.service import create_default_rules
from sinemora.kit.db import tenant_session
from sinemora.measurements.store.tiers import Tier

TURN_S, SETTLED_S, STARTED_S = 20.0, 10.0, 600.0
TURNS = 2
_SLOWEST_S = 120.0
_PAGES = ("", "/matrix?statistic=p99", "/deviations", "/worst-paths", "/roster")
_STREAM_KEYS, _STREAMS_EACH = 24, 50
_FINAL = ("succeeded", "failed", "cancelled")
Disturb = Callable[[int, str, Sequence[World], Flag], None]
"""Takes the port of the API, a key of the tenant and its meshes, and what to set once the work has begun."""
Times = dict[str, list[float]]
"""Times of a turn by kind, s."""


def _begin(work: Disturb, port: int, key: str, worlds: Sequence[World], began: Flag) -> None:
    # What a neighbour asks with is elsewhere: it gets the processors that nobody else wants.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    work(port, key, worlds, began)


def _report(port: int, _: str, worlds: Sequence[World], began: Flag) -> None:
    fleet = RepeatingFleet(port, worlds).start()
    time.sleep(2 * WINDOW_S)
    began.set()
    senders, began_s = sum(len(world.vm_keys) for world in worlds), time.monotonic()
    while (passed_s := time.monotonic() - began_s) < STARTED_S:
        if len(fleet.record.acknowledged) < senders * (passed_s // WINDOW_S - 1):
            raise RuntimeError("the neighbour reports less than it should")
        time.sleep(1)
    fleet.stop(give_up=True)


def _import(port: int, key: str, worlds: Sequence[World], began: Flag) -> None:
    """Upload traces of nearly 64 MiB, each when the one before is imported."""
    body = trace_of(2_900_000)
    assert 60 << 20 < len(body) < 64 << 20, len(body)
    client = _client(port, key)
    client.headers["Content-Type"] = "text/csv"
    began.set()
    while True:
        for world in worlds:
            answer = client.post(f"/v1/meshes/{world.mesh_id}/imports?kind=csv&times=keep", content=body)
            _ended(client, answer.raise_for_status().json()["id"])


def _ask(port: int, key: str, worlds: Sequence[World], began: Flag) -> None:
    """Ask for matrices of a month, each of another range, eight at once."""

    def ask() -> None:
        client = _client(port, key)
        while True:
            end = datetime.now(UTC) - timedelta(hours=random.randrange(1, 48))
            span = {"from": (end - timedelta(days=28)).isoformat(), "to": end.isoformat(), "statistic": "p99"}
            answer = client.get(f"/v1/meshes/{worlds[0].mesh_id}/matrix", params=span)
            if answer.status_code == 429:
                time.sleep(1)
            else:
                answer.raise_for_status()

    for _ in range(8):
        threading.Thread(target=ask, daemon=True).start()
    began.set()
    time.sleep(STARTED_S)


def _listen(port: int, key: str, worlds: Sequence[World], began: Flag) -> None:
    """Open live streams with many keys; 500 are accepted, the others are refused in words."""
    streams, refused = [], 0
    for own in key.split():
        for _ in range(_STREAMS_EACH):
            stream = http.client.HTTPConnection("127.0.0.1", port, timeout=_SLOWEST_S)
            stream.request("GET", f"/v1/meshes/{worlds[0].mesh_id}/live", headers={"Authorization": f"Bearer {own}"})
            answer = stream.getresponse()
            if answer.status == 429:
                refused += json.loads(answer.read())["code"] == "streams_too_many"
                stream.close()
            else:
                streams.append((stream, answer))
    assert (len(streams), refused) == (500, _STREAM_KEYS * _STREAMS_EACH - 500), (len(streams), refused)
    began.set()
    time.sleep(STARTED_S)


NEIGHBOURS: dict[str, tuple[Disturb, int, int]] = {
    "1,200 live streams": (_listen, 1, 3),
    "matrices of a month": (_ask, 1, 60),
    "500 meshes": (_report, 500, 3),
    "1,000 VMs": (_report, 1, 1000),
    "imports": (_import, 2, 0),
}
"""Neighbours by name: the work of their process, and the numbers of their meshes and of the VMs in each."""


def neighbours() -> None:
    """Report the largest ratio of a p99 next to a neighbour to that of the tenant alone, over all pairs."""
    settings = {
        "SINEMORA_RECEIVER_NETWORKS": "127.0.0.0/8",
        "SINEMORA_ALERT_SETTLING_S": "0",
        "SINEMORA_QUOTA_WINDOWS_PER_S": "1e9",
    }
    alone: list[Times] = []
    busy: dict[str, list[Times]] = {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clean up even when terminated
    with ExitStack() as ends:
        listener = Listener()
        ends.callback(listener.close)
        product = ends.enter_context(embedded_product.running("neighbours", 0, **settings))
        product.until_up(600)
        use_settings(product)
        small = _Small(product, listener, ends)
        for name, (work, meshes, vms) in NEIGHBOURS.items():
            tenant_id, worlds = _tenant(name, meshes, vms)
            key = " ".join(key_of(tenant_id, "write") for _ in range(_STREAM_KEYS if work is _listen else 1))
            alone.append(small.measured())
            context = mp.get_context("spawn")
            began = context.Event()
            process = context.Process(target=_begin, args=(work, product.port, key, worlds, began), daemon=True)
            process.start()
            if not began.wait(STARTED_S):
                raise RuntimeError(f"{name}: the neighbour does not begin")
            time.sleep(SETTLED_S)
            busy[name] = [small.measured() for _ in range(TURNS)]
            if not process.is_alive():
                raise RuntimeError(f"{name}: the neighbour has ended")
            process.kill()
            process.join()
            comment(f"{name}: {_shown(busy[name])}, alone {_shown(alone)}")
    ratios = {
        f"{kind} next to {name}": _p99(turns, kind) / _p99(alone, kind)
        for name, turns in busy.items()
        for kind in turns[0]
    }
    worst = max(ratios, key=lambda pair: ratios[pair])
    detail = {pair: round(ratio, 2) for pair, ratio in ratios.items()}
    figures.report("neighbour_slowdown_p99", ratios[worst], worst=worst, ratios=detail)


class _Small:
    """The tenant of six VMs: it reports, and is measured for a turn at a time."""

    def __init__(self, product: EmbeddedProduct, listener: Listener, ends: ExitStack) -> None:
        self._listener = listener
        tenant_id, (self._world, old) = _tenant("small", 2, 6)
        self._imported = make_world(tenant_id, "imports", 0).mesh_id
        watch(product, tenant_id, self._world, listener)
        # The pages and the jobs of one key would be too many.
        self._key, self._key_of_jobs, self._port = key_of(tenant_id, "write"), key_of(tenant_id, "write"), product.port
        self._live = FaultyFleet(product.port, self._world)
        # Enough reports for a percentile, some hundreds a turn: of old windows, five in two seconds of each VM.
        self._old = Fleet(product.port, old, every_s=0.4)

        for fleet in (self._live, self._old):
            ends.callback(fleet.start().stop, give_up=True)
        time.sleep(SETTLED_S + 2 * WINDOW_S)

    def measured(self) -> Times:
        """Return the times of a turn."""
        times: Times = defaultdict(list)
        began_s, stop = time.time(), threading.Event()
        threads = [
            threading.Thread(target=work, args=(times, stop)) for work in (self._pages, self._jobs, self._alerts)
        ]
        for thread in threads:
            thread.start()
        time.sleep(TURN_S)
        stop.set()
        for thread in threads:
            thread.join()
        times["reports"] += [taken_s for sent_at, taken_s in self._old.record.latencies if sent_at >= began_s]
        return times

    def _pages(self, times: Times, stop: threading.Event) -> None:
        client = _client(self._port, self._key)
        while not stop.wait(0.4):
            paths = ["/v1/overview", *(f"/v1/meshes/{self._world.mesh_id}{part}" for part in _PAGES), "/v1/incidents"]
            for path in paths:
                began_s = time.perf_counter()
                client.get(path).raise_for_status()
                times["pages"].append(time.perf_counter() - began_s)

    def _jobs(self, times: Times, stop: threading.Event) -> None:
        client = _client(self._port, self._key_of_jobs)
        client.headers["Content-Type"] = "text/csv"
        base_s = int(time.time()) - 86_400
        rows = "".join(f"{base_s + n},v0,v1,{100 + n}\n" for n in range(100))
        while not stop.wait(0.2):
            body, began_s = (
                f"at,source,target,round_trip_us\n{rows}{base_s + 200},v0,v1,{random.random()}",
                time.perf_counter(),
            )
            answer = client.post(f"/v1/meshes/{self._imported}/imports?kind=csv&times=keep", content=body)
            _ended(client, answer.raise_for_status().json()["id"])
            times["jobs"].append(time.perf_counter() - began_s)

    def _alerts(self, times: Times, _: threading.Event) -> None:
        """Slow one of the 15 paths; none is used twice."""
        vm, target = self._live.pairs.pop()
        names = {f"small 0-{at:04}" for at in (vm, target)}
        start_s, earlier = (int(time.time()) // WINDOW_S + 1) * WINDOW_S, len(self._listener.got)
        self._live.slow_down(vm, target, start_s)
        until_s = time.time() + _SLOWEST_S
        while not (
            notices := [at for at, body in self._listener.got[earlier:] if at > start_s and _is_about(body, names)]
        ):
            if time.time() > until_s:
                break
            time.sleep(0.1)
        times["alerts"].append((notices[0] if notices else until_s) - start_s - WINDOW_S)


def _tenant(name: str, meshes: int, vms: int) -> tuple[UUID, list[World]]:
    tenant_id = create_owner(name, f"{uuid4().hex}@bench.example", "correct horse battery").tenant_id
    zones = 1 if meshes > 10 else 3  # a tenant has at most 1,000
    worlds = [make_world(tenant_id, f"{name} {number}", vms, zones) for number in range(meshes)]
    with tenant_session(tenant_id) as session:
        for world in worlds:
            create_default_rules(session, world.mesh_id)
    if name.startswith("matrices"):
        hour = int(time.time()) // 3600
        fill(worlds[0], Tier.HOUR, [3600 * at for at in range(hour - 30 * 24, hour - 1)], 10)
    return tenant_id, worlds


def _is_about(body: dict[str, Any], names: set[str]) -> bool:
    return body["about"] == "opened" and any(name in json.dumps(body) for name in names)


def _client(port: int, key: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=_SLOWEST_S, trust_env=False)


def _ended(client: httpx2.Client, job_id: str) -> None:
    while client.get(f"/v1/jobs/{job_id}").raise_for_status().json()["state"] not in _FINAL:
        time.sleep(0.1)


def _p99(turns: Sequence[Times], kind: str) -> float:
    """Return the median of the p99 of each turn, which a disturbance of one turn does not change."""
    return float(np.median([np.quantile(turn[kind], 0.99) for turn in turns]))


def _shown(turns: Sequence[Times]) -> str:
    return ", ".join(f"{kind} p99 {_p99(turns, kind):.3f} s" for kind in sorted(turns[0]))
