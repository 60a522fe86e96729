"""Reports of simulations: upload, validation, tenancy."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sinemora.cli import main
from sinemora_client import Client
from tests.api_clients import Member

SMALL = ["simulate", "--machines", "96", "--hours", "0.2", "--policy", "random", "--policy", "best"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the report of a run of two policies."""
    folder: Path = tmp_path_factory.mktemp("simulation")
    assert main([*SMALL, "--report", str(folder), "--output", str(folder / "lines")]) == 0
    content: dict[str, Any] = json.loads((folder / "simulation.json").read_text())
    return content


def test_reports_are_stored_listed_read_and_deleted(owner: Member, report: dict[str, Any]):
    first = owner.created("/v1/simulations", {"name": "a tenth", **report})
    second = owner.created("/v1/simulations", {"name": "a tenth", **report})
    assert first["policies"] == report["policies"]
    assert first["world"] == report["world"] | {"move_price": None}
    path = f"/v1/simulations/{first['id']}"
    assert owner.get(path).json() == first
    page = owner.get("/v1/simulations", params={"limit": 1}).json()
    (newest,) = page["items"]
    assert newest["id"] == second["id"]
    areas = [{name: one[name] for name in ("policy", "area_percent")} for one in report["policies"]]
    assert newest["policies"] == areas
    second_page = owner.get("/v1/simulations", params={"cursor": page["next_cursor"]}).json()
    assert ([one["id"] for one in second_page["items"]], second_page["next_cursor"]) == ([first["id"]], None)
    assert owner.delete(path).status_code == 204
    assert owner.get(path).status_code == 404


def test_a_report_of_before_opens_with_its_retired_policy(owner: Member, report: dict[str, Any]):
    old: Any = copy.deepcopy({"name": "old", **report})
    del old["world"]["move_cost"], old["world"]["moves_max"]
    old["world"]["move_price"] = 20
    old["policies"][1]["policy"] = "gang_budget"
    for name in ("plain_area_percent", "placed_area_percent", "plain_placed_area_percent"):
        del old["policies"][1][name]
    created = owner.created("/v1/simulations", old)
    read = owner.get(f"/v1/simulations/{created['id']}").json()
    assert (read["policies"][1]["policy"], read["policies"][1]["plain_area_percent"]) == ("gang_budget", None)
    assert (read["world"]["move_price"], read["world"]["move_cost"]) == (20, None)


@pytest.mark.parametrize(
    ("at", "value", "pointer"),
    [
        (("policies", 0, "scores"), [0.5] * 100, "#/policies/0"),
        (("policies", 0, "scores", 0), 1.0, "#/policies/0"),
        (("policies", 0, "solver_s"), {"p50": 2, "p90": 1, "p99": 3}, "#/policies/0/solver_s"),
        (("policies", 1, "policy"), "random", "#"),
    ],
)
def test_an_invalid_report_is_refused_with_a_pointer(
    owner: Member, report: dict[str, Any], at: tuple[str | int, ...], value: Any, pointer: str
):
    body: Any = copy.deepcopy({"name": "wrong", **report})
    place = body
    for step in at[:-1]:
        place = place[step]
    place[at[-1]] = value
    answer = owner.post("/v1/simulations", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")
    assert pointer in [one["pointer"] for one in answer.json()["errors"]], answer.text


def test_the_command_uploads_its_report(
    owner: Member, tmp_path: Path, run, connected: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SINEMORA_API_KEY", raising=False)
    upload = [*SMALL, "--kept", str(tmp_path), "--name", "handed over", "--upload", connected.url]
    assert "SINEMORA_API_KEY" in run(*upload, code=2)
    said = run(*upload, "--key", connected.key, errors=True)
    (stored,) = owner.get("/v1/simulations").json()["items"]
    assert (stored["name"], stored["world"]["machines"]) == ("handed over", 96)
    assert f"Report: {connected.url}/simulations/{stored['id']}\n" in said
    # All states exist already, so only the upload can fail.
    for options, why in (
        (["--key", "sm_wrong"], f"{connected.url}: 401: Bad credentials"),
        (["--key", connected.key, "--name", ""], f"{connected.url}: 422: "),
        (["--key", connected.key, "--upload", "sinemora.example"], "begins with https://"),
    ):
        assert why in run(*upload, *options, code=1)

    assert len(owner.get("/v1/simulations").json()["items"]) == 1
