"""What Prometheus scrapes and Grafana plots is what the zone matrix says."""

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import pyarrow as pa
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from sinemora.kit.db import tenant_session
from sinemora.measurements import tasks
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.prometheus import remote_read, samples
from sinemora.measurements.query.matrix.compute import json_of, read_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.schemas import Axis, By
from tests.api_clients import Caller, body_of, key_of
from tests.measurements.matrices import cells
from tests.measurements.reports import report_of, sent, sent_together, window_start
from tests.measurements.worlds import simple
from tests.statements import call

pytestmark = pytest.mark.whole_store

PANEL_S = 4 * 3600
DASHBOARD = Path(__file__).parents[4] / "infra" / "dashboards" / "sinemora-zones.json"


@pytest.fixture
def mesh(owner, make_mesh):
    mesh = make_mesh(owner, 3)
    for minutes in (10, 9, 8):
        sent(mesh.agents[0], report_of(mesh.key, peers(mesh, 80_000), window_start(minutes, 60)))
    sent(mesh.agents[0], report_of(mesh.key, peers(mesh, 50_000)))
    tasks.roll_up()
    return mesh


def peers(mesh, delay_ns):
    return {mesh.agents[1].vm_key: simple(delay_ns, 30_000), mesh.agents[2].vm_key: simple(delay_ns * 2, lost=2)}


@pytest.fixture
def key(owner):
    return key_of(owner, "read")


def asked(caller, path, **params):
    body = body_of(caller.get(f"/v1/prometheus/api/v1/{path}", params=params))
    assert body["status"] == "success"
    return body["data"]


