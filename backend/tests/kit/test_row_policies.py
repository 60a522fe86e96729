"""Policies of row-level security in the form that a cluster accepts."""

import pytest
from sqlalchemy import text

from sinemora.kit.row_policies import prepare_to_distribute, without_subqueries
from sinemora.measurements.store import citus


def test_a_subquery_that_reads_a_table_is_refused():
    with pytest.raises(ValueError, match="not a condition about one row"):
        without_subqueries("EXISTS (SELECT 1 FROM vms WHERE key = vm_key)")


def test_a_table_that_is_spread_keeps_the_limit_to_meshes_without_a_restrictive_policy(servers):
    with servers.owner_engine.connect() as connection:
        tables = citus.tables(connection)
        assert {"probe_frames", "probe_frames_1d", "zone_frames_1m", "path_latest", "spikes"} <= tables.keys()
        assert {"rosters", "rollup_marks", "aged_objects", "vm_traffic", "meshes"}.isdisjoint(tables)
        for table in tables:
            if connection.scalar(
                text("SELECT count(*) FROM pg_policies WHERE tablename = :t AND permissive = 'RESTRICTIVE'"),
                {"t": table},
            ):
                prepare_to_distribute(connection, table)
            policies = connection.execute(
                text(
                    "SELECT policyname, permissive, qual FROM pg_policies"
                    " WHERE schemaname = 'public' AND tablename = :t"
                ),
                {"t": table},
            ).all()
            assert {row.permissive for row in policies} == {"PERMISSIVE"}
            assert not any("SELECT" in row.qual for row in policies)
            (tenant,) = [row.qual for row in policies if row.policyname == "tenant"]
            assert "sinemora.tenant_key" in tenant
            assert "sinemora.mesh_keys" in tenant
        connection.rollback()
