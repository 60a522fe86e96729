"""Runs both commands of the README on a bare Debian: minimal system, Python, git and make, nothing else.

Root builds the system in a folder, clones the project into it and runs `make up` and `make test` there, in mount,
process and IPC namespaces: once as root, once as a user without root. The network is the machine's. The report lists
what each user installed; a package that set-up forgets is missing there, and the tests that need it fail.

    sudo make test-bare                          both users, both commands
    sudo make test-bare AS=user ONLY=test        one user, one command
    sudo make test-bare SUITES='pytest vitest'   some suites of `make test`; ARGS='-k profiler' are handed to them
    sudo make test-bare KEEP=/dir                the base system stays in /dir for the next run
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from debian_tree import Trouble, hand_in_home, install_packages, make_tree, registry_environment, run
from visitor import Visitor

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["ca-certificates", "python3", "git", "make"]
TOOLS = {"debootstrap": "debootstrap", "unshare": "util-linux", "nsenter": "util-linux"}
USER = "guest"
# The checkout's path of the user has a space: nothing may depend on there being none.
CHECKOUTS = {"root": "/root/sinemora", "user": f"/home/{USER}/my sinemora"}
PATHS = {"root": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "user": "/usr/local/bin:/usr/bin:/bin"}
UP_LIMIT_S, TEST_LIMIT_S, STOP_LIMIT_S = 2400, 7200, 90
TAIL_LINES = 40
# A new root by pivot_root(2): after chroot(2) the kernel gives a user no user namespace. The last command becomes
# process 1 and reaps orphans, as an init does.
_ENTER = """
mount --make-rprivate /
mount --rbind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
# Every user may open it, as udev has it on Debian; the machine's own may be closed.
if [ -e dev/net/tun ]; then
    rm -f run/tun
    (umask 0 && mknod run/tun c 10 200)
    mount --bind run/tun dev/net/tun
