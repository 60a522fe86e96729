"""Numbered steps with their time: `[3/7] Building the agent … 42.1 s`."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from common import LOGS, StepFailedError, environment

TAIL_LINES = 15


class Log:
    """Where one step's commands write; on a terminal the elapsed seconds are shown meanwhile."""

    def __init__(self, path: Path, tick: Callable[[], None]) -> None:
        self.path = path
        self._tick = tick
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", "utf-8")

    def run(self, command: Sequence[str | Path], advice: str, cwd: Path | None = None, **env: str) -> None:
        """Run `command`; raises StepFailedError with `advice` when it fails or cannot start."""
        with self.path.open("a", encoding="utf-8") as out:
            out.write("$ " + " ".join(map(str, command)) + "\n")
            out.flush()
            try:
                process = subprocess.Popen(
                    command, cwd=cwd, env=environment() | env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
                )
            except OSError as error:
                raise StepFailedError(f"{command[0]} cannot be run: {error.strerror}", advice, self.path) from None
        while True:
            try:
                if process.wait(1.0) == 0:
                    return
                raise StepFailedError(f"{Path(command[0]).name} ended with {process.returncode}", advice, self.path)
            except subprocess.TimeoutExpired:
                self._tick()
            except BaseException:
                if process.poll() is None:
                    process.terminate()
                raise


class Steps:
    """Runs steps in order, prints each with its number and time, and stops at the first that fails."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.times: list[tuple[str, float]] = []

    def run(self, title: str, name: str, action: Callable[[Log], str]) -> None:
        """Run `action`; its result is a word or two on where the thing came from."""
        head = f"[{len(self.times) + 1}/{self.total}] {title} …"
        live = sys.stdout.isatty()
        started = time.monotonic()

        def tick() -> None:
            if live:
                print(f"\r{head} {time.monotonic() - started:.0f} s ", end="", flush=True)

        print(head, end="" if live else " ", flush=True)
        try:
            note = action(Log(LOGS / f"{name}.log", tick))
        except StepFailedError as failure:
            print(f"\r{head} failed" if live else "failed")
            _explain(failure)
            raise SystemExit(1) from None
        except KeyboardInterrupt:
            print(f"\r{head} interrupted" if live else "interrupted")
            raise SystemExit(130) from None
        took = time.monotonic() - started
        self.times.append((title, took))
        said = f"{took:.1f} s" + (f"  ({note})" if note else "")
        print(f"\r{head} {said}" if live else said, flush=True)

    def hand_over(self) -> str:
        """What `sinemora up` needs to go on counting, as JSON."""
        return json.dumps({"total": self.total, "times": self.times})


def _explain(failure: StepFailedError) -> None:
    print(f"\n{failure.what}", file=sys.stderr)
    if failure.log and failure.log.exists():
        lines = failure.log.read_text("utf-8", errors="replace").splitlines()
        print(*(f"    {line}" for line in lines[-TAIL_LINES:]), sep="\n", file=sys.stderr)
        print(f"The whole log: {failure.log}", file=sys.stderr)
    print(f"What to do: {failure.advice}", file=sys.stderr)
