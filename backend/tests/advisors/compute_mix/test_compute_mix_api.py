"""Compute mix, provider prices and price lists over HTTP."""

from typing import Any

import pytest

from tests.api_clients import Member, MeshWorld, body_of, code_of
from tests.recommendations.measured_mesh import measured

TARGET = {"response_ms": 1000, "percentile": 95}
VM = {"name": "m5.large", "service_ms": 100, "price_per_hour": 0.096}
OFFER = {"service_ms": 120, "memory_gb": 1, "price_per_gb_second": 1.66667e-5, "price_per_million_requests": 0.2}
BODY: dict[str, Any] = {"load_per_s": 30, "target": TARGET, "vm_types": [VM], "serverless": OFFER}


HEADER = "kind,provider,region,name,price_per_hour\n"
ROW = "vm,AWS,r,t3,0.1\n"


@pytest.fixture
def mesh(owner: Member, make_mesh) -> MeshWorld:
    """Four agents; the round trip a-1 to c-1 is 200 µs, others have 300 µs."""
    world = make_mesh(owner, 4)
    measured(world, {("a-1", "c-1"): 200.0, ("a-1", "b-1"): 300_000.0})
    return world


def asked(owner: Member, **changes: Any) -> dict[str, Any]:
    return body_of(owner.post("/v1/advisors/compute-mix", json=BODY | changes))


def refused(owner: Member, **changes: Any) -> tuple[int, str]:
    return code_of(owner.post("/v1/advisors/compute-mix", json=BODY | changes))


def test_without_a_path_the_network_takes_nothing(owner: Member):
    read = asked(owner)
    (path,) = read["paths"]
    assert (path["budget_ms"], path["best"], path["difference_per_hour"]) == (1000, "m5.large", 0)
    # For exponential service the limit is 1 + ln(0.05) · 100 ms / 1 s.
    (option,) = path["options"]
    assert option["utilisation_max"] == pytest.approx(0.70043, abs=1e-4)
    assert option["capacity_per_s"] == pytest.approx(7.0043, abs=1e-3)
    assert read["job_price"] == pytest.approx(1.66667e-5 * 0.12 + 0.2e-6)
    # A job costs 2.2e-6, so a VM breaks even at 12.1 jobs/s, above its capacity.
    assert option["split"]["regime"] == "serverless_only"
    assert option["split"]["cost_per_hour"] == pytest.approx(30 * 3600 * read["job_price"])
    assert len(path["curve"]["mix"]) == len(path["curve"]["load_per_s"]) > 100


def test_a_measured_path_takes_its_delays_from_the_budget(owner: Member, mesh: MeshWorld):
    slow_offer = OFFER | {"price_per_gb_second": 1e-3}
    near, far, known = asked(
        owner,
        serverless=slow_offer,
        mesh=mesh.name,
        paths=[
            {"source": "a-1", "target": "c-1"},
            {"label": "far", "source": "a-1", "target": "b-1"},
            {"label": "known", "outbound_us": 100, "inbound_us": 100},
        ],
    )["paths"]
    assert near["outbound_us"] + near["inbound_us"] == pytest.approx(200, rel=0.1)
    assert near["budget_ms"] == pytest.approx(999.8, abs=0.05)
    assert (near["statistic"], known["statistic"]) == ("p95", None)
    assert far["outbound_us"] == pytest.approx(150_000, rel=0.02)
    assert far["options"][0]["utilisation_max"] == pytest.approx(1 - 2.99573 / 7, abs=0.01)
    assert far["options"][0]["split"]["vms"] > near["options"][0]["split"]["vms"]
    assert far["difference_per_hour"] > 0
    assert abs(known["difference_per_hour"]) < 1e-3


def test_no_mix_has_a_reason(owner: Member):
    (path,) = asked(owner, target={"response_ms": 90})["paths"]
    assert (path["best"], path["curve"], path["options"][0]["split"]) == (None, None, None)
    assert "100 ms on the fastest idle VM" in path["reason"]
    (path,) = asked(owner, paths=[{"outbound_us": 6e5, "inbound_us": 6e5}])["paths"]
    assert path["reason"] == "The network alone takes longer than the response target."


