"""Curves through HTTP: whose they are, what is kept, and what is said about measurements that cannot be used."""

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sinemora.applications.curves.core.library import LIBRARY, published
from sinemora.kit.db import tenant_session
from tests.api_clients import Caller, Member, body_of, code_of, place_of
from tests.statements import rows

AT_US = [0, 20, 40, 60, 100, 150, 250, 400, 600, 800, 1000]
STRADS = published("strads-lasso").curve
CSV = "# 6 workers\nadded_us,rate,spread\n" + "".join(
    f"{at},{50_000 * float(STRADS(at)):.1f},{500 + at % 7}\n" for at in AT_US
)
ROWS = [{"latency_us": at, "performance": 50_000 * float(STRADS(at))} for at in AT_US]
RISING = [{"latency_us": 100 * n, "performance": 10 + max(n - 1, 0)} for n in range(12)]
TEXT_CSV = {"Content-Type": "text/csv"}


def made(owner: Member, name: str = "lasso") -> dict:
    return owner.created("/v1/curves", {"name": name, "unit": "rounds/s", "source": "six workers", "rows": ROWS})


def listed(caller: Caller, **params) -> list[dict]:
    return caller.get("/v1/curves", params=params).json()["items"]


def test_everybody_sees_the_published_curves(owner: Member, other_owner: Member):
    made(owner)
    assert [one["id"] for one in listed(other_owner)] == [one.key for one in LIBRARY]
    assert {one["origin"] for one in listed(other_owner)} == {"published"}
    assert [one["name"] for one in listed(owner)] == ["lasso", *(one.name for one in LIBRARY)]
    assert [one["name"] for one in listed(owner, origin="own")] == ["lasso"]
    assert len(listed(owner, origin="published")) == len(LIBRARY)


