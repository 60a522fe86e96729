"""Jobs for scripts: wait for their end, then go to their result or their problem."""

import socket
import threading
import time
from uuid import uuid4

import httpx2
import pytest
import uvicorn

from sinemora.jobs import executor
from sinemora.jobs.context import JobContext
from sinemora.kit.db import engine
from sinemora.main import create_app
from tests.callers import Caller
from tests.jobs.asking import ask


def test_a_wait_ends_with_the_job(owner: Caller, make_kind, sent):
    job_id = ask(owner, make_kind(lambda job: {"times": job.params["n"]}))
    timer = threading.Timer(1.0, executor.run, (owner.tenant_id, job_id))
    timer.start()
    began = time.monotonic()
    answer = owner.get(f"/v1/jobs/{job_id}", params={"wait_s": 20})
    assert 1 <= time.monotonic() - began < 5
    assert (answer.json()["state"], answer.headers["Location"]) == ("succeeded", f"/v1/jobs/{job_id}/result")
    result = owner.get(f"/v1/jobs/{job_id}/result")
    assert (result.status_code, result.json()) == (200, {"times": 3})


def test_a_wait_ends_after_its_time_and_holds_no_connection(owner: Caller, make_kind, sent):
    job_id = ask(owner, make_kind(lambda job: None))
    in_use: list[int] = []
    threading.Timer(0.7, lambda: in_use.append(engine().pool.checkedout())).start()  # type: ignore[attr-defined]
    began = time.monotonic()
    answer = owner.get(f"/v1/jobs/{job_id}", params={"wait_s": 1.2})
    assert 1.2 <= time.monotonic() - began < 3
    assert (answer.json()["state"], "Location" in answer.headers, in_use) == ("queued", False, [0])
    pending = owner.get(f"/v1/jobs/{job_id}/result")
    assert (pending.status_code, pending.json()["code"], pending.headers["Retry-After"]) == (409, "job_not_done", "1")
    assert owner.post(f"/v1/jobs/{job_id}/cancel").status_code == 200
    assert owner.get(f"/v1/jobs/{job_id}/result?wait_s=30").json()["code"] == "job_cancelled"


def test_unknown_jobs_and_those_of_others_are_not_waited_for(owner: Caller, other_owner: Caller, make_kind, sent):
    job_id = ask(owner, make_kind(lambda job: None))
    began = time.monotonic()
    for caller, wanted in ((other_owner, job_id), (owner, uuid4())):
        answer = caller.get(f"/v1/jobs/{wanted}", params={"wait_s": 30})
        assert (answer.status_code, answer.json()["code"]) == (404, "job_unknown")
    assert time.monotonic() - began < 5
    too_long = owner.get(f"/v1/jobs/{job_id}", params={"wait_s": 31})
    assert (too_long.status_code, too_long.json()["errors"][0]["pointer"]) == (422, "#/query/wait_s")


def test_the_result_is_the_resource_that_the_job_made(owner: Caller, make_kind, sent):
    made = ask(owner, make_kind(lambda job: {"id": "7"}, href="/v1/things/{id}"))
    executor.run(owner.tenant_id, made)
    answer = owner.get(f"/v1/jobs/{made}/result", follow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/v1/things/7")
    assert owner.get(f"/v1/jobs/{made}").json()["result_href"] == "/v1/things/7"


def test_the_result_of_a_job_with_a_file_is_the_file(owner: Caller, make_kind, sent):
    def work(job: JobContext):
        with job.output("rows.csv", "text/csv") as file:
            file.write(b"a,b")

    job_id = ask(owner, make_kind(work))
    executor.run(owner.tenant_id, job_id)
    answer = owner.get(f"/v1/jobs/{job_id}/result", follow_redirects=False)
    assert owner.get(answer.headers["Location"]).content == b"a,b"


def test_a_client_that_goes_away_while_it_waits_disturbs_nobody(
    owner: Caller, make_kind, sent, redis, caplog: pytest.LogCaptureFixture
):
    """A real connection that is cut: others still wait for the same job, and nothing is held after its end."""
    job_id = ask(owner, make_kind(lambda job: {"times": 2}))
    app = create_app()
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = listener.getsockname()[1]
    cookies = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
    path = f"/v1/jobs/{job_id}?wait_s=25"
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port)) as gone:
            gone.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookies}\r\n\r\n".encode())
            time.sleep(0.05)
    answers: list[httpx2.Response] = []

    def wait() -> None:
        answers.append(httpx2.get(f"http://127.0.0.1:{port}{path}", headers={"Cookie": cookies}, timeout=30))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(1)
    assert engine().pool.checkedout() == 0  # type: ignore[attr-defined]
    executor.run(owner.tenant_id, job_id)
    began = time.monotonic()
    waiting.join(20)
    assert time.monotonic() - began < 3
    assert (answers[0].status_code, answers[0].json()["state"]) == (200, "succeeded")
    until = time.monotonic() + 5
    while app.state.job_watch._waiting and time.monotonic() < until:
        time.sleep(0.05)
    assert app.state.job_watch._waiting == {}
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive()
    assert [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
