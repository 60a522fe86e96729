"""Child processes that end with the profiler, however it ends: each runs in a PID namespace.

The first process of the namespace, a shell, holds the read end of a pipe. When the profiler closes the other end, or is
killed and the kernel closes it, the shell terminates the program and exits. The kernel then kills every process left in
the namespace, including daemons and processes of another user, which a parent-death signal would not reach.
"""

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

_GRACE_S = 5
# When the program ends, the namespace ends. The program gets an empty standard input.
_SHELL = f"""
exec 3<&0
"$@" </dev/null 3<&- & program=$!
{{ cat; kill "$program"; sleep {_GRACE_S}; kill -9 "$program"; }} <&3 >/dev/null 2>&1 &
wait "$program"
"""


def start(words: Sequence[str], *, inside: Sequence[str] = (), **streams: Any) -> "subprocess.Popen[bytes]":
    """Run a program that ends with this process; `inside`: command prefix that selects where (`nsenter …`).

    `stdin` is reserved. The exit code is the program's, or 128 plus the signal that ended it. Raises `OSError` if
    `unshare` of util-linux is missing.
    """
    unshare = shutil.which("unshare") or "unshare"
    supervisor = [unshare, "--pid", "--fork", "--kill-child", "sh", "-c", _SHELL, "sh"]
    # A separate session: Ctrl-C reaches the profiler only, which then stops the program.
    return subprocess.Popen([*inside, *supervisor, *words], stdin=subprocess.PIPE, start_new_session=True, **streams)


def run(words: Sequence[str], inside: Sequence[str], timeout_s: float) -> tuple[int, str]:
    """Run a program to its end; return exit code and output of both streams. Raises `OSError`, `TimeoutExpired`."""
    program = start(words, inside=inside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert program.stdout is not None
    assert program.stdin is not None
    # `communicate` would close the pipe that keeps the program running.
    pipe, program.stdin = program.stdin, None
    try:
        output, _ = program.communicate(timeout=timeout_s)
    finally:
        pipe.close()
        if program.poll() is None:
            program.kill()
            program.wait()
        program.stdout.close()
    return program.returncode, output.decode(errors="replace")


def stop(program: "subprocess.Popen[bytes]") -> None:
    """Stop a program, and wait until all its processes have ended."""
    if program.stdin is not None:
        program.stdin.close()
    try:
        program.wait(2 * _GRACE_S)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
