"""The command `sinemora distribute`, where there is no cluster."""

import pytest
from sqlalchemy import text

from sinemora import cli
from sinemora.kit import cluster


def test_without_a_cluster_nothing_changes(servers, capsys):
    with servers.owner_engine.connect() as connection:
        if cluster.version(connection) is not None:
            pytest.skip("the database is a cluster, and its measurements are spread already")
    assert cli.main(["distribute"]) == 1
    assert "the extension citus is not in this database" in capsys.readouterr().err
    with servers.owner_engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM pg_db_role_setting WHERE setrole = 0")) == 0
