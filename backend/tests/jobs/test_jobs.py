"""Jobs: asked for, done, followed, stopped, found again when their worker dies."""

import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from sinemora.jobs import context, executor, heartbeat, registry, service, tasks
from sinemora.jobs.context import JobContext
from sinemora.jobs.heartbeat import Heartbeat, JobLost
from sinemora.jobs.models import Job
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError
from tests.jobs.asking import ask, finished, found, in_background, ran
from tests.statements import execute, rows, scalar
from tests.waits import WAIT_MOST_S


def test_a_job_is_done_and_its_result_and_file_are_read(owner, make_kind, queued):
    def work(job: JobContext):
        content = b"".join(job.input())
        job.progress(0.5, "half of it")
        with job.output("rows.csv", "text/csv") as file:
            file.write(content * 3)
        return {"times": job.params["n"]}

    job_id = ask(owner, make_kind(work), input=[b"a,b\n", b"c\n"])
    assert queued == [{"tenant_id": str(owner.tenant_id), "job_id": str(job_id)}]
    waiting = found(owner, job_id)
    assert (waiting["state"], waiting["progress"], waiting["output"]) == ("queued", None, None)
    assert owner.get(f"/v1/jobs/{job_id}/output").json()["code"] == "job_not_done"

    done = ran(owner, job_id)
    assert (done["state"], done["progress"], done["result"], done["attempt"]) == ("succeeded", 1, {"times": 3}, 1)
    assert done["requested_by"] == owner.email
    file = {"name": "rows.csv", "media_type": "text/csv", "size_bytes": 18}
    assert done["output"] == {"href": f"/v1/jobs/{job_id}/output"} | file
    answer = owner.get(done["output"]["href"])
    assert (answer.content, answer.headers["content-type"]) == (b"a,b\nc\n" * 3, "text/csv; charset=utf-8")
    executor.run(owner.tenant_id, job_id)  # sent twice: nothing happens
    assert found(owner, job_id)["attempt"] == 1
    assert owner.delete(f"/v1/jobs/{job_id}").status_code == 204
    assert owner.get(f"/v1/jobs/{job_id}").status_code == 404


def test_a_large_file_is_kept_in_pieces(owner, make_kind, queued, monkeypatch):
    monkeypatch.setattr(context, "CHUNK_BYTES", 1000)
    data = bytes(range(256)) * 20

    def work(job: JobContext):
        with job.output("all.bin", "application/octet-stream") as file:
            for start in range(0, len(data), 333):
                file.write(data[start : start + 333])

    job_id = ask(owner, make_kind(work))
    executor.run(owner.tenant_id, job_id)
    assert len(rows("SELECT FROM job_chunks", tenant=owner.tenant_id)) == 6
    answer = owner.get(f"/v1/jobs/{job_id}/output")
    assert (answer.content, answer.headers["content-length"]) == (data, str(len(data)))


def test_a_failure_says_why_and_leaves_no_file(owner, make_kind, queued):
    def work(job: JobContext):
        with job.output("x", "text/plain") as file:
            file.write(b"half")
        raise ProductError("trace_invalid", 422, "Line 7 is no number.", line=7)

    job = finished(owner, make_kind(work))
    assert (job["state"], job["output"]) == ("failed", None)
    assert job["problem"] == {
        "type": "urn:sinemora:problem:trace_invalid",
        "title": "Unprocessable Entity",
        "status": 422,
        "code": "trace_invalid",
        "detail": "Line 7 is no number.",
        "instance": f"/v1/jobs/{job['id']}",
        "line": 7,
    }
    answer = owner.get(f"/v1/jobs/{job['id']}/result")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert (answer.json()["code"], answer.json()["line"]) == ("trace_invalid", 7)
    assert rows("SELECT FROM job_chunks", tenant=owner.tenant_id) == []