def test_a_profile_with_a_term_rents_longer(owner: Member):
    loads = [1.0] * 12 + [40.0] + [1.0] * 11
    dear = OFFER | {"price_per_gb_second": 2e-4}
    hourly = asked(owner, serverless=dear, hourly_load_per_s=loads)["paths"][0]["profile"]
    long = asked(owner, serverless=dear, hourly_load_per_s=loads, term_h=24)["paths"][0]["profile"]
    assert hourly["cost"] < long["cost"] <= long["vms_alone_cost"]
    assert len({hour["vms"] for hour in long["hours"]}) == 1
    assert hourly["cost"] <= hourly["serverless_alone_cost"]


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"paths": [{"source": "a", "target": "b"}]}, 422, "request_invalid"),
        ({"paths": [{"source": "a", "outbound_us": 3}]}, 422, "request_invalid"),
        ({"vm_types": [{"name": "x", "service_ms": 1}]}, 422, "price_missing"),
        ({"serverless": {"service_ms": 1}}, 422, "price_missing"),
    ],
)
def test_bad_questions_are_refused(owner: Member, changes: dict[str, Any], status: int, code: str):
    assert refused(owner, **changes) == (status, code)


def test_ends_of_a_path_are_checked(owner: Member, mesh: MeshWorld, make_mesh):
    of_mesh = {"mesh": mesh.name}
    assert refused(owner, **of_mesh, paths=[{"source": "a-1", "target": "nobody"}]) == (422, "vm_not_in_mesh")
    assert refused(owner, **of_mesh, paths=[{"source": "a-1", "target": "a-1"}]) == (422, "path_same_ends")
    source, target = (agent.name for agent in make_mesh(owner, 2, name="empty").agents)
    paths = [{"source": source, "target": target}]
    assert refused(owner, mesh="empty", paths=paths) == (409, "path_unmeasured")


def test_price_lists_are_imported_used_replaced_and_deleted(owner: Member):
    (sample,) = owner.get("/v1/price-list-samples").json()
    kept = owner.created("/v1/price-lists", sample)
    assert (kept["as_of"], len(kept["entries"])) == (sample["as_of"], len(sample["entries"]))
    read = asked(
        owner,
        price_list_id=kept["id"],
        vm_types=[{"name": "c5.large", "service_ms": 100}],
        serverless={"name": "Lambda x86", "service_ms": 120},
    )
    assert read["currency"] == "USD"
    assert read["paths"][0]["options"][0]["price_per_hour"] == 0.085
    assert read["job_price"] == pytest.approx(1.66667e-5 * 0.12 + 0.2e-6)
    missing = {"price_list_id": kept["id"], "vm_types": [{"name": "c99", "service_ms": 100}]}
    assert refused(owner, **missing) == (404, "price_unknown")

    text = "kind,provider,region,name,price_per_hour\nvm,Own,here,box,0.5\n"
    changed = {"name": sample["name"], "currency": "EUR", "as_of": "2026-11-01", "csv": text}
    replaced = owner.created("/v1/price-lists", changed)
    assert (replaced["id"], replaced["currency"], [entry["name"] for entry in replaced["entries"]]) == (
        kept["id"],
        "EUR",
        ["box"],
    )
    path = f"/v1/price-lists/{kept['id']}"
    assert owner.get("/v1/price-lists").json()["items"] == [replaced]
    assert owner.delete(path).status_code == 204
    assert owner.get(path).status_code == 404


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"csv": "kind,colour\nvm,red\n"}, "unknown columns colour"),
        ({"csv": "kind,name,price_per_hour\nvm,a,cheap\n"}, "line 2: price_per_hour must be a number"),
        ({"csv": "kind,name,price_per_hour\nvm,a\n"}, "line 2: 2 cells for 3 columns"),
        ({"csv": ""}, "line 1: no header"),
        ({"csv": "kind,name,price_per_hour,Name\nvm,a,1,b\n"}, "line 1: name occurs more than once"),
        ({"csv": 'kind,name,price_per_hour\nvm,a,"0,1"\n'}, "'0,1': write it with a decimal point"),
        ({"csv": "kind,name,price_per_hour\nvm,a,nan\n"}, "line 2: price_per_hour must be a finite number"),
        ({"csv": f"{HEADER}{ROW}vm,AWS,r,t4,0.2\n{ROW}"}, "entry 3 repeats entry 1, vm t3 of AWS r"),
        ({"csv": HEADER + ROW * 2_001}, "line 2002: more than 2,000 rows"),
        ({"json_text": "[" * 200_000}, "nested too deeply"),
        ({"json_text": f'[{{"price_per_hour": {"9" * 5000}}}]'}, "a number of 5000 digits"),
        ({"json_text": '[{"kind": "vm", "price_per_hour": NaN}]'}, "NaN is no number"),
        ({"csv": "kind,provider,region,name\nvm,a,b,c\n"}, "entry 1, price_per_hour: Required."),
        ({"json_text": "{"}, "line 1: not JSON"),
        ({"json_text": '{"entries": 3}'}, "must be a list of objects"),
        ({"json_text": '[{"kind": "vm", "price_per_hour": -1}]'}, "entry 1"),
    ],
)
def test_a_bad_document_names_the_line(owner: Member, content: dict[str, str], words: str):
    body = {"name": "mine", "currency": "USD", "as_of": "2026-11-01"}
    answer = owner.post("/v1/price-lists", json=body | content)
    assert (answer.status_code, answer.json()["code"]) == (422, "price_list_invalid"), answer.text
    assert words in answer.json()["detail"]
    assert owner.post("/v1/price-lists", json=body).json()["code"] == "request_invalid"


