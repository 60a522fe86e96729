"""Description of the machine of a profile; a curve is valid for that machine."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Ends with its parent: by PR_SET_PDEATHSIG (prctl(2)), because polling the parent may be late on a busy machine. The
# poll covers a parent that ended before prctl.
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
    """Return processor, cores, memory, kernel and system; empty where unknown."""
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
    """Return the first output line with a digit of each command; failing commands are skipped."""
    first_lines = []
    for command in commands:
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines = [line.strip() for line in (result.stdout + result.stderr).splitlines() if re.search(r"\d", line)]
        if lines:
            first_lines.append(lines[0][:100])
    return first_lines


@contextmanager
def awake() -> Iterator[None]:
    """Keep every processor awake with a loop of idle priority, which yields to all other work."""
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
