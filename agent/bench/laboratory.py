"""Hosts of a laboratory: network namespaces joined by a bridge, processes in them, and their resource usage.

Nothing outside is changed. The namespaces belong to a separate user namespace, so that no process in them can set the
clock of this machine. They end with the laboratory. All hosts share the machine's clock: true offsets are 0.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
from lab.waits import until

# Debian's folders of system programs, which are not in a user's PATH.
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"
_NETWORK = "10.77"
# Of the bridge; locally administered.
_SWITCH = "02:53:4d:00:00:01"
# Long enough for a busy machine.
PATIENCE_S = 30.0
# Time for unicast grants that were lost when interfaces changed to be requested again.
_SETTLE_S = 2.0


class LabError(Exception):
    """A failure to set up the laboratory, or a condition in it that was not met in time, with the remedy."""


def tool(name: str) -> str:
    """Return the path of a system program; raises LabError with the command that installs a missing one."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), _SYSTEM_PATH])
    if program := shutil.which(name, path=path):
        return program
    raise LabError(f"{name} is not installed.\nWhat to do: make bench-agent installs what the laboratory needs")


def wait_until(what: str, holds: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Wait until `holds` returns true; raises LabError when that takes too long."""
    try:
        until(holds, what, within_s)
    except AssertionError as error:
        raise LabError(str(error)) from None


class Process:
    """A process of the laboratory. Its output is in `log`."""

    def __init__(self, command: Sequence[str | Path], log: Path, env: dict[str, str] | None = None) -> None:
        self.command = [str(part) for part in command]
        self.log = log
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=None if env is None else os.environ | env,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    def output(self) -> str:
        """Return its output so far."""
        return self.log.read_text("utf-8", errors="replace")

    def cpu_s(self, thread: str = "") -> float:
        """Return the processor time of all its threads so far, or of the one of a name, s, as precise as the kernel's.

        AssertionError when there is no thread of the name.
        """
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        threads = [task for task in tasks if thread in ("", (task / "comm").read_text().strip())]
        assert threads, f"{self.command[0]} has no thread {thread}"
        return sum(int((path / "schedstat").read_text().split()[0]) for path in threads) / 1e9

    def rss_mib(self) -> float:
        """Return the resident memory, MiB."""
        return float(psutil.Process(self.pid).memory_info().rss / 2**20)

    def require(self, what: str, text: str, within_s: float = PATIENCE_S) -> None:
        """Wait until `text` was printed; raises LabError with the last lines when it is not or the process ends."""

        def printed() -> bool:
            if text in self.output():
                return True
            if not self.running:
                raise LabError(f"{self.command[0]} ended before {what}:\n{self.output()[-2000:]}")
            return False

        try:
            wait_until(what, printed, within_s)
        except LabError as error:
            raise LabError(f"{error}\n{self.output()[-2000:]}") from None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def stop(self, within_s: float = 5.0) -> None:
        """Ask it to end, and end it if it does not."""
        if self.running:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(within_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


class Host:
    """One network namespace with an interface `e0` on the laboratory's bridge."""

    def __init__(self, lab: "Lab", name: str, address: str, holder: Process) -> None:
        self.lab = lab
        self.name = name
        self.address = address
        self.holder = holder
        self.port = f"p-{name}"
        """The bridge's interface towards this host: what it sends, this host receives."""

    def plug(self, device: str = "e0") -> None:
        """Connect an interface with the host's address to the bridge."""
        port = self.port if device == "e0" else f"{self.port}-{device}"
        inside = ("peer", "name", device, "netns", str(self.holder.pid))
        self.lab.run("ip", "link", "add", port, "type", "veth", *inside)
        self.lab.run("ip", "link", "set", port, "master", "br0", "up")
        self.run("ip", "address", "add", f"{self.address}/16", "dev", device)
        self.run("ip", "link", "set", device, "up")

    def unplug(self) -> None:
        """Remove its interface, with its addresses and routes."""
        self.run("ip", "link", "delete", "e0")

    def start(self, command: Sequence[str | Path], name: str = "", env: dict[str, str] | None = None) -> Process:
        """Start a command here; the laboratory stops it at its end."""
        name = name or Path(str(command[0])).name
        return self.lab._start(self.holder.pid, command, f"{self.name}-{name}", env)

    def run(self, *command: str | Path) -> str:
        """Run a command here to its end and return what it printed; raises LabError when it fails."""
        return self.lab._run(self.holder.pid, *command)

    def try_as_root(self, *command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, whether it fails or not, with the user and files of the machine. Needs root."""
        return _ended([*_within(self.holder.pid), *command], env)


class Lab:
    """A bridge and the hosts on it. Use as a context: leaving it stops every process and removes the namespaces."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="sinemora-lab-")
        self.folder = Path(self._scratch.name)
        self._processes: list[Process] = []
        self._hosts: list[Host] = []
        self._logs = 0
        self.gateway = f"{_NETWORK}.0.1"
        """The address of the bridge."""

    def __enter__(self) -> Self:
        try:
            self._switch = self._hold(["unshare", "--user", "--map-root-user", "--net"])
            self._run(self._switch.pid, "ip", "link", "set", "lo", "up")
            # A bridge that is given no address takes the lowest of its ports': with another host its own would change,
            # and what hosts send to the one they know would be dropped until they ask again.
            self._run(self._switch.pid, "ip", "link", "add", "br0", "address", _SWITCH, "type", "bridge")
            self._run(self._switch.pid, "ip", "address", "add", f"{self.gateway}/16", "dev", "br0")
            self._run(self._switch.pid, "ip", "link", "set", "br0", "up")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop everything, the newest first."""
        for process in reversed(self._processes):
            process.stop()
        self._scratch.cleanup()

    def host(self, name: str) -> Host:
        """Create a host; its name has at most 10 letters."""
        nth = len(self._hosts) + 1
        address = f"{_NETWORK}.{1 + nth // 250}.{nth % 250 + 1}"
        inside = ["nsenter", "--target", str(self._switch.pid), "--user", "--net", "--preserve-credentials"]
        holder = self._hold([*inside, tool("unshare"), "--net"])
        host = Host(self, name, address, holder)
        host.run("ip", "link", "set", "lo", "up")
        host.plug()
        self._hosts.append(host)
        return host

    def spare_senders(self) -> None:
        """Let threads of the kernel forward the packets of hosts, as a network does behind a network card.

        By default of namespaces the sender's system call forwards them: its processor time then includes the bridge,
        the receiver's socket and waking the receiver. The interfaces do not segment packets either (UDP_SEGMENT), like
        most virtual network cards of clouds.
        """
        for host in self._hosts:
            # A veth pair with TCP segmentation offload delivers packets within the sender's system call.
            host.run("ethtool", "-K", "e0", "tso", "off", "tx-udp-segmentation", "off")
            self.run("ethtool", "-K", host.port, "gro", "on")
        ports = " ".join(host.port for host in self._hosts)
        each = f"for port in {ports}; do echo 1 > /sys/class/net/$port/threaded; done"
        # The files of a namespace's interfaces need a separate mount.
        self.run("unshare", "--mount", "sh", "-ec", f"mount -t sysfs sysfs /sys; {each}")
        time.sleep(_SETTLE_S)

    def start(self, command: Sequence[str | Path], name: str = "", env: dict[str, str] | None = None) -> Process:
        """Start a command where the bridge is (it has the address `gateway`)."""
        return self._start(self._switch.pid, command, name or Path(str(command[0])).name, env)

    def run(self, *command: str | Path) -> str:
        """Run a command where the bridge is, for example `tc` on the `port` of a host."""
        return self._run(self._switch.pid, *command)

    def _hold(self, namespaces: list[str]) -> Process:
        """Start a process that keeps namespaces alive until the laboratory ends."""
        ready = f"echo ready; exec {tool('sleep')} infinity"
        command = [tool(namespaces[0]), *namespaces[1:], *_mortal(), tool("sh"), "-c", ready]
        process = self._begin(command, "holder", None)
        try:
            process.require("its namespace", "ready")
        except LabError as error:
            raise LabError(
                f"This machine gives no network namespace: {error}\n"
                "What to do: run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
            ) from None
        return process

    def _start(self, pid: int, command: Sequence[str | Path], name: str, env: dict[str, str] | None) -> Process:
        return self._begin([*_enter(pid), tool(str(command[0])), *command[1:]], name, env)

    def _begin(self, command: Sequence[str | Path], name: str, env: dict[str, str] | None) -> Process:
        self._logs += 1
        process = Process(command, self.folder / f"{self._logs:03}-{name}.log", env)
        self._processes.append(process)
        return process

    def _run(self, pid: int, *command: str | Path) -> str:
        done = _ended([*_enter(pid), tool(str(command[0])), *command[1:]])
        if done.returncode != 0:
            raise LabError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
        return done.stdout


def _ended(command: Sequence[str | Path], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    env = None if env is None else os.environ | env
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env, check=False)


def _enter(pid: int) -> list[str]:
    return [tool("nsenter"), "--target", str(pid), "--user", "--net", "--preserve-credentials", *_mortal()]


def _within(pid: int) -> list[str]:
    return [tool("nsenter"), "--target", str(pid), "--net", *_mortal()]


def _mortal() -> list[str]:
    """Return the prefix of a command that ends with this process, however that ends."""
    return [tool("setpriv"), "--pdeathsig", "KILL", "--"]


def cpu_percent(processes: Sequence[Process], seconds: float, thread: str = "") -> list[float]:
    """Measure the processor time of each process, or of its thread, over `seconds`, in percent of one processor."""
    before = [process.cpu_s(thread) for process in processes]
    began = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    return [100 * (process.cpu_s(thread) - used) / passed for process, used in zip(processes, before, strict=True)]