def test_pages_run_from_own_to_published(owner: Member):
    for name in ("b", "a", "c"):
        made(owner, name)
    seen, cursor = [], None
    while True:
        page = owner.get("/v1/curves", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        assert len(page["items"]) <= 2
        seen += [one["name"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["a", "b", "c", *(one.name for one in LIBRARY)]
    assert owner.get("/v1/curves", params={"cursor": "bm9uc2Vuc2U"}).json()["code"] == "cursor_invalid"


@pytest.mark.parametrize("entry", LIBRARY[:2], ids=lambda entry: entry.key)
def test_a_published_curve_is_read_by_its_key(owner: Member, entry):
    curve = owner.get(f"/v1/curves/{entry.key}").json()
    assert (curve["id"], curve["newest"], curve["unit"]) == (entry.key, 1, entry.metric)
    assert curve["version"]["formula"] == entry.formula
    stated = [(one["words"], one["curve"]) for one in curve["version"]["stated"]]
    assert stated == [(one.words, float(entry.curve(one.added_us))) for one in entry.stated]
    table = owner.get(f"/v1/curves/{entry.key}/points").json()
    assert table["added_us"][-1] == entry.curve.end_us
    assert table["performance"] == entry.curve(table["added_us"]).tolist()
    assert (np.array(table["low"]) <= np.array(table["performance"]) + 1e-9).all()
    assert np.subtract(table["high"], table["low"]).max() > 0.02
    band = curve["version"]["band"]
    assert (band["origin"], band["latency_factor"]) == ("transfer", 2)
    assert "other hardware" in band["words"]
    assert len(owner.get(f"/v1/curves/{entry.key}/versions").json()["items"]) == 1


def test_what_was_measured_is_fitted_and_kept(owner: Member):
    curve = made(owner)
    assert curve == owner.get(f"/v1/curves/{curve['id']}").json()
    version = curve["version"]
    assert (version["number"], version["source"], version["made_by"]) == (1, "six workers", owner.email)
    assert (version["rows"], version["domain_us"], version["baseline"]) == (11, 1000, 50_000)
    assert version["family"] == version["candidates"][0]["family"]
    assert "prediction of 11 samples" in version["reason"]
    assert [sample["added_us"] for sample in version["samples"]] == AT_US
    for sample in version["samples"]:
        assert sample["residual"] == pytest.approx(sample["performance"] - sample["fitted"])
    table = owner.get(f"/v1/curves/{curve['id']}/points?step_us=50").json()
    assert table["added_us"] == list(range(0, 1001, 50))
    assert table["performance"] == pytest.approx(STRADS(table["added_us"]).tolist(), abs=0.02)
    for low, middle, high in zip(table["low"], table["performance"], table["high"], strict=True):
        assert 0 < low <= middle <= high <= 1


def test_a_csv_file_is_the_whole_body(owner: Member):
    curve = body_of(owner.post("/v1/curves?name=lasso&unit=rounds/s&source=lab", content=CSV, headers=TEXT_CSV))
    assert (curve["name"], curve["unit"], curve["metric"], curve["version"]["source"]) == (
        "lasso",
        "rounds/s",
        "rate",
        "lab",
    )
    assert all(sample["error"] for sample in curve["version"]["samples"])
    more = owner.post(f"/v1/curves/{curve['id']}/versions", content=CSV, headers=TEXT_CSV)
    assert (more.status_code, more.json()["version"]["number"]) == (201, 2)


def test_versions_are_added_and_never_changed(owner: Member):
    curve = made(owner)
    path = f"/v1/curves/{curve['id']}"
    answer = owner.post(f"{path}/versions", json={"csv": CSV, "source": "again"})
    assert (answer.status_code, answer.json()["newest"]) == (201, 2)
    assert [one["number"] for one in owner.get(f"{path}/versions").json()["items"]] == [2, 1]
    first = owner.get(f"{path}?number=1").json()
    assert first["version"] == curve["version"]
    assert first["newest"] == 2
    assert owner.get(path).json()["version"]["source"] == "again"
    assert owner.get(f"{path}/points?number=1").json()["number"] == 1
    assert owner.get(f"{path}?number=3").json()["code"] == "curve_version_unknown"
    assert owner.get("/v1/curves/dns?number=2").json()["code"] == "curve_version_unknown"
    with tenant_session(owner.tenant_id) as session, pytest.raises(DBAPIError, match="never changed"):
        session.execute(text("UPDATE curve_versions SET source = 'x'"))


@pytest.mark.parametrize(
    ("body", "pointer", "words"),
    [
        ({"rows": ROWS[:2]}, "#/rows", "2 different latencies; at least 3"),
        ({"rows": [*ROWS, {"latency_us": 1, "performance": 0}]}, "#/rows/11/performance", "must be above 0"),
        ({"rows": ROWS[1:]}, "#/baseline", "state it, or add rows at 0"),
        ({"csv": "added_us,rate\n# night\n0,9\n50,-8\n90,7\n"}, "#/rows/1/performance", "line 4: must be above 0"),
        ({"csv": "added_us,rate\n0,100,5\n"}, "#/rows/0", "line 2: 3 cells, the header has 2; for decimal commas"),
        ({"csv": "added_us,rate\n" + "1,9\n" * 100_001}, "#/rows", "more than 100,000 rows; average repeats first"),
        ({"rows": RISING}, "#/rows", "rises with latency by 100 %; for durations name the column duration"),
    ],
)
def test_bad_measurements_are_answered_with_their_place(owner: Member, body, pointer, words):
    answer = owner.post("/v1/curves", json={"name": "bad", **body})
    assert (answer.status_code, answer.json()["code"]) == (422, "samples_invalid")
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert words in error["message"]
    assert listed(owner, origin="own") == []


@pytest.mark.parametrize("body", [{"name": "x"}, {"name": "x", "rows": ROWS, "csv": CSV}])
def test_rows_come_in_one_of_two_ways(owner: Member, body):
    assert place_of(owner.post("/v1/curves", json=body)) == (422, "request_invalid", "#")


def test_a_rate_stays_a_rate(owner: Member):
    path = f"/v1/curves/{made(owner)['id']}/versions"
    assert code_of(owner.post(path, json={"metric": "duration", "rows": ROWS})) == (409, "curve_metric_differs")


def test_changes_name_the_version_they_saw(owner: Member):
    path = f"/v1/curves/{made(owner)['id']}"
    seen = owner.get(path).headers["ETag"]
    changed = owner.patch(path, json={"name": "lasso 2", "unit": "1/s"}, headers={"If-Match": seen})
    assert (changed.status_code, changed.json()["name"], changed.json()["unit"]) == (200, "lasso 2", "1/s")
    assert changed.headers["ETag"] != seen
    assert code_of(owner.patch(path, json={"name": "lasso 3"}, headers={"If-Match": seen})) == (412, "version_changed")
    assert owner.request("PATCH", path, json={"name": "x"}).status_code == 428
    before = owner.get(path).headers["ETag"]
    owner.post(f"{path}/versions", json={"rows": ROWS})
    assert owner.get(path).headers["ETag"] != before
    assert owner.delete(path, headers={"If-Match": before}).status_code == 412
    assert owner.delete(path, headers={"If-Match": "*"}).status_code == 204
    assert owner.get(path).json()["code"] == "curve_unknown"
    assert rows("SELECT id FROM curve_versions", tenant=owner.tenant_id) == []


def test_published_curves_cannot_be_changed(owner: Member):
    for answer in (
        owner.patch("/v1/curves/dns", json={"name": "mine"}),
        owner.delete("/v1/curves/dns"),
        owner.post("/v1/curves/dns/versions", json={"rows": ROWS}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "curve_published")


def test_points_are_bounded(owner: Member):
    assert owner.get("/v1/curves/dns/points?step_us=0.001").json()["code"] == "step_too_small"
    assert owner.get("/v1/curves/dns/points?step_us=0").status_code == 422
    table = owner.get("/v1/curves/apache/points?step_us=30").json()
    assert table["added_us"] == [0, 30, 60, 90, 100]
