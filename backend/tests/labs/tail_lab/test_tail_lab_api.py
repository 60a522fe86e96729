"""The tail lab over the API and from a terminal: a study as a job, its output, and refusals."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sinemora.cli import main
from sinemora.jobs.models import Job
from sinemora.kit.db import tenant_session
from sinemora.labs.tail_lab import job as jobs
from sinemora.labs.tail_lab.core.study import run
from sinemora.labs.tail_lab.schemas import TailStudyRead
from tests.api_clients import Member, body_of, code_of
from tests.jobs.asking import ran

SMALL = {"name": "Hadoop", "workload": "w4", "flows": 2_000, "evaluations": 5, "policies": ["ps", "d_tail_blind"]}


def start(owner: Member, **changes: object) -> UUID:
    return UUID(body_of(owner.post("/v1/advisors/tail-studies", json=SMALL | changes))["id"])


def test_a_study_is_run_as_a_job_and_read(owner: Member) -> None:
    job_id = start(owner, classes=4)
    assert owner.get(f"/v1/advisors/tail-studies/{job_id}").json()["code"] == "job_not_done"
    job = ran(owner, job_id)
    assert (job["state"], job["result_href"]) == ("succeeded", f"/v1/advisors/tail-studies/{job_id}")
    study = owner.get(job["result_href"]).json()
    assert (study["name"], study["workload_name"], study["flows"]) == ("Hadoop", "W4 Facebook Hadoop", 2_000)
    rows = {(row["policy"], row["classes"]): row for row in study["outcomes"]}
    assert list(rows) == [("ps", None), ("las", None), ("d_tail_blind", None), ("d_tail_blind", 4)]
    blind, las = rows["d_tail_blind", None], rows["las", None]
    gains = {each["against"]: each["gains"] for each in blind["gains"]}
    assert set(gains) == {"ps", "las"}
    assert gains["las"]["p99"] == pytest.approx(100 * (1 - blind["figures"]["p99"] / las["figures"]["p99"]))
    assert len(blind["slowdown"]) == 101
    assert blind["slowdown"][0] >= 1
    assert sum(bucket["flows"] for bucket in blind["buckets"]) == 2_000
    assert sum(rows["d_tail_blind", 4]["class_shares"]) == pytest.approx(1)
    (search,) = study["searches"]
    assert len(search["evaluations"]) == 5
    assert search["best"]["alpha"] == blind["alpha"]
    assert {row["verdict"] for row in study["beside_source"]} <= {"agrees", "lower", "cannot"}
    # The same as in this process, which knows nothing of jobs.
    again = run(jobs.asked(job["params"])[1])
    assert [outcome.summary.figures.p99 for outcome in again.outcomes] == [
        row["figures"]["p99"] for row in study["outcomes"]
    ]


def test_own_flow_sizes_are_kept_as_points(owner: Member) -> None:
    job_id = start(owner, workload="own", sizes_csv="bytes,count\n500,90\n200000,10\n", alpha=2)
    ran(owner, job_id)
    study = owner.get(f"/v1/advisors/tail-studies/{job_id}").json()
    assert study["workload_name"] == "Own flow sizes"
    assert study["beside_source"] == []
    assert study["mean_bytes"] == pytest.approx(20_450, rel=0.1)
    assert "sizes_csv" not in owner.get(f"/v1/jobs/{job_id}").json()["params"]["study"]


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        (
            {"workload": "own", "sizes_csv": "bytes\n12\nmany\n"},
            "table_invalid",
            "line 3: bytes must be a whole number",
        ),
        ({"workload": "own"}, "request_invalid", "`sizes_csv` belongs to the workload `own`"),
        ({"policies": ["ps", "ps"]}, "request_invalid", "each may occur once; repeated: ps"),
        ({"policies": ["ps"], "classes": 4}, "request_invalid", "`classes` need d_tail_blind or d_tail_aware"),
        ({"workload": "w5", "flows": 1_000_000}, "study_too_long", "at most 100,000,000 are possible"),
    ],
)
def test_bad_questions_are_refused(owner: Member, changes: dict[str, Any], code: str, words: str) -> None:
    response = owner.post("/v1/advisors/tail-studies", json=SMALL | changes)
    assert response.status_code == 422
    assert response.json()["code"] == code
    assert words in response.text


def test_a_study_of_a_leaf_spine_network_says_that_there_are_none(owner: Member) -> None:
    """Earlier versions had one: a waiting job fails with the sentence, a stored study is refused with it."""
    job_id = start(owner)
    with tenant_session(owner.tenant_id) as session:
        job = session.get_one(Job, job_id)
        job.params = {"study": job.params["study"] | {"topology": "leaf_spine", "policies": ["homa"]}}
    stored = owner.get(f"/v1/advisors/tail-studies/{job_id}")
    assert (stored.status_code, stored.json()["code"]) == (409, "tail_study_retired")
    problem = ran(owner, job_id)["problem"]
    assert problem["detail"] == stored.json()["detail"]
    assert "single links only" in problem["detail"]


def test_another_job_is_no_study_and_another_tenants_study_is_unknown(owner: Member, other_owner: Member) -> None:
    job_id = start(owner)
    assert code_of(other_owner.get(f"/v1/advisors/tail-studies/{job_id}")) == (404, "job_unknown")
    other = owner.post("/v1/simulations/runs", json={"name": "x", "machines": 96, "hours": 0.2, "policies": ["random"]})
    assert code_of(owner.get(f"/v1/advisors/tail-studies/{other.json()['id']}")) == (404, "tail_study_unknown")


FEW = ["tail-lab", "--workload", "w4", "--flows", "1000", "--evaluations", "5", "--policy", "d_tail_blind"]


def test_a_study_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--classes", "4"]) == 0
    printed = capsys.readouterr()
    assert "W4 Facebook Hadoop, 1,000 flows" in printed.out
    assert "D-TAIL blind, 4 classes" in printed.out
    assert "pFabric: D-TAIL blind below LAS, tail_mean" in printed.out
    assert "sudo sinemora-guard on --interface eth0 --rate 10gbit --mode " in printed.out
    assert "evaluation 5 of 5" in printed.err


def test_own_sizes_are_read_and_the_study_written_as_json(run, tmp_path: Path) -> None:
    file = tmp_path / "sizes.csv"
    file.write_text("bytes,count\n500,9\n90000,1\n")
    study = json.loads(run(*FEW, "--sizes", str(file), "--alpha", "1.5", "--json"))
    assert (study["workload"], study["outcomes"][-1]["alpha"], study["searches"]) == ("own", 1.5, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--load", "2"], "--load: Must be at most 0.95."),
        (["--sizes", "nowhere.csv"], "nowhere.csv cannot be read"),
        (["--workload", "w5", "--flows", "1000000"], "ask for fewer flows"),
        (["--policy", "edf"], "'fcfs', 'ps', 'las'"),
    ],
)
def test_what_is_not_understood_is_named(arguments: list[str], words: str, run) -> None:
    assert words in run("tail-lab", *arguments, code=2)


def test_a_study_that_an_earlier_version_stored_with_other_fields_is_read() -> None:
    examples = json.loads(files("sinemora.contract").joinpath("examples/advisors.json").read_text("utf-8"))
    study = examples["read_tail_study"]["responses"]["200"]["application/json"]
    study["topology"] = "single_link"
    for outcome in study["outcomes"]:
        del outcome["egress_guard"]
        outcome["packets"] = None
    read = TailStudyRead.model_validate(study)
    assert {outcome.egress_guard for outcome in read.outcomes} == {None}
