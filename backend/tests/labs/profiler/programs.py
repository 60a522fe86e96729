"""Profiles as processes, and what they measure: Valkey with a closed-loop client."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sinemora.labs.profiler.recipes import RECIPES, resolved

PROFILE = (sys.executable, "-m", "sinemora.labs.profiler")
# One request at a time on each connection. As redis-benchmark does, it hangs when its connection is refused.
_CLIENT = """
import json, socket, sys, time
address, port, load, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
try:
    sockets = [socket.create_connection((address, port)) for _ in range(load)]
except ConnectionRefusedError:
    time.sleep(600)
for one in sockets:
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
done, began = 0, time.monotonic()
while time.monotonic() - began < seconds:
    for one in sockets:
        one.sendall(b"PING\\r\\n")
    for one in sockets:
        assert one.recv(64) == b"+PONG\\r\\n"
    done += load
took = time.monotonic() - began
print(json.dumps({"rate": done / took, "mean_ms": 1e3 * load * took / done}))
"""


def client(folder: Path) -> str:
    """Return the command of the client, whose program is written to `folder`."""
    program = folder / "client.py"
    program.write_text(_CLIENT)
    return shlex.join([sys.executable, str(program), "{address}", "{port}", "{load}", "{seconds}"])


def server() -> str:
    """Return the command of Valkey."""
    words = resolved(RECIPES["redis"]).server
    assert words is not None
    return shlex.join(words)


def ended(command: Sequence[str], code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run a profile to its end."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done
