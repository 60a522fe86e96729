"""Studies of the shaping lab over the API: the file of the command next to the source, and refusals."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from sinemora.labs.shaping_lab.core.profiles import ProfileName
from sinemora.labs.shaping_lab.core.summary import figures
from sinemora.labs.shaping_lab.core.workloads import WORKLOADS, Operation, WorkloadName
from sinemora.labs.shaping_lab.schemas import ROWS_MAX
from tests.api_clients import Member, body_of

PATH = "/v1/advisors/shaping-studies"
QUICK, SLOW = [0.0002] * 2_000, [0.0002] * 1_900 + [0.206] * 100


def study(**changes: Any) -> dict[str, Any]:
    """Return a study as the command writes it: reads of YCSB C under two profiles, and a shuffle under one."""
    rows = [
        ("c", figures(WorkloadName.C, ProfileName.INTERFERENCE, 10, {Operation.READ: QUICK})),
        ("c", figures(WorkloadName.C, ProfileName.TB_SWITCH, 10, {Operation.READ: SLOW})),
        ("batch", figures(WorkloadName.BATCH, ProfileName.TB_SWITCH, 10, {Operation.FETCH: QUICK})),
    ]
    whole = {
        "link_mbit": 200.0, "seconds": 10.0, "acknowledged_writes": True, "delay_us": 0.0,
        "rows": [{"workload": name} | asdict(row) for name, of_run in rows for row in of_run],
    }  # fmt: skip
    read: dict[str, Any] = json.loads(json.dumps(whole | changes))
    return read


def test_a_study_stands_next_to_the_source(owner: Member):
    read = body_of(owner.post(PATH, json=study()))
    assert [(one["workload"], one["operation"]) for one in read["operations"]] == [("c", "read"), ("batch", "fetch")]
    reads = {one["profile"]: one for one in read["operations"][0]["profiles"]}
    assert list(reads) == [name.value for name in ProfileName]
    switch = reads["tb switch"]
    assert switch["measured"]["p99_us"] == pytest.approx(206_000)
    assert switch["measured"]["ratio"] == pytest.approx(1_030)
    assert (switch["measured"]["tail_found"], switch["measured"]["per_s"]) == (True, 200)
    # Table 11 of the source: 341, 205,695 and 211,071 µs, against 510 µs with interference alone.
    assert (switch["source"]["p95_us"], switch["source"]["p99_us"], switch["source"]["p999_us"]) == (
        341,
        205_695,
        211_071,
    )
    assert switch["source"]["ratio"] == pytest.approx(205_695 / 510)
    assert (reads["tb host"]["measured"], reads["tb host"]["source"]["p99_us"]) == (None, 650)
    shuffle = {one["profile"]: one for one in read["operations"][1]["profiles"]}
    assert shuffle["tb switch"]["measured"]["ratio"] is None  # the interference alone was not run
    assert shuffle["tb switch"]["source"]["mb_per_s"] == 86.9


def test_figures_of_the_source_in_a_file_are_not_believed(owner: Member):
    whole = study()
    whole["rows"][1]["source"]["p99_us"] = 1.0
    read = owner.post(PATH, json=whole).json()
    by_profile = {one["profile"]: one for one in read["operations"][0]["profiles"]}
    assert by_profile["tb switch"]["source"]["p99_us"] == 205_695


def test_all_workloads_under_all_profiles_fit(owner: Member):
    rows = [
        {"workload": workload.name} | asdict(row)
        for workload in WORKLOADS
        for profile in ProfileName
        for row in figures(workload.name, profile, 10, {operation: QUICK for operation, _ in workload.shares})
    ]
    assert len(rows) <= ROWS_MAX
    read = owner.post(PATH, json=study(rows=json.loads(json.dumps(rows)))).json()
    assert sum(len(one["profiles"]) for one in read["operations"]) == len(rows) == 120


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        (lambda whole: whole.update(rows=whole["rows"][:1] * (ROWS_MAX + 1)), "#/rows", "500"),
        (
            lambda whole: whole["rows"].append(whole["rows"][0]),
            "#",
            "read of workload c under interference occurs twice",
        ),
        (lambda whole: whole["rows"][0].update(operation="scan"), "#/rows/0", "workload c has no scan, only read"),
        (lambda whole: whole["rows"][0].update(profile="tb moon"), "#/rows/0/profile", "tb switch"),
    ],
)
def test_a_file_that_is_no_study_is_refused_with_its_place(
    owner: Member, change: Callable[[dict[str, Any]], object], pointer: str, said: str
):
    whole = study()
    change(whole)
    answer = owner.post(PATH, json=whole)
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")
    errors = answer.json()["errors"]
    assert any(one["pointer"].startswith(pointer) and said in one["message"] for one in errors), errors
