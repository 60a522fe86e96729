"""Two hosts on one machine with a chosen latency between them: delaybox, or NetEm where the kernel has it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Protocol

from sinemora.profiler import kept
from sinemora.profiler.recipes import ProfileError

_CLIENT, _SERVER = "10.77.0.1", "10.77.0.2"
_BUILT = (Path("agent/target/release/delaybox"), Path("agent/target/debug/delaybox"))
_ADVICE = "What to do: run it as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"


class Network(Protocol):
    """`client` and `server` are words in front of a command that run it there."""

    name: str
    client: list[str]
    server: list[str]
    address: str

    def add(self, added_us: float) -> None:
        """From now on the round trip takes so much longer, half in each direction."""

    def achieved_us(self) -> float | None:
        """What was really added since `add`, at the median; None when that is not known."""

    def close(self) -> None:
        """Stop; the hosts vanish."""


class Delaybox:
    """A running delaybox with its two namespaces."""

    name = "delaybox"
    address = _SERVER

    def __init__(self, program: Path | None) -> None:
        command = [str(program or _delaybox()), "run", "--control"]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise ProfileError(f"{command[0]} cannot be run: {error.strerror}") from None
        ready = self._answer()
        self.client = ["nsenter", f"--net={ready['left']['namespace']}"]
        self.server = ["nsenter", f"--net={ready['right']['namespace']}"]

    def add(self, added_us: float) -> None:
        self._ask(f"both delay={round(added_us * 500)}ns")
        self._ask("reset")

    def achieved_us(self) -> float | None:
        counted = self._ask("statistics")["statistics"]
        both = [counted[direction]["achieved_ns"] for direction in ("outbound", "inbound")]
        return None if None in both else sum(one["p50"] for one in both) / 1e3

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            raise ProfileError("delaybox has ended") from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ProfileError("delaybox has ended; what it says stands above")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ProfileError(f"delaybox: {answer['error']}")
        return answer


class Netem:
    """Two namespaces joined by a veth pair whose ends delay with NetEm. Precise above about 100 µs."""

    name = "netem"
    address = _SERVER

    def __init__(self) -> None:
        self._holders = [_holder(), _holder()]
        self.client, self.server = (["nsenter", f"--net=/proc/{one.pid}/ns/net"] for one in self._holders)
        pair = ("type", "veth", "peer", "name", "e0", "netns", str(self._holders[1].pid))
        self._in(self.client, "ip", "link", "add", "e0", *pair)
        for side, address in ((self.client, _CLIENT), (self.server, _SERVER)):
            self._in(side, "ip", "address", "add", f"{address}/24", "dev", "e0")
            self._in(side, "ip", "link", "set", "lo", "up")
            self._in(side, "ip", "link", "set", "e0", "up")
            # The default of 1,000 packets is less than 1 M packets/s hold in a millisecond.
            self._in(side, "tc", "qdisc", "add", "dev", "e0", "root", "netem", "limit", "100000")

    def add(self, added_us: float) -> None:
        for side in (self.client, self.server):
            delay = ("delay", f"{round(added_us * 500)}ns", "limit", "100000")
            self._in(side, "tc", "qdisc", "replace", "dev", "e0", "root", "netem", *delay)

    def achieved_us(self) -> float | None:
        return None

    def close(self) -> None:
        for holder in self._holders:
            kept.stop(holder)

    @staticmethod
    def _in(side: list[str], *command: str) -> None:
        done = subprocess.run([*side, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ProfileError(f"{' '.join(command)}: {done.stderr.strip()}")


def kernel_has_netem() -> bool:
    """Return whether `tc` can make a NetEm queue here, tried in a namespace that vanishes at once."""
    command = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def open_network(kind: str, delaybox: Path | None) -> Network:
    """`delaybox`, `netem`, or `auto`: delaybox if it is built, else NetEm if the kernel has it."""
    if kind == "netem" and not kernel_has_netem():
        raise ProfileError("This kernel has no NetEm, or tc is missing.\nWhat to do: --network delaybox")
    if kind == "auto":
        try:
            delaybox = delaybox or _delaybox()
        except ProfileError:
            if not kernel_has_netem():
                raise
            kind = "netem"
    return Netem() if kind == "netem" else Delaybox(delaybox)


def in_own_namespace(command: list[str]) -> None:
    """Unless root, become `command` in a user namespace of its own, where namespaces may be made."""
    if os.geteuid() == 0:
        return
    unshare = shutil.which("unshare")
    if unshare is None:
        raise ProfileError(f"unshare of util-linux is missing.\n{_ADVICE}")
    allowed = subprocess.run([unshare, "--map-root-user", "--net", "true"], capture_output=True, check=False)
    if allowed.returncode:
        raise ProfileError(f"This machine gives users no network namespace.\n{_ADVICE}")
    os.execv(unshare, [unshare, "--map-root-user", "--net", *command])


def spare_user() -> str:
    """Whom a server can become that will not run as root: `nobody`, unless only root is there (user_namespaces(7))."""
    try:
        mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    except (OSError, ValueError, IndexError):
        return "nobody"
    return "nobody" if mapped > 1 else "root"


def _delaybox() -> Path:
    if path := shutil.which("delaybox"):
        return Path(path)
    for folder in (Path.cwd(), *Path(__file__).resolve().parents):
        if built := next((folder / path for path in _BUILT if (folder / path).exists()), None):
            return built
    raise ProfileError(
        "delaybox cannot be found.\nWhat to do: make setup builds it; elsewhere give its path: --delaybox PATH"
    )


def _holder() -> "subprocess.Popen[bytes]":
    """Return a process in a network namespace of its own, which lasts as long as we do."""
    try:
        holder = kept.start(
            ["sh", "-c", "echo; exec sleep infinity"], inside=["unshare", "--net"], stdout=subprocess.PIPE
        )
    except OSError as error:
        raise ProfileError(f"unshare cannot be run: {error.strerror}") from None
    assert holder.stdout is not None
    if not holder.stdout.readline():
        raise ProfileError(f"A network namespace cannot be made.\n{_ADVICE}")
    return holder