def test_a_scrape_is_the_newest_zone_matrix(owner, mesh, key):
    answer = key.get("/v1/prometheus/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert {family.type for family in families.values()} == {"gauge", "summary"}
    for name, metric, statistic, scale in (
        ("sinemora_zone_delay_seconds", "one_way_delay", "p99", 1e-9),
        ("sinemora_zone_loss_ratio", "loss", "p50", 1),
    ):
        result = {
            (family.labels["source_zone"], family.labels["target_zone"]): family.value
            for family in families[name].samples
            if family.labels.get("quantile", "0.99") == "0.99"
        }
        expected = cells(mesh, by="zone", metric=metric, statistic=statistic)
        assert len(expected) > 3
        assert result == pytest.approx({pair: value * scale for pair, value in expected.items()})


def test_agents_that_stopped_have_no_samples(owner, make_mesh, key):
    mesh = make_mesh(owner, 3)
    sent(mesh.agents[0], report_of(mesh.key, peers(mesh, 50_000), window_start(5, 60)))
    assert cells(mesh, by="zone", metric="loss")  # stale, as its cells say
    assert 'mesh="demo"' not in key.get("/v1/prometheus/metrics").text
    assert asked(key, "query", query="sinemora_zone_loss_ratio")["result"] == []


def test_two_zones_of_one_name_are_two(owner, mesh, key):
    (here,) = [one for one in owner.get("/v1/zones").json()["items"] if one["name"] == "a"]
    there = owner.created("/v1/zones", {"provider": here["provider"], "region": "elsewhere", "name": "a"})
    (moved,) = [one["id"] for one in owner.get("/v1/vms").json()["items"] if one["name"] == "b-1"]
    body_of(owner.patch(f"/v1/vms/{moved}", json={"zone_id": there["id"]}, headers={"If-Match": "*"}))
    found = asked(key, "query", query='sinemora_zone_delay_seconds{quantile="0.5"}')["result"]
    ends = [
        tuple(
            "/".join(one["metric"][f"{end}_{part}"] for part in ("provider", "region", "zone"))
            for end in ("source", "target")
        )
        for one in found
    ]
    assert len(ends) == len(set(ends)) > 3
    one, other, c = (
        f"{zone['provider']}/{zone['region']}/{zone['name']}" for zone in (here, there, here | {"name": "c"})
    )
    assert {(one, other), (other, one), (one, c)} <= set(ends)
    query = 'sinemora_zone_delay_seconds{quantile="0.5",source_region="elsewhere"}'
    assert {item["metric"]["source_zone"] for item in asked(key, "query", query=query)["result"]} == {"a"}


def test_a_zone_that_is_deleted_meanwhile_keeps_its_name(owner):
    (zone,) = call(samples.zones_of, [Axis(id=uuid4(), name="gone")], tenant=owner.tenant_id)
    assert (zone.name, zone.region, zone.provider) == ("gone", "", "")


def test_a_query_now_is_the_newest_matrix(owner, mesh, key):
    data = asked(key, "query", query='sinemora_zone_delay_seconds{quantile="0.5",source_zone="a"} * 1e9')
    assert data["resultType"] == "vector"
    result = {item["metric"]["target_zone"]: float(item["value"][1]) for item in data["result"]}
    of_zones = cells(mesh, by="zone", metric="one_way_delay", statistic="p50")
    expected = {target: value for (source, target), value in of_zones.items() if source == "a"}
    assert result == pytest.approx(expected)
    assert asked(key, "query", query="1+1") == {
        "resultType": "scalar",
        "result": [pytest.approx(time.time(), abs=60), "2.0"],
    }


def test_labels_series_and_metadata(mesh, key):
    assert asked(key, "label/mesh/values") == ["demo"]
    assert asked(key, "label/source_zone/values") == ["a", "b", "c"]
    assert "sinemora_zone_loss_ratio" in asked(key, "label/__name__/values")
    of_ends = {f"{end}_{part}" for end in ("source", "target") for part in ("provider", "region", "zone")}
    assert {"__name__", "mesh", "quantile"} | of_ends == set(asked(key, "labels"))
    result = asked(key, "series", **{"match[]": 'sinemora_zone_loss_ratio{source_zone="a"}'})
    assert {entry["target_zone"] for entry in result} == {"b", "c"}
    assert asked(key, "metadata")["sinemora_zone_delay_seconds"][0]["type"] == "summary"
    assert asked(key, "status/buildinfo")["version"]


def test_a_prometheus_reads_samples_by_minute_and_where_a_series_ends(owner, mesh, key):
    request, response = (remote_read._MESSAGES[name] for name in ("ReadRequest", "ReadResponse"))
    asked_for, now_s = request(), int(time.time())
    asked_for.queries.add(start_timestamp_ms=(now_s - 3600) * 1000, end_timestamp_ms=now_s * 1000)
    for kind, name, value in (
        (0, "__name__", "sinemora_zone_delay_seconds"),
        (2, "quantile", "0.5|x"),
        (1, "mesh", ""),
    ):
        asked_for.queries[0].matchers.add(type=kind, name=name, value=value)
    packed = pa.compress(asked_for.SerializeToString(), codec="snappy", asbytes=True)
    answer = key.post("/v1/prometheus/api/v1/read", content=packed)
    assert (answer.status_code, answer.headers["content-encoding"]) == (200, "snappy"), answer.text
    [result] = response.FromString(remote_read._unpacked(answer.content)).results
    found = {
        (labels["source_zone"], labels["target_zone"]): [(one.timestamp // 1000, one.value) for one in series.samples]
        for series in result.timeseries
        for labels in [{label.name: label.value for label in series.labels}]
    }
    ranged = asked(
        key, "query_range", query='sinemora_zone_delay_seconds{quantile="0.5"}', step=60,
        start=now_s // 60 * 60 - 3600, end=now_s // 60 * 60,
    )["result"]  # fmt: skip
    for one in ranged:
        values = [(int(at), float(value)) for at, value in one["values"]]
        samples = found[one["metric"]["source_zone"], one["metric"]["target_zone"]]
        assert [sample for sample in samples if sample[1] == sample[1]] == values
        # The minutes 10 to 8 ago, and the end of the series once.
        [(end, _)] = [sample for sample in samples if sample[1] != sample[1]]
        assert end == [at for at, _ in values if at < now_s - 300][-1] + 60
    assert key.post("/v1/prometheus/api/v1/read", content=b"no request").status_code == 400


WRONG = [
    ("query", {}, "query is missing"),
    ("query", {"query": "rate(x)"}, "rate"),
    ("query", {"query": "1", "time": "noon"}, "invalid time"),
    ("query_range", {"query": "1", "start": 0, "end": 1e9, "step": 1}, "a step of at least 90918 s"),
    ("query_range", {"query": "1", "start": 10, "end": 0, "step": 1}, "before start"),
    ("query_range", {"query": "1", "start": 0, "end": 10, "step": "0"}, "invalid step"),
    ("query_range", {"query": " + ".join(["{}"] * 40), "start": 0, "end": 1e5, "step": 10}, "2000000 allowed"),
    ("series", {"match[]": "1+1"}, "not a selector"),
]


def test_what_is_wrong_is_said_as_prometheus_says_it(mesh, key):
    for path, params, words in WRONG:
        answer = key.get(f"/v1/prometheus/api/v1/{path}", params=params)
        assert answer.status_code == 400
        assert answer.json()["status"] == "error"
        assert answer.json()["errorType"] == "bad_data"
        assert words in answer.json()["error"]


def provisioned(name: str) -> dict:
    result = yaml.safe_load((DASHBOARD.parent / "provisioning" / f"{name}.yaml").read_text())
    assert result["apiVersion"] == 1
    ((one),) = result["datasources" if name == "datasources" else "providers"]
    return one


def test_the_provisioned_source_plots_every_panel_as_grafana_asks_it(owner, mesh, key):
    """Grafana posts forms to the address of its source, with the header that it is provisioned with."""
    source = provisioned("datasources")
    assert (source["type"], source["access"], source["jsonData"]["httpMethod"]) == ("prometheus", "proxy", "POST")
    address = source["url"].replace("${SINEMORA_URL}", "")
    secret = key.headers["Authorization"].removeprefix("Bearer ")
    value = source["secureJsonData"]["httpHeaderValue1"].replace("${SINEMORA_API_KEY}", secret)
    grafana = Caller(owner.http, headers={source["jsonData"]["httpHeaderName1"]: value})
    end = window_start(7, 60) + 60
    dashboard = json.loads(DASHBOARD.read_text())
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["definition"]).groups()
            assert asked(key, f"label/{label}/values", **{"match[]": name}) == ["demo"]
    for panel in dashboard["panels"]:
        assert panel["datasource"]["uid"] == source["uid"]
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == source["uid"]
            query = target["expr"].replace("$mesh", "demo").replace("$quantile", "0.99")
            form = urlencode({"query": query, "start": end - 300, "end": end, "step": 60})
            series = body_of(
                grafana.post(
                    f"{address}/api/v1/query_range",
                    content=form.encode(),
                    headers={"Content-Type": "application/x-www-form-urlencoded"},
                )
            )["data"]["result"]
            assert series, query
            labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert all(labels <= sery["metric"].keys() for sery in series), query


@pytest.mark.parametrize("file", sorted(DASHBOARD.parent.glob("*.json")), ids=lambda file: file.name)
def test_a_dashboard_is_one_that_grafana_takes(file: Path):
    dashboard = json.loads(file.read_text())
    assert provisioned("dashboards")["type"] == "file"
    assert {"uid", "title", "schemaVersion", "time", "refresh", "templating", "panels"} <= dashboard.keys()
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_dashboard_has_units_and_uses_its_variables():
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    assert {panel["fieldConfig"]["defaults"]["unit"] for panel in panels} == {"s", "percentunit"}
    used = set(re.findall(r"\$(\w+)", json.dumps([panel["targets"] for panel in panels])))
    assert used == {variable["name"] for variable in dashboard["templating"]["list"]}


def at_points(mesh, end_s, step_s, metric, statistic):
    """Return the values of the zone matrix over steps of the four hours before `end_s`, by pair and point.

    Of steps of a minute, every fourth: each is a read of its own, and longer steps read the minutes between.
    """
    found = {}
    with tenant_session(mesh.owner.tenant_id) as session:
        for at in range(end_s - PANEL_S, end_s + 1, 4 * step_s if step_s == 60 else step_s):
            start, end = (datetime.fromtimestamp(time_s, UTC) for time_s in (at - step_s, at))
            query = MatrixRequest(by=By.ZONE, metric=metric, statistic=statistic, from_=start, to=end)
            body = json_of(read_matrix(session, mesh.id, query), query)
            names = [axis.name for axis in body.axis]
            for source, row in zip(names, body.values, strict=True):
                for target, value in zip(names, row, strict=True):
                    if value is not None:
                        found[source, target, at] = value
    return found


def of_series(data):
    return {
        (one["metric"]["source_zone"], one["metric"]["target_zone"], at): float(value)
        for one in data["result"]
        for at, value in one["values"]
    }


@pytest.fixture
def hours(owner, make_mesh):
    """Three zones, measured each minute of the last hours, with a gap and one window that is not merged yet."""
    mesh = make_mesh(owner, 3)
    minutes = [*range(300, 200, -1), *range(150, 1, -1)]
    newest = window_start(0, 60)
    measured = [(mesh.agents[0], peers(mesh, 50_000 + 1000 * (ago % 60)), newest - 60 * ago) for ago in minutes]
    sent_together(mesh.key, measured)
    tasks.roll_up()
    sent(mesh.agents[0], report_of(mesh.key, peers(mesh, 70_000), window_start(1, 60)))
    return mesh


RANGES = [
    ('sinemora_zone_delay_seconds{quantile="0.9"}', Metric.ONE_WAY_DELAY, Statistic.P90, 1e-9),
    ('sinemora_zone_round_trip_seconds{quantile="0.5"}', Metric.ROUND_TRIP, Statistic.P50, 1e-9),
    ('sinemora_zone_asymmetry_seconds{quantile="0.5"}', Metric.ASYMMETRY, Statistic.P50, 1e-9),
    ("sinemora_zone_loss_ratio", Metric.LOSS, Statistic.P50, 1),
    ("sinemora_zone_clock_error_seconds", Metric.CLOCK_ERROR, Statistic.P50, 1e-9),
]


def test_a_range_is_the_zone_matrix_of_each_step(hours, key):
    """One mesh for all steps and metrics. The finest step is most of the work, and reads what the longer ones read."""
    hour_s = int(time.time()) // 3600 * 3600
    for step_s, ranges in ((60, RANGES[:1]), (420, RANGES), (3600, RANGES)):
        end_s = hour_s + (0 if step_s > 60 else 3600)
        for name, metric, statistic, scale in ranges:
            data = asked(key, "query_range", query=name, start=end_s - PANEL_S, end=end_s, step=step_s)
            result, asked_at_s = of_series(data), time.time()
            whole = {
                place: value * scale
                for place, value in at_points(hours, end_s, step_s, metric, statistic).items()
                if place[2] <= asked_at_s
            }
            assert len(whole) > 4, (name, step_s)
            assert {place: result.get(place) for place in whole} == pytest.approx(whole), (name, step_s)


def test_a_wide_panel_has_all_points_of_its_step(hours, key):
    for hours_back, step_s, points in ((24, 15, 5_761), (720, 3600, 721), (45, 15, 10_801), (26_280, 86_400, 1_096)):
        end_s = int(time.time()) // 3600 * 3600
        start_s = end_s - hours_back * 3600
        began = time.process_time()
        query = 'sinemora_zone_delay_seconds{mesh="demo",quantile="0.99"} * 1e6'
        data = asked(key, "query_range", query=query, start=start_s, end=end_s, step=step_s)
        assert time.process_time() - began < 10  # a hundredth of it is enough
        # A day has a value once it is whole (UTC); the mesh has hours only.
        assert data["result"] or step_s == 86_400, step_s
        for one in data["result"]:
            times = [at for at, _ in one["values"]]
            assert len(times) <= points
            assert all((at - start_s) % step_s == 0 for at in times)
        found = {at for one in data["result"] for at, _ in one["values"]}
        assert found <= {start_s + n * step_s for n in range(points)}
        scalar = asked(key, "query_range", query="1", start=start_s, end=end_s, step=step_s)
        assert len(scalar["result"][0]["values"]) == points


def test_points_within_a_minute_repeat_its_value(hours, key):
    end_s = window_start(5, 60)
    query = 'sinemora_zone_delay_seconds{quantile="0.5",source_zone="a",target_zone="b"}'
    (series,) = asked(key, "query_range", query=query, start=end_s - 120, end=end_s, step="15s")["result"]
    values = [value for _, value in series["values"]]
    assert len(values) == 9
    assert len(set(values)) == 3
    assert values[:4] == [values[0]] * 4
