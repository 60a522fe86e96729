"""Ingest on a cluster of Citus against the same server alone, and a tenant that moves between workers under load.

Ingest of four tenants that are spread by tenant, and of one with as many VMs that is spread by VM.

`CLUSTER` is the address of a superuser in a database of the coordinator that knows its workers. All servers must run on
this machine, since their processor time is read from the system.
"""

import os
import time
from dataclasses import replace
from statistics import median

import psycopg

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fleet import Fleet, lost
from lab.benchmarks.storing.ingest import requests, stored_frames
from lab.benchmarks.storing.load import Load
from lab.benchmarks.storing.product import Product, World, running
from lab.external_postgres import ExternalPostgres
from sinemora.access.tenants.service import create_owner
from sinemora.kit.db import _tenant_key
from sinemora.measurements.store.citus import SpreadBy

ADDRESS = "CLUSTER"
TURNS = 3
TENANTS = 4
VMS = 50
WINDOWS = 20
SENDERS = 20
PAUSE_S = 5.0
CONNECTIONS = 512


def cluster() -> None:
    """Measure all of it; without the address print that nothing is measured."""
    url = os.environ.get(ADDRESS)
    if not url:
        comment(f"cluster: not measured. {ADDRESS}=postgresql://postgres@HOST/postgres names a coordinator of Citus")
        return
    spread, alone = ExternalPostgres(url, by=SpreadBy.TENANT), ExternalPostgres(url, spread=False)
    by_vm = ExternalPostgres(url, by=SpreadBy.VM)
    if len(spread.workers) < 2:
        raise SystemExit(f"{ADDRESS}: the coordinator knows {len(spread.workers)} workers, two are needed")
    costs: dict[str, list[tuple[float, float]]] = {"alone": [], "cluster": [], "by_vm": []}
    for _ in range(TURNS):
        for name, server in (("alone", alone), ("cluster", spread), ("by_vm", by_vm)):
            _tenant_key.cache_clear()
            with running(server=server) as product:
                worlds = _meshes(product) if name == "by_vm" else _worlds(product)
                costs[name].append(_cost(product, worlds))
                last = len(costs[name]) == TURNS
                if name == "cluster" and last:
                    _move(product, spread)
                if name == "by_vm" and last:
                    _report_rows(by_vm, worlds)
    for figure, name in (("scale_ingest_ratio_two_workers", "cluster"), ("scale_ingest_ratio_by_vm", "by_vm")):
        ratios = [sum(on) / sum(off) for on, off in zip(costs[name], costs["alone"], strict=True)]
        of_database = [on[1] / off[1] for on, off in zip(costs[name], costs["alone"], strict=True)]
        detail = {
            f"{each}_{part}_ms": round(1000 * median(cost[i] for cost in costs[each]), 3)
            for each in ("alone", name)
            for i, part in enumerate(("api", "databases"))
        }
        figures.report(
            figure,
            median(ratios),
            workers=len(spread.workers),
            cores=os.cpu_count(),
            of_databases=round(median(of_database), 3),
            **detail,
        )


def _worlds(product: Product) -> list[World]:
    """Return a mesh of each of several tenants."""
    owners = [create_owner(f"Cluster {i}", f"cluster-{i}@sinemora.example", product.password) for i in range(TENANTS)]
    return [replace(product, tenant_id=owner.tenant_id).world("mesh", VMS) for owner in owners]


def _meshes(product: Product) -> list[World]:
    """Return as many meshes of one tenant."""
    return [product.world(f"mesh-{i}", VMS) for i in range(TENANTS)]


