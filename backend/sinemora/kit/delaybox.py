"""A running delaybox that follows commands (docs/delaybox.md)."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_BUILT = (Path("agent/target/release/delaybox"), Path("agent/target/debug/delaybox"))


class DelayboxError(Exception):
    """delaybox cannot run, has ended or refused a command."""


class Delaybox:
    """A delaybox process; `ready` is what it printed when it was ready. DelayboxError when it fails or has ended."""

    def __init__(self, arguments: Sequence[str], program: Path | None = None) -> None:
        command = [str(program or installed()), *arguments, "--control"]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise DelayboxError(f"Cannot run {command[0]}: {error.strerror}") from None
        self.ready = self._answer()

    def ask(self, line: str) -> dict[str, Any]:
        """Send a command and return its answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            raise DelayboxError("delaybox has ended") from None
        return self._answer()

    def achieved_us(self) -> float | None:
        """Return the median latency of both directions since the last `reset`, None without packets."""
        counted = self.ask("statistics")["statistics"]
        both = [counted[direction]["achieved_ns"] for direction in ("outbound", "inbound")]
        return None if None in both else float(sum(direction["p50"] for direction in both) / 1e3)

    def close(self) -> None:
        """Stop the process."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise DelayboxError("delaybox has ended; its message is above")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise DelayboxError(f"delaybox: {answer['error']}")
        return answer


def installed() -> Path:
    """Return the path of delaybox: of PATH, or as built here. DelayboxError without one."""
    if path := shutil.which("delaybox"):
        return Path(path)
    for folder in (Path.cwd(), *Path(__file__).resolve().parents):
        if built := next((folder / path for path in _BUILT if (folder / path).exists()), None):
            return built
    raise DelayboxError(
        "Program missing: delaybox cannot be found.\nWhat to do: run make setup, or give its path: --delaybox PATH"
    )
