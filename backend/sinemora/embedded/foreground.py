"""A server run on its own, without the supervisor: for tests and one-off commands."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sinemora.embedded.service_user import ServiceUser


class Foreground:
    """One server process, in a session of its own and as `user`; what it prints is appended to `log`."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: dict[str, str], log: Path, user: ServiceUser
    ) -> None:
        with log.open("ab") as out:
            # A file, never a pipe: the server would hold the pipe open for as long as it lives.
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

    def becomes(self, ready: Callable[[], bool], patience_s: float) -> bool:
        """Wait until `ready`; False when the process ends or `patience_s` pass before."""
        deadline = time.monotonic() + patience_s
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def stop(self, signals: Sequence[signal.Signals], patience_s: float) -> None:
        """Send `signals` in turn, each `patience_s` after the one before, until the process has ended."""
        for one in signals:
            if self._process.poll() is None:
                self._process.send_signal(one)
            try:
                self._process.wait(patience_s)
                return
            except subprocess.TimeoutExpired:
                continue
