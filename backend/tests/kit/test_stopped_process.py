"""A process of a worker that is stopped between tasks: the pulse of the worker ends, so that it is started again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from celery import Celery

from sinemora.kit.redis import broker_url
from sinemora.operations.embedded.programs import children_of
from tests.conftest import Servers
from tests.waits import until

_WORKER = """
from sinemora.kit import pulse
from sinemora.kit.celery import celery
from sinemora.schedule import app
pulse._BEGUN_WITHIN_S = 2.0
@celery.task(name="tests.nothing")
def nothing():
    pass
app.worker_main("worker --queues=tests-stopped --concurrency=1 --without-gossip --without-mingle".split())
"""


def test_a_worker_whose_idle_process_is_stopped_has_no_pulse_while_a_task_waits(servers: Servers, tmp_path: Path):
    path = tmp_path / "pulse"
    environment = {**os.environ, "SINEMORA_WORKER_PULSE_FILE": str(path)}
    worker = subprocess.Popen([sys.executable, "-c", _WORKER], env=environment, start_new_session=True)

    def beats() -> bool:
        before_ns = path.stat().st_mtime_ns
        time.sleep(4.0)  # two heartbeats of Celery
        return path.stat().st_mtime_ns != before_ns

    try:
        until(path.exists, "the first pulse of the worker")
        until(lambda: children_of(worker.pid), "the process for tasks")
        (process,) = children_of(worker.pid)
        os.kill(process, signal.SIGSTOP)
        until(beats, "a pulse while no task waits for it")
        app = Celery(broker=broker_url(servers.valkey.url()))
        app.send_task("tests.nothing", queue="tests-stopped")
        until(lambda: not beats(), "the end of the pulse")
        os.kill(process, signal.SIGCONT)
        until(beats, "a pulse after the task")
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
