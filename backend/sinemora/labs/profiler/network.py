"""Two hosts on one machine with a chosen latency between them: delaybox, or NetEm where the kernel has it."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Protocol

from sinemora.kit.delaybox import Delaybox, DelayboxError, installed
from sinemora.labs.profiler import child_process
from sinemora.labs.profiler.recipes import ProfileError

_CLIENT, _SERVER = "10.77.0.1", "10.77.0.2"
_ADVICE = "What to do: run it as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"


class ProfiledNetwork(Protocol):
    """Client hosts and a server host; `clients` and `server` are command prefixes that run a command there."""

    name: str
    clients: list[list[str]]
    server: list[str]
    address: str

    def add(self, added_us: float) -> None:
        """Add latency to the round trip, half in each direction."""

    def vary(self, outbound: str, inbound: str) -> None:
        """Delay by delaybox's words, outbound to the server and inbound back. `DelayboxError` if it cannot."""

    def achieved_us(self) -> float | None:
        """Return the median latency achieved since `add`; None if unknown."""

    def close(self) -> None:
        """Stop the network and remove its hosts."""


class DelayboxNetwork:
    """A running delaybox with its two namespaces."""

    name = "delaybox"
    address = _SERVER

    def __init__(self, program: Path | None) -> None:
        self._delaybox = Delaybox(["run"], program)
        ready = self._delaybox.ready
        self.clients = [["nsenter", f"--net={ready['left']['namespace']}"]]
        self.server = ["nsenter", f"--net={ready['right']['namespace']}"]

    def add(self, added_us: float) -> None:
        words = f"delay={round(added_us * 500)}ns"
        self.vary(words, words)

    def vary(self, outbound: str, inbound: str) -> None:
        self._delaybox.ask(f"outbound {outbound}")
        self._delaybox.ask(f"inbound {inbound}")
        self._delaybox.ask("reset")

    def achieved_us(self) -> float | None:
        return self._delaybox.achieved_us()

    def close(self) -> None:
        self._delaybox.close()


class Netem:
    """Two namespaces joined by a veth pair whose ends delay with NetEm. Precise above about 100 µs."""

    name = "netem"
    address = _SERVER

    def __init__(self) -> None:
        self._holders = [holder(), holder()]
        client, self.server = (["nsenter", f"--net=/proc/{one.pid}/ns/net"] for one in self._holders)
        self.clients = [client]
        pair = ("type", "veth", "peer", "name", "e0", "netns", str(self._holders[1].pid))
        in_namespace(client, "ip", "link", "add", "e0", *pair)
        for side, address in ((client, _CLIENT), (self.server, _SERVER)):
            in_namespace(side, "ip", "address", "add", f"{address}/24", "dev", "e0")
            in_namespace(side, "ip", "link", "set", "lo", "up")
            in_namespace(side, "ip", "link", "set", "e0", "up")
            # The default of 1,000 packets is too small: 1 M packets/s fill it in a millisecond.
            in_namespace(side, "tc", "qdisc", "add", "dev", "e0", "root", "netem", "limit", "100000")

    def add(self, added_us: float) -> None:
        for side in (*self.clients, self.server):
            delay = ("delay", f"{round(added_us * 500)}ns", "limit", "100000")
            in_namespace(side, "tc", "qdisc", "replace", "dev", "e0", "root", "netem", *delay)

    def vary(self, outbound: str, inbound: str) -> None:
        raise ProfileError("NetEm has not these distributions.\nWhat to do: --network delaybox")

    def achieved_us(self) -> float | None:
        return None

    def close(self) -> None:
        for one in self._holders:
            child_process.stop(one)


def in_namespace(prefix: list[str], *command: str) -> None:
    """Run a command of a host's set-up. Raises `ProfileError` with its message."""
    try:
        result = subprocess.run([*prefix, *command], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ProfileError(f"Cannot run {prefix[0]}: {error.strerror}") from None
    if result.returncode:
        raise ProfileError(f"{' '.join(command)}: {result.stderr.strip()}")


def kernel_has_netem() -> bool:
    """Return whether `tc` can create a NetEm queue, tested in a temporary namespace."""
    command = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def open_network(kind: str, delaybox: Path | None) -> ProfiledNetwork:
    """Open a network of a kind: `delaybox`, `netem`, or `auto` (delaybox if it is built, else NetEm if available)."""
    if kind == "netem" and not kernel_has_netem():
        raise ProfileError(
            "NetEm not available: the kernel lacks it, or tc is missing.\nWhat to do: --network delaybox"
        )
    if kind == "auto":
        try:
            delaybox = delaybox or installed()
        except (ProfileError, DelayboxError):
            if not kernel_has_netem():
                raise
            kind = "netem"
    return Netem() if kind == "netem" else DelayboxNetwork(delaybox)


def in_own_namespace(command: list[str]) -> None:
    """Replace the process by `command` in a new user namespace, where it may create namespaces; no-op for root."""
    if os.geteuid() == 0:
        return
    unshare = shutil.which("unshare")
    if unshare is None:
        raise ProfileError(f"Program missing: unshare of util-linux.\n{_ADVICE}")
    allowed = subprocess.run([unshare, "--map-root-user", "--net", "true"], capture_output=True, check=False)
    if allowed.returncode:
        raise ProfileError(f"Not permitted: users cannot create network namespaces on this machine.\n{_ADVICE}")
    os.execv(unshare, [unshare, "--map-root-user", "--net", *command])


def spare_user() -> str:
    """Return the user for servers that refuse root: `nobody`, or root if no other is mapped (user_namespaces(7))."""
    try:
        mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    except (OSError, ValueError, IndexError):
        return "nobody"
    return "nobody" if mapped > 1 else "root"


def holder() -> "subprocess.Popen[bytes]":
    """Return a process in a new network namespace, which ends with the profiler."""
    try:
        started = child_process.start(
            ["sh", "-c", "echo; exec sleep infinity"],
            inside=["unshare", "--net"],
            stdout=subprocess.PIPE,
            # The shell reports that its program was terminated, which is how a holder ends.
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise ProfileError(f"Cannot run unshare: {error.strerror}") from None
    assert started.stdout is not None
    if not started.stdout.readline():
        raise ProfileError(f"Not permitted: a network namespace cannot be created.\n{_ADVICE}")
    return started
