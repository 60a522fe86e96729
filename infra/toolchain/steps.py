"""Runs numbered steps, side by side where they do not need one another: `[3/7] Building the front end … 42.1 s`."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common import LOGS, StepFailedError, environment

TAIL_LINES = 15
AT_ONCE = 4  # builds use every processor by themselves; downloads wait beside them
_STOP_S = 5.0


class Log:
    """The log file of one step's commands."""

    def __init__(self, path: Path) -> None:
        self.path = path
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
        with _running(process):
            if process.wait() != 0:
                raise StepFailedError(f"{Path(command[0]).name} ended with {process.returncode}", advice, self.path)


@dataclass(frozen=True)
class Step:
    """One step of a goal.

    `action` returns a word or two on where the result came from. `needs` names steps that must be done first, as far
    as they belong to the goal. `packages` returns the Debian packages the machine lacks for this step.
    """

    title: str
    name: str
    action: Callable[[Log], str]
    needs: tuple[str, ...] = ()
    packages: Callable[[], list[str]] | None = None


class Steps:
    """Runs steps, prints each with its number and time when it is done, and stops at the first that fails."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.times: list[tuple[str, float]] = []
        self._began = time.monotonic()

    def run(self, steps: Sequence[Step], after: Mapping[str, Callable[[], None]] | None = None) -> None:
        """Run `steps`, several at once; call `after[name]` when the step of that name is done."""
        waiting = list(steps)
        names = {step.name for step in steps}
        running: dict[Future[str], tuple[Step, float]] = {}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                while waiting or running:
                    under_way = {step.name for step, _ in running.values()} | {step.name for step in waiting}
                    for step in [step for step in waiting if not names & under_way & set(step.needs)]:
                        waiting.remove(step)
                        running[pool.submit(step.action, Log(LOGS / f"{step.name}.log"))] = (step, time.monotonic())
                    self._show(running.values())
                    for future in wait(running, 1.0, FIRST_COMPLETED).done:
                        step, began = running.pop(future)
                        self._done(step, time.monotonic() - began, future)
                        if after and step.name in after:
                            after[step.name]()
            except BaseException as error:
                _stop_running()
                if isinstance(error, StepFailedError):
                    _explain(error)
                    raise SystemExit(1) from None
                if isinstance(error, KeyboardInterrupt):
                    print("\ninterrupted: the same command continues from here", flush=True)
                    raise SystemExit(130) from None
                raise

    def hand_over(self) -> str:
        """Return the state from which `sinemora up` continues to count, as JSON."""
        return json.dumps({"total": self.total, "times": self.times, "began": self._began})

    def _done(self, step: Step, took: float, future: "Future[str]") -> None:
        self.times.append((step.title, took))
        head = f"[{len(self.times)}/{self.total}] {step.title} …"
        if sys.stdout.isatty():
            print("\r\x1b[K", end="")
        try:
            note = future.result()
        except StepFailedError:
            print(f"{head} failed", flush=True)
            raise
        print(f"{head} {took:.1f} s" + (f"  ({note})" if note else ""), flush=True)

    def _show(self, running: Iterable[tuple[Step, float]]) -> None:
        """Show on a terminal what runs and since when."""
        if sys.stdout.isatty():
            now = time.monotonic()
            parts = [f"{step.title} {now - began:.0f} s" for step, began in running]
            print(f"\r\x1b[K… {' · '.join(parts)}"[:160], end="", flush=True)


_processes: set["subprocess.Popen[bytes]"] = set()
_lock = threading.Lock()
_stopping = threading.Event()


@contextmanager
def _running(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Keep `process` in the list of those that are stopped when another step fails."""
    with _lock:
        _processes.add(process)
    if _stopping.is_set():
        process.terminate()
    try:
        yield
    finally:
        with _lock:
            _processes.discard(process)
        if process.poll() is None:
            process.terminate()


def _stop_running() -> None:
    _stopping.set()
    deadline = time.monotonic() + _STOP_S
    while True:
        with _lock:
            left = [process for process in _processes if process.poll() is None]
        if not left:
            return
        for process in left:
            process.terminate() if time.monotonic() < deadline else process.kill()
        time.sleep(0.2)


def _explain(failure: StepFailedError) -> None:
    print(f"\n{failure.what}", file=sys.stderr)
    if failure.log and failure.log.exists():
        lines = failure.log.read_text("utf-8", errors="replace").splitlines()
        print(*(f"    {line}" for line in lines[-TAIL_LINES:]), sep="\n", file=sys.stderr)
        print(f"The whole log: {failure.log}", file=sys.stderr)
    print(f"What to do: {failure.advice}", file=sys.stderr)
