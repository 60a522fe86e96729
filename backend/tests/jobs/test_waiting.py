"""Jobs for scripts: wait for their end, then go to their result or their problem."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx2
import pytest

from sinemora.jobs import executor
from sinemora.jobs.context import JobContext
from sinemora.kit.db import engine
from sinemora.main import create_app
from tests.api_clients import Caller, code_of
from tests.jobs.asking import ask, found
from tests.terminal import api, serving
from tests.waits import LONGEST_WAIT_S, WAIT_MOST_S, until


def waits_of(owner: Caller) -> int:
    """Return how many jobs requests of the API that tests share wait for."""
    return len(owner.http.app.state.job_watch._waiting)  # type: ignore[attr-defined]


def in_use() -> int:
    return engine().pool.checkedout()  # type: ignore[attr-defined]


def test_a_wait_ends_with_the_job(owner: Caller, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: {"times": job.params["n"]}))
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(owner.get, f"/v1/jobs/{job_id}", params={"wait_s": LONGEST_WAIT_S})
        until(lambda: waits_of(owner), "the wait")
        executor.run(owner.tenant_id, job_id)
        answer = waiting.result()
    assert time.monotonic() - began < LONGEST_WAIT_S
    assert (answer.json()["state"], answer.headers["Location"]) == ("succeeded", f"/v1/jobs/{job_id}/result")
    result = owner.get(f"/v1/jobs/{job_id}/result")
    assert (result.status_code, result.json()) == (200, {"times": 3})


def test_a_wait_ends_after_its_time_and_holds_no_connection(owner: Caller, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: None))
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(owner.get, f"/v1/jobs/{job_id}", params={"wait_s": 3})
        until(lambda: waits_of(owner), "the wait")
        until(lambda: in_use() == 0 or waiting.done(), "no connection in use")
        assert not waiting.done()
        answer = waiting.result()
    assert 3 <= time.monotonic() - began < LONGEST_WAIT_S
    assert (answer.json()["state"], "Location" in answer.headers) == ("queued", False)
    pending = owner.get(f"/v1/jobs/{job_id}/result")
    assert (pending.status_code, pending.json()["code"], pending.headers["Retry-After"]) == (409, "job_not_done", "1")
    assert owner.post(f"/v1/jobs/{job_id}/cancel").status_code == 200
    assert owner.get(f"/v1/jobs/{job_id}/result?wait_s=30").json()["code"] == "job_cancelled"


def test_unknown_jobs_and_those_of_others_are_not_waited_for(owner: Caller, other_owner: Caller, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: None))
    began = time.monotonic()
    for caller, wanted in ((other_owner, job_id), (owner, uuid4())):
        assert code_of(caller.get(f"/v1/jobs/{wanted}", params={"wait_s": LONGEST_WAIT_S})) == (404, "job_unknown")
    assert time.monotonic() - began < LONGEST_WAIT_S
    too_long = owner.get(f"/v1/jobs/{job_id}", params={"wait_s": 31})
    assert (too_long.status_code, too_long.json()["errors"][0]["pointer"]) == (422, "#/query/wait_s")


def test_the_result_is_the_resource_that_the_job_made(owner: Caller, make_kind, queued):
    made = ask(owner, make_kind(lambda job: {"id": "7"}, href="/v1/things/{id}"))
    executor.run(owner.tenant_id, made)
    answer = owner.get(f"/v1/jobs/{made}/result", follow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/v1/things/7")
    assert found(owner, made)["result_href"] == "/v1/things/7"


def test_the_result_of_a_job_with_a_file_is_the_file(owner: Caller, make_kind, queued):
    def work(job: JobContext):
        with job.output("rows.csv", "text/csv") as file:
            file.write(b"a,b")

    job_id = ask(owner, make_kind(work))
    executor.run(owner.tenant_id, job_id)
    answer = owner.get(f"/v1/jobs/{job_id}/result", follow_redirects=False)
    assert owner.get(answer.headers["Location"]).content == b"a,b"


def test_a_client_that_goes_away_while_it_waits_disturbs_nobody(
    owner: Caller, make_kind, queued, redis, caplog: pytest.LogCaptureFixture
):
    """A real connection that is cut: others still wait for the same job, and nothing is held after its end."""
    job_id = ask(owner, make_kind(lambda job: {"times": 2}))
    app = create_app()
    cookies = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
    path = f"/v1/jobs/{job_id}?wait_s=30"
    with serving(api(app)) as (host, port):
        for _ in range(20):
            with socket.create_connection((host, port)) as gone:
                gone.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookies}\r\n\r\n".encode())
                time.sleep(0.05)
        address, headers = f"http://{host}:{port}{path}", {"Cookie": cookies}
        with ThreadPoolExecutor(1) as pool:
            began = time.monotonic()
            waiting = pool.submit(httpx2.get, address, headers=headers, timeout=WAIT_MOST_S)
            until(lambda: app.state.job_watch._waiting, "the wait")
            until(lambda: in_use() == 0 or waiting.done(), "no connection in use")
            assert not waiting.done()
            executor.run(owner.tenant_id, job_id)
            answer = waiting.result()
        assert time.monotonic() - began < LONGEST_WAIT_S
        assert (answer.status_code, answer.json()["state"]) == (200, "succeeded")
        until(lambda: app.state.job_watch._waiting == {}, "nothing waits")
    assert [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
