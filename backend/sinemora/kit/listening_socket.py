"""The listening socket of a server that replaces itself: handed over to the new program, it never closes."""

import os
import socket
from typing import NoReturn

_VARIABLE = "SINEMORA_LISTENING_SOCKET"


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
