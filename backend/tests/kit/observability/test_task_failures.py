"""What a worker logs of a failed task: once, and in one line while the database is away."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from lab.benchmarks.storing.product import free_port
from tests.conftest import Servers

_RUN = """
from sinemora.schedule import app
from sinemora.kit.celery import celery
from sinemora.kit.observability.logging import configure_logging

@celery.task(name="tests.divide")
def divide():
    return 1 / 0

configure_logging()
for name in {names!r}:
    app.tasks[name].apply()
"""


def lines(names: Sequence[str], variables: dict[str, str]) -> list[dict[str, Any]]:
    """Run tasks as a worker does. Return its lines of log."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN.format(names=names)],
        env={**os.environ, "SINEMORA_LOG_FORMAT": "json", **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stderr.splitlines()]


@pytest.fixture
def away() -> dict[str, str]:
    """Return settings of a database that nothing serves."""
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/sinemora"
    names = ("SINEMORA_DATABASE_URL", "SINEMORA_DATABASE_OWNER_URL", "SINEMORA_DATABASE_SYSTEM_URL")
    return dict.fromkeys(names, url)


def test_a_failed_task_is_logged_once_and_in_one_line_while_the_database_is_away(
    servers: Servers, away: dict[str, str]
):
    asking = ("tenants.sweep", "alerts.evaluate", "measurements.roll_up")
    *without_database, fault = lines((*asking, "tests.divide"), away)
    for name, line in zip(asking, without_database, strict=True):
        assert (line["event"], line["task"], line["code"]) == ("task failed", name, "database_unavailable")
        assert "exception" not in line
        assert "\n" not in line["error"]
        assert "refused" in line["error"]
    assert (fault["event"], fault["level"]) == ("task failed", "error")
    assert "ZeroDivisionError" in fault["exception"]
