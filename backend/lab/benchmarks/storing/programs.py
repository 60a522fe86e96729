"""Further programs of a running product, as its supervisor starts them."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.redis import broker_url
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.servers.service_user import caller
from sinemora.operations.embedded.services import services


def use_broker() -> None:
    """Let this process send tasks to the product: it read the address at import, when settings named no server."""
    celery.conf.update(broker_url=broker_url(settings().redis_url))


@contextmanager
def program(name: str, folder: Path, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program with a log in `folder`, and kill it afterwards."""
    programs = services(settings(), DataFolder(folder), os.environ | env, caller())
    planned = next(one for one in programs if one.name == name)
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            planned.command, start_new_session=True, env=planned.environment, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
