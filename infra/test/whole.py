"""Runs a command with all it starts: `whole.py COMMAND …`.

Processes that lose their parent become children of this one (PR_SET_CHILD_SUBREAPER, prctl(2)), which waits for them:
the process that waits for this one gets the processor time of all of them. Those that still run `LEFT_S` after the
command are not counted.

SIGTERM ends all of it: the command and every process below this one, in whatever group or session it is.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
LEFT_S = 2.0
LOOK_S = 0.02
# A killed process that the kernel holds back longer is left.
KILLED_S = 10.0


def main(command: list[str]) -> int:
    """Run the command; return its exit code, 128 and the number of the signal that ended it, or 127 without it."""
    heard: list[int] = []
    # The whole group gets an interruption, and the command decides what it means. A handler does not outlive exec.
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    signal.signal(signal.SIGTERM, lambda *_: end_all())
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        process = subprocess.Popen(command)
    except OSError as error:
        print(f"{command[0]} cannot be run: {error}", flush=True)
        return 127
    if heard:  # before there was a command
        process.send_signal(signal.SIGINT)
    status = None
    while status is None:
        pid, ended = os.wait()
        status = ended if pid == process.pid else None
    process.returncode = code = os.waitstatus_to_exitcode(status)
    until_s = time.monotonic() + LEFT_S
    try:
        while time.monotonic() < until_s:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(LOOK_S)
    except ChildProcessError:
        pass  # none is left
    return code if code >= 0 else 128 - code


def end_all() -> None:
    """Kill every descendant, those of killed ones too, which become children of this process; then end it."""
    until_s = time.monotonic() + KILLED_S
    while (below := descendants(os.getpid())) and time.monotonic() < until_s:
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            pass
        time.sleep(LOOK_S)
    os._exit(128 + signal.SIGTERM)


def descendants(ancestor: int) -> list[int]:
    """Return the processes below one that have not ended, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(entry.name))
    found = [ancestor]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
