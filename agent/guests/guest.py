"""A guest in QEMU without acceleration: its shell is on a serial port, its power switch is QEMU's monitor (QMP)."""

import json
import re
import socket
import time
from pathlib import Path
from typing import Any

import image
from laboratory import LabError, Process, tool, wait_until

# The instructions that Debian's programs and those of the product may need, for a processor that is emulated.
_PROCESSOR = "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16"
_MEMORY_MIB = 512  # half of it is the file system, with three unstripped programs and their archive
# An emulated machine boots in 10 s to 30 s on two cores that others use, too.
BOOT_S = 120.0


class Guest:
    """One emulated machine with a network card on the bridge.

    `ahead_s` is the difference of its real-time clock to this machine's when it starts, s.
    """

    def __init__(self, folder: Path, ram_disk: Path, name: str, address: str, tap: str, ahead_s: int) -> None:
        self.name = name
        self.address = address
        self._folder = folder
        serial, monitor = (folder / f"{name}.{kind}" for kind in ("shell", "qmp"))
        base = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + ahead_s))
        # The kernel's test of the timer counts interrupts in 40 ms; on a busy machine the emulator makes them later.
        words = f"console=ttyS0 quiet panic=-1 no_timer_check guest.name={name} guest.address={address}/24"
        self.process = Process(
            [
                *(tool("qemu-system-x86_64"), "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
                *("-machine", "pc,accel=tcg", "-global", "PIIX4_PM.disable_s3=0", "-cpu", _PROCESSOR),
                *("-m", str(_MEMORY_MIB), "-rtc", f"base={base},clock=vm"),
                *("-kernel", image.kernel(), "-initrd", ram_disk, "-append", words),
                *("-serial", f"file:{folder / f'{name}.console'}"),
                *("-serial", f"unix:{serial},server=on,wait=off", "-qmp", f"unix:{monitor},server=on,wait=off"),
                *("-netdev", f"tap,id=n,ifname={tap},script=no,downscript=no"),
                *("-device", f"virtio-net-pci,netdev=n,mac=52:54:00:00:00:{int(address.split('.')[-1]):02x}"),
            ],
            folder / f"{name}.qemu",
        )
        self._shell = self._connect(serial)
        self._monitor = self._connect(monitor)
        self._answers = self._monitor.makefile("rb")
        self._seen = b""

    def await_shell(self) -> None:
        """Wait until it has booted."""
        self._read(rb"::ready::\n", BOOT_S)
        self.monitor("qmp_capabilities")

    def run(self, command: str, within_s: float = BOOT_S) -> str:
        """Run a command of its shell and return what it printed; raises LabError when it fails."""
        self._shell.sendall(f"{{ {command}; }} </dev/null; echo ::ended $?::\n".encode())
        found = self._read(rb"::ended (\d+)::\n", within_s)
        printed, code = found.string[: found.start()].decode(errors="replace"), int(found[1])
        if code != 0:
            raise LabError(f"{self.name}: {command} ended with {code}:\n{printed}")
        return printed

    def start(self, command: str) -> None:
        """Start a command of its shell in the background."""
        self.run(f"({command}) </dev/null & :")

    def begin(self, command: str) -> None:
        """Give its shell a command and wait for nothing: the machine may be suspended by it."""
        self._shell.sendall(f"{command}; echo ::ended $?::\n".encode())

    def await_end(self, within_s: float) -> None:
        """Wait for the end of what `begin` has begun."""
        self._read(rb"::ended (\d+)::\n", within_s)

    def monitor(self, command: str) -> Any:
        """Give QEMU's monitor a command and return its answer; events in between are passed over."""
        self._monitor.sendall(json.dumps({"execute": command}).encode() + b"\n")
        for line in self._answers:
            answer = json.loads(line)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise LabError(f"{self.name}: {command}: {answer['error']['desc']}")
        raise LabError(f"{self.name}: QEMU ended:\n{self.process.output()}")

    def status(self) -> str:
        """Return the state of the machine: `running`, `paused`, `suspended` …"""
        return str(self.monitor("query-status")["status"])

    def clock_s(self) -> float:
        """Return what its real-time clock shows now, Unix s, to a second."""
        return float(self.run("date +%s"))

    def stop(self) -> None:
        """End it."""
        self.process.stop()
        for connection in (self._shell, self._monitor):
            connection.close()

    def _connect(self, place: Path) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)

        def connected() -> bool:
            if not self.process.running:
                raise LabError(f"{self.name}: QEMU ended:\n{self.process.output()}")
            return place.exists() and connection.connect_ex(str(place)) == 0

        wait_until(f"QEMU of {self.name}", connected)
        connection.settimeout(BOOT_S)
        return connection

    def _read(self, ends: bytes, within_s: float) -> "re.Match[bytes]":
        """Read from the shell until `ends` matches; keep what follows."""
        until = time.monotonic() + within_s
        while not (found := re.search(ends, self._seen)):
            self._shell.settimeout(max(0.1, until - time.monotonic()))
            try:
                more = self._shell.recv(65536)
            except TimeoutError:
                more = b""
            if not more:
                console = (self._folder / f"{self.name}.console").read_text("utf-8", errors="replace")
                shown = self._seen.decode(errors="replace")[-2000:]
                raise LabError(f"{self.name}: no answer within {within_s:.0f} s:\n{shown}\n{console[-2000:]}")
            self._seen += more
        self._seen = self._seen[found.end() :]
        return found
