"""Programs that cannot outlive a profile, however it ends: a PID namespace each, whose first process waits for us.

That first process, a shell, holds the read end of a pipe. When we close the other end, or are killed and the kernel
closes it, it asks the program to end, and ends itself; the kernel then kills whatever is left in the namespace, also
what changed its user or became a daemon (a parent-death signal would not reach either).
"""

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

_GRACE_S = 5
# A program whose own first process ends takes the rest with it. Standard input stays empty for the program.
_SHELL = f"""
exec 3<&0
"$@" </dev/null 3<&- & program=$!
{{ cat; kill "$program"; sleep {_GRACE_S}; kill -9 "$program"; }} <&3 >/dev/null 2>&1 &
wait "$program"
"""


def start(words: Sequence[str], *, inside: Sequence[str] = (), **streams: Any) -> "subprocess.Popen[bytes]":
    """Run a program that ends with this process; `inside` are words in front that choose where (`nsenter …`).

    Give it no `stdin`. Its exit code is the program's; one that a signal ended has 128 and the signal. Raises `OSError`
    if `unshare` of util-linux is missing.
    """
    unshare = shutil.which("unshare") or "unshare"
    keeper = [unshare, "--pid", "--fork", "--kill-child", "sh", "-c", _SHELL, "sh"]
    # A session of its own: Ctrl-C is for us, and we tell it.
    return subprocess.Popen([*inside, *keeper, *words], stdin=subprocess.PIPE, start_new_session=True, **streams)


def run(words: Sequence[str], inside: Sequence[str], timeout_s: float) -> tuple[int, str]:
    """Run a program to its end: exit code, and what it printed on both streams. Raises `OSError`, `TimeoutExpired`."""
    program = start(words, inside=inside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert program.stdout is not None
    assert program.stdin is not None
    # `communicate` would close the pipe that keeps the program.
    keep, program.stdin = program.stdin, None
    try:
        output, _ = program.communicate(timeout=timeout_s)
    finally:
        keep.close()
        if program.poll() is None:
            program.kill()
            program.wait()
        program.stdout.close()
    return program.returncode, output.decode(errors="replace")


def stop(program: "subprocess.Popen[bytes]") -> None:
    """Let it end, and wait until all of it is gone."""
    if program.stdin is not None:
        program.stdin.close()
    try:
        program.wait(2 * _GRACE_S)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
