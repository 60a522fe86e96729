"""Server process without the supervisor, for tests and one-off commands."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sinemora.operations.embedded.servers.service_user import ServiceUser


class Foreground:
    """Server process in a separate session, run as `user`. Its output is appended to `log`."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: dict[str, str], log: Path, user: ServiceUser
    ) -> None:
        with log.open("ab") as out:
            # A file, not a pipe: the server would keep the pipe open.
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                **user.popen_identity(),  # type: ignore[call-overload]
            )

    def wait_until(self, ready: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until `ready`. Return False when the process ends or `timeout_s` pass first."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def stop(self, signals: Sequence[signal.Signals], timeout_s: float) -> None:
        """Send `signals` in turn, `timeout_s` apart, until the process has ended."""
        for number in signals:
            if self._process.poll() is None:
                self._process.send_signal(number)
            try:
                self._process.wait(timeout_s)
                return
            except subprocess.TimeoutExpired:
                continue
