"""Process that has loaded the product and forks its programs: `python -m … SOCKET MODULE …`.

API, workers and beat load the same two thousand modules, each for seconds of a processor: for a minute where others use
it too. A fork has loaded them at once, and shares their memory. The supervisor of `make up` asks for forks.
"""

import ctypes
import gc
import json
import os
import runpy
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from sinemora.kit.config import settings

_REQUEST_BYTES = 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15


def main(path: str, modules: Sequence[str]) -> None:
    """Load modules, then fork a process for each request: return in it, with its log, environment and arguments."""
    gc.disable()  # what is imported stays to the end
    for name in modules:
        import_module(name)
    gc.freeze()  # the collector would write to memory that is shared
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(path)
    listening.listen()
    while True:
        connection, _ = listening.accept()
        with connection:
            message, logs, _, _ = socket.recv_fds(connection, _REQUEST_BYTES, 1)
            if not logs:  # only asked whether it responds
                with suppress(OSError):
                    connection.send(str(os.getpid()).encode())
            elif is_forked(connection, json.loads(message), logs[0]):
                listening.close()
                return
            else:
                os.close(logs[0])


def is_forked(connection: socket.socket, request: dict[str, Any], log: int) -> bool:
    """Fork a process that the supervisor is the parent of; return whether this is it."""
    if child := os.fork():
        os.waitpid(child, 0)
        return False
    forker = os.getpid()
    if os.fork():
        os._exit(0)  # the supervisor adopts what it leaves (PR_SET_CHILD_SUBREAPER)
    while os.getppid() == forker:
        time.sleep(0.001)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
    libc.prctl(_PR_SET_NAME, f"sinemora-{request['name']}".encode())
    os.setpgid(0, 0)
    for output in (1, 2):
        os.dup2(log, output)
    os.close(log)
    os.environ.clear()
    os.environ.update(request["environment"])
    settings.cache_clear()
    sys.argv = request["arguments"]
    if os.getppid() == request["parent"]:
        connection.send(str(os.getpid()).encode())
        if connection.recv(1):
            return True
    os._exit(1)  # who waits no longer has started the program in another way


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    gc.enable()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