fi
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
echo ready
exec python3 -c '
import os, time
while True:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        time.sleep(0.1)
'
"""


@dataclass
class Result:
    """One command of the README: its outcome in words, and whether it is a success."""

    command: str
    good: bool
    words: list[str] = field(default_factory=list)


class Machine:
    """A copy of the base system with the project cloned into it. Leaving the context ends and deletes everything."""

    def __init__(self, base: Path, folder: Path, who: str) -> None:
        self.who = who
        self.tree = folder / f"machine-{who}"
        self.log = folder / f"{who}.log"
        self.log.write_text("")
        self.checkout = CHECKOUTS[who]
        self.home = str(Path(self.checkout).parent)
        # A run that was killed leaves its copy.
        run("rm", "-rf", "--one-file-system", self.tree, log=self.log)
        run("cp", "-a", "--reflink=auto", base, self.tree, log=self.log)
        if who == "user":
            run("chroot", self.tree, "useradd", "--create-home", USER, log=self.log)
        inside = self.tree / self.checkout[1:]
        run("git", "clone", "--quiet", "--no-hardlinks", ROOT, inside, log=self.log)
        hand_in_home(self.tree / self.home[1:])
        if who == "user":
            run("chroot", self.tree, "chown", "-R", f"{USER}:{USER}", self.home, log=self.log)
        self._before = self._packages()

    def __enter__(self) -> Self:
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts"]
        self._holder = subprocess.Popen(
            [*command, "sh", "-ec", _ENTER, "sh", self.tree],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log.open("ab"),
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != b"ready\n":
            raise Trouble(f"the system in {self.tree} cannot be entered:\n{self.log.read_text()[-2000:]}")
        pid = self._holder.pid
        self._init = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._holder.kill()  # its child is process 1 of the namespace, and is killed with all others in it
        self._holder.wait()
        for _ in range(20):
            shutil.rmtree(self.tree, ignore_errors=True)
            if not self.tree.exists():
                return
            time.sleep(0.5)

    def start(self, *command: str) -> "subprocess.Popen[bytes]":
        """Start a command as the user of this machine, in the checkout; its output goes to the log."""
        identity = ["--reuid", USER, "--regid", USER, "--init-groups"] if self.who == "user" else []
        env = registry_environment() | {
            "HOME": self.home,
            "USER": USER if self.who == "user" else "root",
            "PATH": PATHS[self.who],
            "LANG": "C.UTF-8",
        }
        with self.log.open("ab") as out:
            out.write(f"$ {' '.join(command)}\n".encode())
            out.flush()
            return subprocess.Popen(
                [
                    *("nsenter", "--target", str(self._init), "--mount", "--pid", "--ipc", "--uts", "--root"),
                    *("env", "-i", *(f"{key}={value}" for key, value in env.items())),
                    *("sh", "-ec", 'cd "$1" && shift && exec setpriv "$@"', "sh", self.checkout),
                    *(*identity, "--", *command),
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def do(self, *command: str, limit_s: float) -> int:
        """Run a command to its end, or to the limit; return its exit code, -1 for the limit."""
        process = self.start(*command)
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return -1

    def tail(self, lines: int = TAIL_LINES) -> str:
        """Return the end of the log."""
        return "\n".join(f"    {line}" for line in self.log.read_text(errors="replace").splitlines()[-lines:])

    def installed(self) -> list[str]:
        """Return the packages that were added to the system, or to the checkout."""
        own = self.tree / self.checkout[1:] / ".tools" / "debian" / "packages"
        brought = {f"{name} (in .tools)" for name in own.read_text().split()} if own.exists() else set()
        return sorted((self._packages() - self._before) | brought)

    def _packages(self) -> set[str]:
        status = (self.tree / "var/lib/dpkg/status").read_text(errors="replace")
        return {line.removeprefix("Package: ") for line in status.splitlines() if line.startswith("Package: ")}


def main() -> int:
    """Build the base, try the commands as each user, print the report. 0 when all of it worked."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(
            "test-bare builds a Debian system in a folder: it needs root, and a Debian."
            "\nWhat to do: sudo make test-bare"
        )
        return 2
    users = (os.environ.get("AS") or "root user").split()
    only = os.environ.get("ONLY") or "up test"
    if set(users) - set(CHECKOUTS) or set(only.split()) - {"up", "test"}:
        print("AS is root or user; ONLY is up or test.")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    kept = os.environ.get("KEEP")
    folder = Path(kept) if kept else Path(tempfile.mkdtemp(prefix="sinemora-bare-", dir="/var/tmp"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    results: dict[str, list[Result]] = {}
    installed: dict[str, list[str]] = {}
    try:
        base = _base(folder)
        for who in users:
            print(f"── {who} " + "─" * 50, flush=True)
            with Machine(base, folder, who) as machine:
                results[who] = [_up(machine)] if "up" in only else []
                results[who] += [_test(machine)] if "test" in only else []
                installed[who] = machine.installed()
    except Trouble as trouble:
        print(f"FAILED {trouble}\n0 passed, 1 failed")
        return 1
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    return _report(results, installed)


def _base(folder: Path) -> Path:
    log = folder / "base.log"
    base, done = folder / "base", folder / "base.ready"
    if not done.exists():
        shutil.rmtree(base, ignore_errors=True)
        install_packages(TOOLS, log)
        make_tree(base, PACKAGES, log)
        done.touch()
    return base


def _up(machine: Machine) -> Result:
    """Start the product twice, from nothing and again, and stop it each time."""
    result = Result("make up", True)
    for name in ("first", "again"):
        port = _free_port()
        began = time.monotonic()
        product = machine.start("make", "up", f"SINEMORA_PORT={port}")
        ready = _answers(f"http://127.0.0.1:{port}", product, UP_LIMIT_S)
        ready_s = time.monotonic() - began
        measured = machine.do("make", "wait", "SINEMORA_WAIT_S=900", limit_s=UP_LIMIT_S) if ready else 1
        measured_s = time.monotonic() - began
        machine.do("make", "down", limit_s=STOP_LIMIT_S)
        try:
            code = product.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            product.kill()
            code = product.wait()
        result.words.append(
            f"{name}: answers after {ready_s:.0f} s, mesh measured after {measured_s:.0f} s"
            if ready and measured == 0
            else f"{name}: {'the mesh is not measured' if ready else 'does not answer'} (ended with {code})"
        )
        result.good = result.good and ready and measured == 0 and code == 0
        print(f"make up, {result.words[-1]}", flush=True)
        if not result.good:
            print(machine.tail())
            break
    return result


def _test(machine: Machine) -> Result:
    began = time.monotonic()
    settings = [f"{name}={os.environ[name]}" for name in ("SUITES", "ARGS") if os.environ.get(name)]
    code = machine.do("make", "test", *settings, limit_s=TEST_LIMIT_S)
    lines = machine.log.read_text(errors="replace").rstrip().splitlines()
    summed = next((line for line in reversed(lines) if " passed, " in line), "no sum")
    result = Result("make test", code == 0, [f"{summed}, {time.monotonic() - began:.0f} s"])
    print(f"make test, {result.words[-1]}", flush=True)
    if code:
        print(machine.tail(120))
    return result


def _report(results: dict[str, list[Result]], installed: dict[str, list[str]]) -> int:
    print("\n── sum " + "─" * 53)
    for who, commands in results.items():
        for result in commands:
            print(f"{who:6}{result.command:11}{'ok' if result.good else 'FAILED':7} {'; '.join(result.words)}")
        print(f"{who:6}installed  {len(installed[who])} packages: {' '.join(installed[who]) or 'none'}")
    failed = sum(not result.good for commands in results.values() for result in commands)
    print(f"\n{sum(map(len, results.values())) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _answers(url: str, product: "subprocess.Popen[bytes]", limit_s: float) -> bool:
    """Wait until the product at `url` is ready; False when it ends or the time is over."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and product.poll() is None:
        if Visitor(url).get("/readyz").status == 200:
            return True
        time.sleep(0.3)
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
