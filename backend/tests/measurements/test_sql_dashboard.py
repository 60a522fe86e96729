"""The dashboard by SQL plots what the zone matrix says, with the queries that Grafana sends."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from sinemora.measurements import tasks
from tests.api_clients import Member, MeshWorld
from tests.measurements.matrices import cells, span
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple

pytestmark = pytest.mark.whole_store

FOLDER = Path(__file__).parents[3] / "infra" / "dashboards"
DASHBOARD = json.loads((FOLDER / "sinemora-zones-sql.json").read_text("utf-8"))
PANELS = DASHBOARD["panels"]
QUERIES = [one for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
STEPS_S = {"1m": 60, "5m": 300, "1h": 3_600, "1d": 86_400}
NAME = "Acme's mesh"
MINUTES = (12, 11, 9)  # ago; none ten minutes ago


@pytest.fixture
def mesh(owner: Member, make_mesh: Any) -> MeshWorld:
    mesh = make_mesh(owner, 3, NAME)
    a, b, c = mesh.agents
    for ago in MINUTES:
        peers = {b.vm_key: simple(40_000 + 1_000 * ago, 90_000), c.vm_key: simple(150_000, lost=ago)}
        sent(a, report_of(mesh.key, peers, window_start(ago, 60)))
    tasks.roll_up()
    return mesh


def as_grafana_sends(query: str, start_s: int, end_s: int, **variables: str) -> str:
    """Expand variables and macros of a query as Grafana's data source for PostgreSQL does, without TimescaleDB's.

    A variable with one value is put in with its quotes doubled.
    """
    step_s = STEPS_S[variables.get("__interval", "1m")]
    span = [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for at in (start_s, end_s)]
    milliseconds = {"__from": f"{start_s}000", "__to": f"{end_s}000"}
    for name, value in ({"percentile": "p99"} | milliseconds | variables).items():
        query = query.replace(f"${{{name}}}", value)
        query = re.sub(rf"\${name}\b", lambda _, value=value: value, query)
    query = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 BETWEEN '{span[0]}' AND '{span[1]}'", query)
    query = re.sub(
        r"\$__timeGroupAlias\((\w+), (\w+), NULL\)",
        rf'floor(extract(epoch from \1)/{step_s})*{step_s} AS "time"',
        query,
    )
    assert "$" not in query, query
    return query


def answer_of(
    reader: psycopg.Connection, panel: dict[str, Any], minutes: int = 60, **more: str
) -> list[dict[str, Any]]:
    """Return the rows of a panel over the newest minutes; its steps are those that the dashboard takes for them."""
    (target,) = panel["targets"]
    span = window_start(minutes, 60), window_start(0, 60)
    found = {one["name"]: reader.execute(as_grafana_sends(one["query"], *span)).fetchone() for one in QUERIES}
    variables = {name: str(row[0]) for name, row in found.items() if row} | {"mesh": NAME.replace("'", "''")}
    if "interval" in panel:
        more = {"__interval": as_grafana_sends(panel["interval"], *span, **variables)} | more
    cursor = reader.execute(as_grafana_sends(target["rawSql"], *span, **variables, **more))
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def test_every_panel_has_an_answer_in_the_form_that_it_plots(mesh: MeshWorld, reader: psycopg.Connection):
    for panel in PANELS:
        for percentile in ("p50", "p90", "p99"):
            rows = answer_of(reader, panel, percentile=percentile)
            assert rows, panel["title"]
            if panel["type"] == "stat":
                assert len(rows) == len(rows[0]) == 1
                assert next(iter(rows[0].values())) is not None, panel["title"]
            if panel["type"] == "timeseries":
                assert panel["targets"][0]["format"] == "time_series"
                assert [*rows[0]][:2] == ["time", "metric"]
                assert len(rows[0]) == 3
                assert {row["metric"] for row in rows} == {"a → b", "b → a", "a → c", "c → a"}
    (mesh_variable,) = (one for one in QUERIES if one["name"] == "mesh")
    assert reader.execute(mesh_variable["query"]).fetchall() == [(NAME,)]


def test_a_point_is_the_value_of_its_minute_in_the_zone_matrix(mesh: MeshWorld, reader: psycopg.Connection):
    for title, metric in (("One-way delay", "one_way_delay"), ("Round trip", "round_trip"), ("Loss", "loss")):
        (panel,) = (one for one in PANELS if one["title"] == title and one["type"] == "timeseries")
        points = {(row["metric"], int(row["time"])): [*row.values()][2] for row in answer_of(reader, panel)}
        assert {at for _, at in points} == {window_start(ago, 60) for ago in MINUTES}  # the others are gaps
        for ago in MINUTES:
            at = window_start(ago, 60)
            wanted = cells(mesh, by="zone", metric=metric, statistic="p99", **span(at, at + 60))
            assert {f"{source} → {target}": value for (source, target), value in wanted.items()} == pytest.approx(
                {path: value for (path, minute), value in points.items() if minute == at}
            )


def test_longer_steps_show_the_largest_percentile_of_their_minutes(mesh: MeshWorld, reader: psycopg.Connection):
    (panel,) = (one for one in PANELS if one["title"] == "One-way delay")
    fine = {(row["metric"], int(row["time"])): row["delay"] for row in answer_of(reader, panel)}
    days = 24 * 60
    for minutes, interval in (
        (60, "5m"),
        (4 * days - 1, "5m"),
        (4 * days, "1h"),
        (99 * days, "1h"),
        (100 * days, "1d"),
    ):
        for row in answer_of(reader, panel, minutes, **({"__interval": "5m"} if interval == "5m" else {})):
            start, step_s = int(row["time"]), STEPS_S[interval]
            within = [
                value for (pair, at), value in fine.items() if pair == row["metric"] and start <= at < start + step_s
            ]
            assert row["delay"] == max(within), interval


def test_long_ranges_are_read_from_hours_and_days(mesh: MeshWorld, reader: psycopg.Connection):
    for panel in PANELS:
        for days in (4, 100):
            assert answer_of(reader, panel, days * 24 * 60), panel["title"]
    (panel,) = (one for one in PANELS if one["title"] == "Loss" and one["type"] == "stat")
    losses = [answer_of(reader, panel, minutes)[0]["loss"] for minutes in (60, 4 * 24 * 60, 100 * 24 * 60)]
    assert losses == pytest.approx([losses[0]] * 3)
    assert 0 < losses[0] < 1


def test_every_query_is_for_the_provisioned_source():
    source = yaml.safe_load((FOLDER / "provisioning" / "datasources-sql.yaml").read_text("utf-8"))["datasources"][0]
    asks = [*PANELS, *(target for panel in PANELS for target in panel["targets"]), *QUERIES]
    assert {(one["datasource"]["type"], one["datasource"]["uid"]) for one in asks} == {(source["type"], source["uid"])}
    # The macros of Grafana need TimescaleDB's functions only where the source says that it is there.
    assert source["jsonData"]["timescaledb"] is False
