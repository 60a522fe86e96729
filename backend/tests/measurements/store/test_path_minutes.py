"""Minutes of chosen paths as plain columns: as the API answers of the same minute, of no other path."""

from typing import Any

import psycopg
import pytest

from sinemora.cli import main
from sinemora.measurements import tasks
from sinemora.measurements.store.sql_models import SqlPath
from tests.api_clients import MeshWorld
from tests.measurements.matrices import cells, span
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.store import test_zone_minutes
from tests.measurements.store.test_zone_minutes import FIGURES
from tests.measurements.worlds import silent, simple
from tests.statements import execute, rows

pytestmark = [pytest.mark.whole_store, pytest.mark.agents(4)]


@pytest.fixture
def names(mesh: MeshWorld) -> list[str]:
    return [agent.name for agent in mesh.agents]


def choose(mesh: MeshWorld, *ends: str, action: str = "add") -> int:
    return main(["sql-paths", action, str(mesh.owner.tenant_id), *ends])


def measured(mesh: MeshWorld, ago: int) -> int:
    """Merge a minute of three windows between all VMs, some with losses and one path without an answer; its start."""
    start = window_start(ago, 60)
    _, b, c, d = (agent.vm_key for agent in mesh.agents)
    for n in range(3):
        ours = {b: simple(50_000 + 900 * n, 90_000, lost=n), c: silent(), d: simple(20_000)}
        sent(mesh.agents[0], report_of(mesh.key, ours, start + 10 * n))
        sent(mesh.agents[3], report_of(mesh.key, {b: simple(400_000, 70_000 * n + 1)}, start + 10 * n))
    tasks.roll_up()
    return start


def by_sql(reader: psycopg.Connection, column: str, at: int, view: str = "minutes") -> dict[tuple[str, str], Any]:
    return test_zone_minutes.by_sql(reader, column, at, f"path_{view}")


def test_a_minute_is_that_of_the_matrix(mesh: MeshWorld, names: list[str], reader: psycopg.Connection):
    a, b, c, d = names
    for ends in ((a, b), (c, a), (d, b)):
        assert choose(mesh, *ends) == 0
    start = measured(mesh, 4)
    chosen = {(a, b), (b, a), (a, c), (c, a), (b, d), (d, b)}
    for column, (metric, statistic) in FIGURES.items():
        matrix = cells(mesh, metric=metric, statistic=statistic, **span(start, start + 60))
        expected = {ends: value for ends, value in matrix.items() if ends in chosen}
        assert expected, column
        assert by_sql(reader, column, start) == pytest.approx(expected), column
    assert by_sql(reader, "loss_ratio", start)[a, c] == 1
    assert by_sql(reader, "exchanges", start)[a, c] == 0  # and no delay, which is not zero
    assert (a, c) not in by_sql(reader, "delay_p50_ns", start)
    # A window that came late is merged into it.
    before = by_sql(reader, "exchanges", start)[b, d]
    sent(mesh.agents[1], report_of(mesh.key, {mesh.agents[3].vm_key: simple(900_000)}, start + 50))
    tasks.roll_up()
    assert by_sql(reader, "exchanges", start)[d, b] == before + 8


def test_hours_and_days_are_of_the_minutes(mesh: MeshWorld, names: list[str], reader: psycopg.Connection):
    a, b, *_ = names
    assert choose(mesh, a, b) == 0
    start = measured(mesh, 4)
    for view, step_s in (("hours", 3_600), ("days", 86_400)):
        at = start // step_s * step_s
        assert by_sql(reader, "minutes", at, view) == {(a, b): 1, (b, a): 1}
        for column in ("delay_p99_ns", "clock_error_ns"):
            assert by_sql(reader, f"largest_{column}", at, view) == by_sql(reader, column, start)
        assert by_sql(reader, "loss_ratio", at, view) == by_sql(reader, "loss_ratio", start)


def test_a_path_that_is_left_out_keeps_its_minutes(mesh: MeshWorld, names: list[str], reader: psycopg.Connection):
    a, b, *_ = names
    assert choose(mesh, a, b) == choose(mesh, b, a) == 0  # twice is once
    earlier = measured(mesh, 6)
    assert choose(mesh, b, a, action="remove") == 0
    later = measured(mesh, 4)
    assert by_sql(reader, "exchanges", earlier).keys() == {(a, b), (b, a)}
    assert by_sql(reader, "exchanges", later) == {}


def test_the_choice_ends_with_a_vm(mesh: MeshWorld, names: list[str], reader: psycopg.Connection):
    assert choose(mesh, *names[:2]) == 0
    measured(mesh, 4)
    assert reader.execute("SELECT count(*) FROM sinemora_read.path_minutes").fetchone() == (2,)
    execute("DELETE FROM vms WHERE id = :id", {"id": mesh.agents[0].vm_id})
    assert rows("SELECT * FROM sql_paths") == []
    assert reader.execute("SELECT count(*) FROM sinemora_read.path_minutes").fetchone() == (0,)


def test_what_cannot_be_chosen_is_refused_in_words(
    mesh: MeshWorld, names: list[str], run, monkeypatch: pytest.MonkeyPatch
):
    def refused(*words: str) -> str:
        return run("sql-paths", *words, code=1)

    tenant, (a, b, c, _) = str(mesh.owner.tenant_id), names
    assert "unknown tenant: nobody" in refused("add", "nobody", a, b)
    assert "has no VM no-1 and no VM no-2" in refused("add", tenant, "no-1", "no-2")
    assert "a path is between two VMs" in refused("add", tenant, a, a)
    assert "is no path for SQL. See: sinemora sql-paths list" in refused("remove", tenant, a, b)
    monkeypatch.setattr(SqlPath, "rows_max", 1)
    assert choose(mesh, b, a) == choose(mesh, a, b) == 0
    assert "has 1 paths for SQL, the most there are" in refused("add", tenant, a, c)
    assert [a, b] == run("sql-paths", "list").splitlines()[-1].split()[-2:]
    entries = mesh.owner.get("/v1/audit-entries").json()["items"]
    assert (entries[0]["action"], entries[0]["subject_name"]) == ("sql_path.chosen", f"{b} - {a}")