@pytest.mark.parametrize(
    "csv",
    [
        HEADER + ROW,
        "\ufeff" + HEADER.upper().replace(",", " , ") + ROW.replace("\n", "\r\n"),
        (HEADER + ROW.replace("0.1", "0#1")).replace(",", ";").replace("#", ","),
        (HEADER + ROW).replace(",", "\t") + "\t\t\t\t\n\n",
        (HEADER + ROW).replace("\n", "\r"),
    ],
    ids=["plain", "byte order mark and case", "semicolons and decimal commas", "tabs", "carriage returns"],
)
def test_tables_of_spreadsheets_are_read(owner: Member, csv: str):
    body = {"name": "mine", "currency": "EUR", "as_of": "2026-11-01", "csv": csv}
    (entry,) = owner.created("/v1/price-lists", body)["entries"]
    assert (entry["provider"], entry["name"], entry["price_per_hour"]) == ("AWS", "t3", 0.1)


def test_a_name_with_several_prices_is_ambiguous(owner: Member):
    rows = f"{ROW}vm,AWS,s,t3,0.2\nvm,AWS,r,same,0.3\nvm,AWS,s,same,0.3\n"
    body = {"name": "mine", "currency": "USD", "as_of": "2026-11-01", "csv": HEADER + rows}
    kept = owner.created("/v1/price-lists", body)["id"]
    vm = {"name": "t3", "service_ms": 100}
    answer = owner.post("/v1/advisors/compute-mix", json=BODY | {"price_list_id": kept, "vm_types": [vm]})
    assert (answer.status_code, answer.json()["code"]) == (422, "price_ambiguous")
    assert "AWS r, AWS s" in answer.json()["detail"]
    asked(owner, price_list_id=kept, vm_types=[vm | {"name": "same"}])


def test_a_profile_of_a_million_vms_is_refused(owner: Member):
    answer = owner.post("/v1/advisors/compute-mix", json=BODY | {"hourly_load_per_s": [1e9, 1.0], "term_h": 100})
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")
    assert "a million VMs of m5.large" in answer.text


def test_provider_prices(owner: Member):
    body = {"load_per_s": 3, "vm_rate_per_s": 1, "serverless_rate_per_s": 2, "vm_cost_per_hour": 0.1}
    read = owner.post("/v1/advisors/provider-prices", json=body | {"utilisation_max": 0.9}).json()
    assert read["switch_to_mixed"] == pytest.approx(2.2222, abs=1e-4)
    assert read["switch_to_vms"] == pytest.approx(6.6667, abs=1e-4)
    assert (read["equilibrium"]["regime"], read["equilibrium"]["profit_per_hour"]) == ("mixed", pytest.approx(3.6925))
    at = max(range(len(read["profit_per_hour"])), key=lambda n: read["profit_per_hour"][n])
    assert read["price_per_busy_hour"][at] == pytest.approx(6.6667, abs=1e-3)
    many = owner.post("/v1/advisors/provider-prices", json=body | {"utilisation_max": 1e-9})
    assert (many.status_code, many.json()["code"]) == (422, "request_invalid")