def test_our_own_fault_is_told_without_its_words(owner, make_kind, queued):
    def work(job: JobContext):
        raise ZeroDivisionError("secret")

    job = finished(owner, make_kind(work))
    assert job["problem"]["code"] == "internal_error"
    assert "secret" not in str(job)


@pytest.mark.parametrize(
    ("outcome", "code", "words"),
    [
        (
            ProductError("trace_unreadable", 422, "Found: a\0b \ud800", line="\0"),
            "trace_unreadable",
            "Found: a␀b \ufffd",
        ),
        (object(), "internal_error", "Internal error"),
    ],
)
def test_an_outcome_that_postgresql_does_not_take_ends_the_job_at_once(owner, make_kind, queued, outcome, code, words):
    def work(job: JobContext):
        job.progress(0.5, "reading \0")
        if isinstance(outcome, Exception):
            raise outcome
        return {"value": outcome, "note": "\0"}

    job = finished(owner, make_kind(work))
    assert (job["state"], job["attempt"], job["note"]) == ("failed", 1, "reading ␀")
    assert job["problem"]["code"] == code
    assert words in job["problem"]["detail"]


def test_one_that_waits_is_cancelled_at_once_and_one_that_runs_when_it_looks_up(owner, make_kind, queued, monkeypatch):
    monkeypatch.setattr(heartbeat, "LOOK_S", 0.02)
    begun, cancel_seen = threading.Event(), threading.Event()

    def work(job: JobContext):
        begun.set()
        assert cancel_seen.wait(WAIT_MOST_S)
        for _ in range(1000):
            job.progress(0.2, "still at it")
            threading.Event().wait(0.01)

    kind = make_kind(work)
    waiting = ask(owner, kind)
    assert owner.post(f"/v1/jobs/{waiting}/cancel").json()["state"] == "cancelled"
    assert ran(owner, waiting)["attempt"] == 0

    job_id = ask(owner, kind)
    thread = in_background(owner, job_id)
    assert begun.wait(WAIT_MOST_S)
    assert owner.delete(f"/v1/jobs/{job_id}").json()["code"] == "job_running"
    answer = owner.post(f"/v1/jobs/{job_id}/cancel").json()
    assert (answer["state"], answer["cancel_requested"]) == ("running", True)
    cancel_seen.set()
    thread.join(WAIT_MOST_S)
    job = found(owner, job_id)
    assert (job["state"], job["progress"], job["note"]) == ("cancelled", 0.2, "still at it")


def silence(job_id: UUID, seconds: float) -> None:
    """Make a job look as if its worker had said nothing for this long."""
    execute(
        "UPDATE jobs SET state = 'running', attempt = attempt + 1, heartbeat_at = :at WHERE id = :id",
        {"id": job_id, "at": datetime.now(UTC) - timedelta(seconds=seconds)},
    )


@pytest.mark.whole_store
def test_the_sweep_finds_what_nobody_works_on(owner, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: {"from": job.checkpoint}))
    queued.clear()
    tasks.sweep()
    assert queued == []  # it has only just been sent
    silence(job_id, 10)
    tasks.sweep()
    assert queued == []  # its worker may be alive
    assert ran(owner, job_id)["state"] == "running"  # nobody takes it from a living worker
    silence(job_id, 60)
    tasks.sweep()
    assert queued == [{"tenant_id": str(owner.tenant_id), "job_id": str(job_id)}]
    job = ran(owner, job_id)
    assert (job["state"], job["attempt"]) == ("succeeded", 3)


def test_a_job_goes_on_where_its_dead_worker_stopped(owner, make_kind, queued):
    def work(job: JobContext):
        first = (job.checkpoint or {"next": 0})["next"]
        for number in range(first, 4):
            with job.session() as session:
                job.keep(session, {"next": number + 1})
            if number == 1 and first == 0:
                raise SystemExit  # as if killed: nothing is written down
        return {"first": first}

    job_id = ask(owner, make_kind(work))
    with pytest.raises(SystemExit):
        executor.run(owner.tenant_id, job_id)
    assert found(owner, job_id)["state"] == "running"
    silence(job_id, 60)
    assert ran(owner, job_id)["result"] == {"first": 2}


