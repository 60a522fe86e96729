"""Runs a command with all it starts: `whole.py COMMAND …`.

Processes that lose their parent become children of this one (PR_SET_CHILD_SUBREAPER, prctl(2)), which waits for them:
the process that waits for this one gets the processor time of all of them. Those that still run `LEFT_S` after the
command are not counted.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
LEFT_S = 2.0
LOOK_S = 0.02


def main(command: list[str]) -> int:
    """Run the command; return its exit code, 128 and the number of the signal that ended it, or 127 without it."""
    heard: list[int] = []
    # The whole group gets an interruption, and the command decides what it means. A handler does not outlive exec.
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
