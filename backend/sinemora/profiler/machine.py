"""The machine a profile was made on, in words: a curve belongs to it."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Ends with its parent, however that ends: by PR_SET_PDEATHSIG (prctl(2)), for on a busy machine its own look at who its
# parent is may come late; that look is for a parent that ended before.
_LOOP = """
import ctypes, os, signal
parent = os.getppid()
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


def description() -> dict[str, str]:
    """Processor, cores, memory, kernel and system, as far as the machine tells."""
    kib = int(_first(r"MemTotal:\s*(\d+)", "/proc/meminfo") or 0)
    return {
        "processor": _first(r"model name\s*:\s*(.+)", "/proc/cpuinfo") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{kib / 1024**2:.0f} GiB",
        "kernel": platform.release(),
        "system": _first(r'PRETTY_NAME="(.+)"', "/etc/os-release"),
        "hypervisor": _first(r"^flags.*\b(hypervisor)\b", "/proc/cpuinfo"),
    }


def versions(commands: Sequence[Sequence[str]]) -> list[str]:
    """The first line each command prints that has a digit; commands that fail tell nothing."""
    found = []
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if re.search(r"\d", line)]
        if lines:
            found.append(lines[0][:100])
    return found


@contextmanager
def awake() -> Iterator[None]:
    """Keep every processor awake with a loop of idle priority, which gives way to whatever else wants to run."""
    loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _first(pattern: str, path: str) -> str:
    try:
        match = re.search(pattern, Path(path).read_text("utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return ""
    return match[1].strip() if match else ""
