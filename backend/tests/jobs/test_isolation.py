"""Jobs of the queue solve run in a child process: it can be killed, and its death is no end of the worker."""

import os
import signal
import time

import psutil
import pytest
from celery.exceptions import SoftTimeLimitExceeded

from sinemora.jobs import executor
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Queue
from sinemora.kit.errors import ProductError
from tests.api_clients import Member
from tests.jobs.asking import ask, cancel, finished, found, in_background, ran
from tests.statements import scalar
from tests.waits import until

WORKER = os.getpid()


def wait_for_note(owner: Member, job_id: object) -> str:
    until(lambda: found(owner, job_id)["note"], "a note of the job")
    return str(found(owner, job_id)["note"])


@pytest.mark.parametrize("queue", [Queue.bulk, Queue.solve])
def test_a_job_that_never_returns_is_interrupted_and_fails_in_words(owner: Member, make_kind, queued, queue: Queue):
    def work(_: JobContext):
        os.kill(WORKER, signal.SIGALRM)
        while True:
            time.sleep(1)

    def interrupt(*_: object) -> None:
        """Do as a process of Celery's worker does at its time limit."""
        raise SoftTimeLimitExceeded

    job_id = ask(owner, make_kind(work, queue))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        executor.run(owner.tenant_id, job_id)
    finally:
        signal.signal(signal.SIGALRM, before)
    job = found(owner, job_id)
    assert (job["state"], job["problem"]["code"]) == ("failed", "job_too_long")


def test_result_progress_and_refusal_come_back_from_the_child(owner, make_kind, queued):
    def work(job: JobContext):
        job.progress(0.3, "in the child")
        with job.output("pid.txt", "text/plain") as file:
            file.write(str(os.getpid()).encode())
        if job.params["n"] == 3 and job.attempt == 1:
            return {"pid": os.getpid()}
        return None

    job = finished(owner, make_kind(work, Queue.solve))
    assert (job["state"], job["note"]) == ("succeeded", "in the child")
    assert job["result"]["pid"] != WORKER
    assert owner.get(f"/v1/jobs/{job['id']}/output").text == str(job["result"]["pid"])


def test_a_refusal_in_the_child_is_the_error_of_the_job(owner, make_kind, queued):
    def work(job: JobContext):
        raise ProductError("trace_invalid", 422, "Line 7 is no number.", line=7)

    job = finished(owner, make_kind(work, Queue.solve))
    assert (job["state"], job["attempt"], job["problem"]["code"]) == ("failed", 1, "trace_invalid")


def test_a_solve_that_never_looks_up_is_cancelled(owner, make_kind, queued):
    """`make bench-recommendations ONLY=service` measures how soon."""

    def work(job: JobContext):
        job.progress(0.1, str(os.getpid()))
        while True:  # as native code, which asks nothing
            time.sleep(1)

    job_id = ask(owner, make_kind(work, Queue.solve))
    thread = in_background(owner, job_id)
    child = int(wait_for_note(owner, job_id))
    cancel(owner, job_id, thread)
    assert found(owner, job_id)["state"] == "cancelled"
    assert not psutil.pid_exists(child)


def test_a_killed_child_is_tried_again_and_then_given_up(owner, make_kind, queued):
    def work(job: JobContext):
        if job.params["n"] == 3 and job.attempt < 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"attempt": job.attempt}

    job_id = ask(owner, make_kind(work, Queue.solve))
    for state in ("queued", "queued", "succeeded"):
        assert ran(owner, job_id)["state"] == state
    assert found(owner, job_id)["result"] == {"attempt": 3}


def test_a_child_killed_in_every_attempt_fails_with_the_signal(owner, make_kind, queued):
    def work(job: JobContext):
        os.kill(os.getpid(), signal.SIGKILL)

    job_id = ask(owner, make_kind(work, Queue.solve, attempts_max=2))
    queued.clear()
    executor.run(owner.tenant_id, job_id)
    assert queued == [{"tenant_id": str(owner.tenant_id), "job_id": str(job_id)}]  # at once, not with a sweep
    problem = ran(owner, job_id)["problem"]
    assert (problem["code"], problem["reason"]) == ("job_process_died", "signal SIGKILL")
    assert "2 attempts" in problem["detail"]


def test_the_child_ends_with_its_worker(owner, make_kind, queued):
    def work(job: JobContext):
        job.progress(0.1, str(os.getpid()))
        time.sleep(3600)

    job_id = ask(owner, make_kind(work, Queue.solve))
    worker = os.fork()
    if worker == 0:
        from sinemora.kit.db import dispose

        dispose(close=False)
        executor.run(owner.tenant_id, job_id)
        os._exit(0)
    child = int(wait_for_note(owner, job_id))
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    until(lambda: not psutil.pid_exists(child), "the end of the child")


def test_a_cancelled_job_stops_when_it_says_nothing(owner, make_kind, queued):
    """A job that reports rarely hears of its end between two heartbeats too."""

    def work(job: JobContext):
        job.progress(0.5, "quiet")
        while True:
            time.sleep(0.05)
            job.check()

    job_id = ask(owner, make_kind(work, Queue.bulk))
    thread = in_background(owner, job_id)
    wait_for_note(owner, job_id)
    cancel(owner, job_id, thread)
    assert scalar("SELECT state FROM jobs WHERE id = :id", {"id": job_id}) == "cancelled"