def _report_rows(server: ExternalPostgres, worlds: list[World]) -> None:
    """Report how the frames of one tenant are divided among the workers."""
    with server.superuser(database="sinemora") as connection:
        rows = connection.execute(
            "SELECT sum(r.result::bigint)::bigint FROM run_command_on_shards('probe_frames', %s) r"
            " JOIN pg_dist_shard_placement p USING (shardid) GROUP BY p.nodename, p.nodeport ORDER BY 1 DESC",
            [f"SELECT count(*) FROM %s WHERE tenant_key = {worlds[0].tenant_key}"],
        ).fetchall()
    counts = [count for (count,) in rows]
    figures.report("scale_tenant_rows_fuller_worker_percent", 100 * counts[0] / sum(counts), rows=counts)


def _cost(product: Product, worlds: list[World]) -> tuple[float, float]:
    """Return the processor seconds of a reported window: of the API, and of all database servers."""
    for end_s, windows, counted in ((23_000, WINDOWS, False), (22_000, WINDOWS, True)):
        # In turns, so that a batch has reports of all tenants.
        by_world = [requests(world, VMS, windows, end_s) for world in worlds]
        sending = [request for together in zip(*by_world, strict=True) for request in together]
        before = sum(map(stored_frames, worlds)), product.cpu_s(), product.database_cpu_s()
        outcome = Load([product.port], sending, connections=CONNECTIONS).wait()
        after = sum(map(stored_frames, worlds)), product.cpu_s(), product.database_cpu_s()
        if outcome.refused or after[0] - before[0] != outcome.acknowledged:
            raise SystemExit(f"{outcome}, but {after[0] - before[0]} frames are stored: acknowledged is not committed")
        if counted:
            comment(f"{outcome.acknowledged / outcome.seconds:,.0f} windows/s with {len(sending):,} windows")
            return (after[1] - before[1]) / len(sending), (after[2] - before[2]) / len(sending)
    raise AssertionError("unreachable")


def _move(product: Product, server: ExternalPostgres) -> None:
    """Move a tenant to the other worker and back while it reports; count the acknowledged windows that are lost.

    With writers blocked: logical replication refuses tables with row-level security.
    """
    owner = create_owner("Moving", "moving@sinemora.example", product.password)
    world = replace(product, tenant_id=owner.tenant_id).world("moving", SENDERS)
    fleet = Fleet(product.port, world).start()
    moves = []
    try:
        time.sleep(PAUSE_S)
        with server.superuser(database="sinemora") as connection:
            began = time.monotonic()
            connection.execute(
                "SELECT isolate_tenant_to_new_shard('probe_frames', %s::integer, 'CASCADE', 'block_writes')",
                [world.tenant_key],
            )
            isolated_s = time.monotonic() - began
            for _ in range(2):
                shard, source, target = _places(connection, world.tenant_key)
                began = time.monotonic()
                connection.execute(
                    "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')", [shard, *source, *target]
                )
                moves.append(round(time.monotonic() - began, 1))
                time.sleep(PAUSE_S)
    finally:
        record = fleet.stop()
    figures.report(
        "scale_move_tenant_lost_windows",
        len(lost(record, world)),
        acknowledged=len(record.acknowledged),
        isolated_s=round(isolated_s, 1),
        moved_s=moves,
        refused_reports=record.refused_reports,
        sent_again=record.sent_again,
    )
    figures.report("scale_move_tenant_slowest_report_s", record.slowest_s)


def _places(connection: psycopg.Connection, tenant_key: int) -> tuple[int, tuple[str, int], tuple[str, int]]:
    """Return the part of the table that has a tenant, the worker it is on and another one, as host and port."""
    row = connection.execute(
        "SELECT s.shardid, n.nodename, n.nodeport, o.nodename, o.nodeport"
        " FROM (SELECT get_shard_id_for_distribution_column('probe_frames', %s::integer) AS shardid) s"
        " JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid)"
        " JOIN pg_dist_node o ON o.shouldhaveshards AND o.nodeid <> n.nodeid ORDER BY o.nodeid LIMIT 1",
        [tenant_key],
    ).fetchone()
    assert row is not None
    shard, source, source_port, target, target_port = row
    return shard, (source, source_port), (target, target_port)
