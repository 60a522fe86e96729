"""Queues and turns: tenants alternate, what is lost is sent again, and nothing waits behind bulk work."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from celery.signals import celeryd_after_setup

from sinemora import schedule
from sinemora.jobs import executor, queries, tasks
from sinemora.jobs.context import JobContext
from sinemora.jobs.dispatch import TASKS
from sinemora.jobs.models import Queue
from sinemora.kit.celery import ROUTES, celery
from sinemora.kit.config import settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.servers.service_user import caller
from sinemora.operations.embedded.services import services
from tests.jobs.asking import ask
from tests.statements import execute

STACK = Path(__file__).resolve().parents[3] / "docker-compose.yml"

pytestmark = pytest.mark.whole_store


def test_tenants_take_turns(owner, other_owner, make_kind, queued):
    """Six jobs of one tenant came before two of another, which wait for one each."""
    order: list[str] = []
    kind = make_kind(lambda job: order.append("a" if job.tenant_id == owner.tenant_id else "b"))
    for member in [owner] * 6 + [other_owner] * 2:
        ask(member, kind)
    for _ in range(9):  # one message too many finds nothing
        executor.run_next(Queue.bulk)
    assert "".join(order) == "ababaaaa"


def test_the_tenant_with_fewer_running_jobs_is_next(owner, other_owner, make_kind, queued):
    def work(job: JobContext):
        if job.params["n"] == 3 and len(order) == 0:
            order.append("a")
            executor.run_next(Queue.bulk)  # as a second worker would
            executor.run_next(Queue.bulk)
        else:
            order.append("a" if job.tenant_id == owner.tenant_id else "b")

    order: list[str] = []
    kind = make_kind(work)
    for member in (owner, owner, other_owner, other_owner):
        ask(member, kind)
    executor.run_next(Queue.bulk)
    assert order == ["a", "b", "b"]


def test_a_tenant_has_one_bulk_job_at_a_time_and_its_next_one_is_sent_at_the_end(owner, make_kind, queued):
    order: list[str] = []

    def work(job: JobContext):
        order.append("begun")
        executor.run_next(Queue.bulk)  # as a second worker would, with the message of the second job
        order.append("ended")

    kind = make_kind(work)
    for _ in range(2):
        ask(owner, kind)
    queued.clear()
    executor.run_next(Queue.bulk)
    assert order == ["begun", "ended"]
    assert len(queued) == 1
    executor.run_next(Queue.bulk)
    assert order == ["begun", "ended"] * 2
    assert len(queued) == 1


def test_a_solve_is_found_sooner_than_bulk_work(owner, make_kind, queued):
    job_id = ask(owner, make_kind(lambda job: None, Queue.solve))
    execute(
        "UPDATE jobs SET state = 'running', attempt = 1, heartbeat_at = :at",
        {"at": datetime.now(UTC) - timedelta(seconds=queries.SOLVE_SILENT_S + 1)},
    )
    queued.clear()
    tasks.sweep()
    assert [message["job_id"] for message in queued] == [str(job_id)]
    execute("UPDATE jobs SET queue = 'bulk'")
    queued.clear()
    tasks.sweep()
    assert queued == []
    assert queries.SOLVE_SILENT_S + tasks.SWEEP_S <= 13  # two seconds are left for the worker


def test_the_sweep_sends_no_message_that_waits_in_the_broker_already(owner, make_kind, redis):
    kind = make_kind(lambda job: None, Queue.solve)
    for _ in range(3):
        ask(owner, kind)
    execute("UPDATE jobs SET created_at = created_at - interval '1 minute'")
    assert redis.llen("solve") == 3
    tasks.sweep()
    assert redis.llen("solve") == 3
    redis.ltrim("solve", 1, -1)  # the broker lost one
    tasks.sweep()
    assert redis.llen("solve") == 3


def test_what_must_never_wait_has_a_queue_and_a_worker_to_itself():
    watched = {entry["task"] for name, entry in schedule.SCHEDULE.items() if name in ("jobs.sweep", "alerts.evaluate")}
    assert {ROUTES[name]["queue"] for name in watched} == {"watch"}
    assert [name for name, route in ROUTES.items() if route["queue"] == "watch" and name not in watched] == []
    assert "watch" not in {*TASKS}
    commands = [line for line in STACK.read_text().splitlines() if "--queues" in line]
    assert [line for line in commands if "watch" in line] == [line for line in commands if '--queues, "watch"' in line]
    assert sum("watch" in line for line in commands) == 1


def test_a_run_of_a_frequent_task_that_hangs_holds_its_process_for_ten_minutes_at_most():
    for entry in schedule.SCHEDULE.values():
        if isinstance(entry["schedule"], float):
            assert entry["options"].get("time_limit", celery.tasks[entry["task"]].time_limit) <= 600


def test_no_periodic_task_and_no_notice_waits_behind_the_job_of_a_tenant(tmp_path: Path):
    """Each queue has one program, here and in the Compose stack; those that serve jobs serve nothing else."""
    here = [
        word.removeprefix("--queues=").split(",")
        for one in services(settings(), DataFolder(tmp_path), {}, caller())
        for word in one.command
        if word.startswith("--queues=")
    ]
    there = re.findall(r'--queues, "([a-z,]+)"', STACK.read_text())
    assert sorted(here) == sorted(one.split(",") for one in there)
    assert sorted(queue for queues in here for queue in queues) == sorted({"notices", "upkeep", "watch", *TASKS})
    alone = [queues for queues in here if {"bulk", "solve"} & {*queues}]
    assert alone == [["bulk"], ["solve"]]
    of_jobs = {task.name for task in TASKS.values()}
    assert {name for name, route in ROUTES.items() if route["queue"] in ("bulk", "solve")} <= of_jobs
    assert {entry["task"] for entry in schedule.SCHEDULE.values()}.isdisjoint(of_jobs)
    assert celery.conf.task_default_queue == "upkeep"


def served(*queues: str) -> set[str]:
    """Return the queues that a worker with these on its command line serves."""
    worker = celery.Worker(queues=queues, hostname="one@here", quiet=True)
    try:
        celeryd_after_setup.send(sender=worker.hostname, instance=worker, conf=celery.conf)
        return set(celery.amqp.queues.consume_from)
    finally:
        celery.amqp.queues.consume_from.clear()


def test_a_worker_with_the_command_line_of_an_earlier_version_serves_the_new_queues():
    assert served("fast", "bulk") == {"fast", "bulk", "notices", "upkeep"}


@pytest.mark.parametrize(
    ("queues", "nice"), [("bulk", [5]), ("solve", [5]), ("upkeep", [5]), ("watch", []), ("notices,fast", [])]
)
def test_jobs_and_upkeep_leave_busy_processors_to_others(queues: str, nice: list[int], monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    monkeypatch.setattr(os, "nice", asked.append)
    served(*queues.split(","))
    assert asked == nice