def test_a_worker_that_was_given_up_for_dead_changes_nothing(owner, make_kind, queued):
    def work(job: JobContext):
        silence(job.job_id, 0)  # another worker has it now
        with job.output("late.txt", "text/plain") as file:
            file.write(b"late")

    job_id = ask(owner, make_kind(work))
    job = ran(owner, job_id)
    assert (job["state"], job["attempt"], job["output"]) == ("running", 2, None)
    with tenant_session(owner.tenant_id) as session:
        job = session.get(Job, job_id)
        late = JobContext(job, Heartbeat(job))
        late.attempt = 1
        with pytest.raises(JobLost):
            late.keep(session, {})


def test_a_job_that_kills_its_workers_is_given_up(owner, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: None, attempts_max=2))
    silence(job_id, 60)
    silence(job_id, 60)
    assert ran(owner, job_id)["problem"]["code"] == "job_worker_lost"


def test_a_job_of_another_version_says_so(owner, make_kind, queued):
    kind = make_kind(lambda job: None)
    job_id = ask(owner, kind)
    registry._registry.clear()
    assert ran(owner, job_id)["problem"]["code"] == "job_kind_unknown"


def test_the_same_question_is_asked_once(owner, other_owner, make_kind, queued):
    kind = make_kind(lambda job: None)
    first = ask(owner, kind, digest=b"q", fresh_for=timedelta(minutes=5))
    assert ask(owner, kind, digest=b"q", fresh_for=timedelta(minutes=5)) == first
    assert ask(owner, kind, digest=b"r", fresh_for=timedelta(minutes=5)) != first
    assert ask(owner, kind, digest=b"q") != first  # not older than nothing
    assert ask(other_owner, kind, digest=b"q", fresh_for=timedelta(minutes=5)) != first


def test_jobs_are_listed_newest_first_and_are_nobody_elses(owner, other_owner, make_kind, queued):
    kind = make_kind(lambda job: None)
    job_ids = [str(ask(owner, kind)) for _ in range(3)]
    executor.run(owner.tenant_id, UUID(job_ids[0]))
    listed = owner.get("/v1/jobs", params={"limit": 2}).json()
    assert [item["id"] for item in listed["items"]] == job_ids[:0:-1]
    rest = owner.get("/v1/jobs", params={"limit": 2, "cursor": listed["next_cursor"]}).json()
    assert ([item["id"] for item in rest["items"]], rest["next_cursor"]) == (job_ids[:1], None)
    done = owner.get("/v1/jobs", params={"state": "succeeded"}).json()["items"]
    assert [item["id"] for item in done] == job_ids[:1]
    assert other_owner.get("/v1/jobs").json()["items"] == []
    assert other_owner.post(f"/v1/jobs/{job_ids[1]}/cancel").status_code == 404


def test_too_many_at_once_are_refused(owner, make_kind, queued, monkeypatch):
    monkeypatch.setattr(service, "OPEN_MAX", 2)
    kind = make_kind(lambda job: None)
    ask(owner, kind)
    ask(owner, kind)
    with pytest.raises(ProductError) as refused:
        ask(owner, kind)
    assert (refused.value.code, refused.value.status) == ("jobs_too_many", 429)


@pytest.mark.whole_store
def test_those_that_ended_long_ago_are_forgotten(owner, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: None), input=[b"bytes"])
    executor.run(owner.tenant_id, job_id)
    tasks.delete_old()
    assert found(owner, job_id)["state"] == "succeeded"
    execute("UPDATE jobs SET finished_at = finished_at - interval '8 days'")
    tasks.delete_old()
    assert scalar("SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM job_chunks)") == 0
