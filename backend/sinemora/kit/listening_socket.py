"""A server that replaces itself: its listening socket is handed over to the new program, so it never closes."""

import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import NoReturn

import uvicorn

_VARIABLE = "SINEMORA_LISTENING_SOCKET"
_REQUEST_ARRIVES_S = 0.5
"""Time that the request of a connection just accepted may take to arrive, when the server stops."""


class ReplaceableServer(uvicorn.Server):
    """Server that lets a connection it has just accepted send its request before it ends."""

    async def end_streams(self) -> None:
        """End what would otherwise stay open until the limit of the shutdown."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, answer what was accepted, then stop.

        Uvicorn closes a connection that has not sent its request yet, and one just accepted has not.
        """
        for accepting in self.servers:
            accepting.close()
        await asyncio.sleep(_REQUEST_ARRIVES_S)
        await self.end_streams()
        await super().shutdown(sockets)


def run(server: ReplaceableServer) -> None:
    """Run a server of this command line in the foreground until a signal stops it; exits with 3 without its port.

    SIGHUP replaces it by a new start of the same command, in the same process. The listening socket stays open
    meanwhile: new connections wait in its queue, and none is refused.
    """
    listening = inherited() or server.config.bind_socket()
    kept = listening.dup()  # the server closes its own when it stops
    replaced = False

    def replace(*_: object) -> None:
        nonlocal replaced
        replaced = server.should_exit = True

    signal.signal(signal.SIGHUP, replace)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    if not server.started:
        sys.exit(3)
    if replaced:
        hand_over(kept, [sys.executable, "-m", "sinemora.cli", *sys.argv[1:]])


def inherited() -> socket.socket | None:
    """Return the socket that the former program of this process handed over, None without one."""
    number = os.environ.pop(_VARIABLE, "")
    if not number:
        return None
    listening = socket.socket(fileno=int(number))
    listening.set_inheritable(False)
    return listening


def hand_over(listening: socket.socket, command: list[str]) -> NoReturn:
    """Continue this process as `command`, which finds the socket with `inherited`."""
    listening.set_inheritable(True)
    os.execve(command[0], command, os.environ | {_VARIABLE: str(listening.detach())})
