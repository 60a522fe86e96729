"""The command `sinemora distribute`: on a cluster, where it ran before the tests, and without one."""

import pytest
from sqlalchemy import text

from sinemora.kit import cluster
from sinemora.measurements.store import citus
from sinemora.measurements.store.citus import DistributionError, SpreadBy
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple

KEYS = {
    "corrections": ["tenant_key", "mesh_key", "started_at"],
    "path_latest": ["tenant_key", "mesh_key", "vm_key", "block"],
    "spikes": ["tenant_key", "mesh_key", "started_at", "source_key", "target_key"],
    "zone_frames_1d": ["tenant_key", "mesh_key", "started_at", "zone_key", "block"],
}
BY_VM = {"corrections": "tenant_key", "path_latest": "vm_key", "spikes": "source_key", "zone_frames_1d": "zone_key"}
BY_TENANT = dict.fromkeys(KEYS, "tenant_key")


def test_a_table_is_spread_by_the_column_of_its_key_that_reported():
    assert {table: citus.column_of(key, SpreadBy.VM) for table, key in KEYS.items()} == BY_VM
    assert {table: citus.column_of(key, SpreadBy.TENANT) for table, key in KEYS.items()} == BY_TENANT


def test_every_table_of_frames_spikes_and_newest_windows_has_such_a_column(servers):
    with servers.owner_engine.connect() as connection:
        keys = citus.tables(connection)
    by_tenant = {table for table, key in keys.items() if citus.column_of(key, SpreadBy.VM) == cluster.TENANT}
    assert by_tenant == {"corrections", "path_latest_meshes"}
    assert len(keys) >= 14


@pytest.mark.parametrize(
    ("by", "spread", "chosen"),
    [
        (None, {}, SpreadBy.TENANT),
        (SpreadBy.VM, {}, SpreadBy.VM),
        (None, BY_TENANT, SpreadBy.TENANT),
        (None, BY_VM, SpreadBy.VM),
        (SpreadBy.VM, BY_VM, SpreadBy.VM),
        # An interrupted run may have left the one table that is spread by tenant either way.
        (SpreadBy.VM, {"corrections": "tenant_key"}, SpreadBy.VM),
        (None, {"corrections": "tenant_key"}, SpreadBy.TENANT),
    ],
)
def test_a_second_run_continues_with_the_key_of_the_first(by, spread, chosen):
    assert citus.choose(by, spread, KEYS) is chosen


@pytest.mark.parametrize(
    ("by", "spread", "message"),
    [
        (SpreadBy.VM, BY_TENANT, "spread by tenant already.*--by tenant"),
        (SpreadBy.TENANT, BY_VM, "spread by VM already.*--by vm"),
        (None, {"spikes": "target_key"}, "neither by tenant nor by VM: spikes by target_key"),
        (None, BY_VM | {"spikes": "tenant_key"}, "neither.*path_latest by vm_key, spikes by tenant_key"),
    ],
)
def test_keys_are_not_mixed(by, spread, message):
    with pytest.raises(DistributionError, match=message):
        citus.choose(by, spread, KEYS)


def test_the_command_says_how_measurements_are_spread(servers, run):
    workers = getattr(servers.postgres, "workers", [])
    before = _settings(servers)
    if not workers:
        assert "the extension citus is not in this database" in run("distribute", code=1)
    else:
        by = servers.postgres.by
        other = SpreadBy.VM if by is SpreadBy.TENANT else SpreadBy.TENANT
        assert f"spread by {by.label} already" in run("distribute", "--by", other, code=1)
        assert run("distribute") == f"0 tables are spread now, by {by.label}.\n"
    assert _settings(servers) == before


def test_rows_of_one_tenant_are_on_one_worker_or_its_vms_on_all(servers, owner, make_mesh):
    mesh = make_mesh(owner, 16)
    keys = {agent.vm_key for agent in mesh.agents}
    for agent in mesh.agents:
        for ago in (1, 2):
            peers = {key: simple(50_000) for key in keys - {agent.vm_key}}
            sent(agent, report_of(mesh.key, peers, window_start(ago)))
    workers = getattr(servers.postgres, "workers", [])
    for table, rows in (("path_latest", 16), ("probe_frames", 32)):
        found = _places(servers, table, mesh.key)
        if not workers:
            assert found == {}
        elif servers.postgres.by is SpreadBy.TENANT:
            assert list(found.values()) == [rows]
        else:
            assert sum(found.values()) == rows
            assert len(found) == len(workers) > 1
    answer = owner.get(f"/v1/meshes/{mesh.id}/matrix").json()
    known = sum(value is not None for row in answer["values"] for value in row)
    assert known == 16 * 15


def _settings(servers) -> list[list[str]]:
    with servers.owner_engine.connect() as connection:
        return list(
            connection.scalars(
                text(
                    "SELECT setconfig FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase"
                    " WHERE setrole = 0 AND datname = current_database()"
                )
            )
        )


def _places(servers, table: str, mesh_key: int) -> dict[int, int]:
    """Return the number of rows of a mesh on each worker that has some; none without a cluster."""
    if not getattr(servers.postgres, "workers", []):
        return {}
    with servers.postgres.superuser(database="sinemora") as connection:
        rows = connection.execute(
            "SELECT p.nodeport, sum(r.result::int)::int FROM run_command_on_shards(%s, %s) r"
            " JOIN pg_dist_shard_placement p USING (shardid) GROUP BY 1 HAVING sum(r.result::int) > 0",
            [table, f"SELECT count(*) FROM %s WHERE mesh_key = {mesh_key}"],
        ).fetchall()
    return dict(rows)
