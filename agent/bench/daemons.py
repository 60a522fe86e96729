"""Standard PTP daemons in a laboratory: ptpd and linuxptp of Debian, ptp4u of Facebook. None sets a clock."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from laboratory import Host, LabError, Process, tool

# ptp4l of the machine, and that of linuxptp 4.
PTP4L = ("ptp4l", "ptp4l-4")

# Columns of ptpd's statistics: their number, the message that a row is of, and the one-way delay.
_COLUMNS, _EVENT = 17, 8
_DELAY = 3

_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
/* ptpd 2.3.1 arms its next Delay_Req after a random part of the interval; a draw of a few microseconds makes a timer
   whose signals starve the process. Later versions clamp it, and so does this. */
static void least(struct timespec *t) {
    if (t->tv_sec == 0 && t->tv_nsec > 0 && t->tv_nsec < 500000) t->tv_nsec = 500000;
}
int timer_settime(timer_t id, int flags, const struct itimerspec *value, struct itimerspec *old) {
    static int (*next)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "timer_settime");
    struct itimerspec clamped = *value;
    least(&clamped.it_value);
    least(&clamped.it_interval);
    return next(id, flags, &clamped, old);
}
"""


def _shim(host: Host) -> dict[str, str]:
    """Return the environment in which ptpd's timers are clamped."""
    library = host.lab.folder / "clamp.so"
    if not library.exists():
        source = library.with_suffix(".c")
        source.write_text(_SHIM, "utf-8")
        command = [tool("cc"), "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"]
        subprocess.run(command, check=True, capture_output=True)
    return {"LD_PRELOAD": str(library)}


def _ptpd(host: Host, role: str, log_interval: int, interface: str, *more: str) -> Process:
    state = host.lab.folder / f"ptpd-{host.name}-{role}"
    settings = {
        "ptpengine:interface": interface,
        "ptpengine:ip_mode": "unicast",
        "ptpengine:unicast_negotiation": "y",
        "ptpengine:log_sync_interval": str(log_interval),
        "ptpengine:log_delayreq_interval": str(log_interval),
        "ptpengine:log_announce_interval": "0",
        "clock:no_adjust": "y",
        "clock:no_reset": "y",
        "global:lock_file": f"{state}.lock",
        "global:status_file": f"{state}.status",
        "clock:drift_file": f"{state}.drift",
    }
    flags = [f"--{key}={value}" for key, value in settings.items()]
    # -C: stay in the foreground and log there; -L: other processes of ptpd do not matter.
    return host.start(["ptpd", "-C", "-L", *flags, *more], f"ptpd-{role}", env=_shim(host))


def ptpd_master(host: Host, log_interval: int, interface: str = "e0") -> Process:
    """Start a ptpd that grants unicast at most every 2**log_interval s."""
    preset = ["--ptpengine:preset=masteronly", "--ptpengine:disable_bmca=y"]
    return _ptpd(host, "master", log_interval, interface, *preset, "--ptpengine:unicast_negotiation_listening=y")


def ptpd_client(host: Host, master: str, log_interval: int, interface: str = "e0") -> "PtpdClient":
    """Start a ptpd that measures against `master` every 2**log_interval s."""
    statistics = host.lab.folder / f"ptpd-{host.name}.csv"
    more = [f"--ptpengine:unicast_destinations={master}", "--ptpengine:preset=slaveonly"]
    more += [f"--global:statistics_file={statistics}", "--global:statistics_log_interval=0"]
    return PtpdClient(_ptpd(host, "client", log_interval, interface, *more), statistics)


@dataclass
class PtpdClient:
    """A running client and what it measures."""

    process: Process
    statistics: Path

    def raw_delays_ns(self, kind: str) -> list[int]:
        """Return unfiltered delays: `S` from the master, `D` to it. They are differences of two clocks, here of one."""
        # Timestamp, State, … as in the first line of the file; the raw delays come last.
        place = {"S": -2, "D": -1}[kind]
        return [round(float(row[place]) * 1e9) for row in self._rows(kind)]

    def one_way_delays(self) -> list[tuple[float, float]]:
        """Return the reports at each Delay_Resp: time (Unix s), and filtered one-way delay, ns."""
        return [(datetime.fromisoformat(row[0]).timestamp(), float(row[_DELAY]) * 1e9) for row in self._rows("D")]

    def _rows(self, kind: str) -> list[list[str]]:
        """Return the complete lines of its statistics that are of a kind; none before it has begun."""
        try:
            written = self.statistics.read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return []
        rows = (line.split(", ") for line in written.splitlines())
        return [row for row in rows if len(row) == _COLUMNS and row[_EVENT].strip() == kind]

    @property
    def is_slave(self) -> bool:
        """Whether it follows a master."""
        return "slv" in self.statistics.read_text("utf-8", errors="replace") if self.statistics.exists() else False


def start_ptp4l(host: Host, name: str, settings: Mapping[str, object], tables: str, program: str) -> Process:
    """Start a ptp4l with settings and further tables; it adjusts no clock."""
    config = host.lab.folder / f"ptp4l-{host.name}.cfg"
    settings = {
        "time_stamping": "software",
        "free_running": 1,
        "uds_address": config.with_suffix(".socket"),
        "use_syslog": 0,
        "verbose": 1,
        "logging_level": 7,
        "network_transport": "UDPv4",
        "delay_mechanism": "E2E",
        "tx_timestamp_timeout": 100,
        "logAnnounceInterval": 0,
        **settings,
    }
    lines = "".join(f"{key} {value}\n" for key, value in settings.items())
    config.write_text(f"[global]\n{lines}{tables}", "utf-8")
    return host.start([_ptp4l_4() if program == "ptp4l-4" else program, "-f", config], name)


def _ptp4l_4() -> Path | str:
    """Return a ptp4l of linuxptp 4: what the set-up has brought, else that of the machine."""
    program = _newest("linuxptp", "usr/sbin/ptp4l") or tool("ptp4l")
    if subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stdout.startswith("3."):
        raise LabError("linuxptp 4 is missing.\nWhat to do: make test-interop")
    return program


def ptp4l_master(host: Host, program: str = "ptp4l", **more: object) -> Process:
    """Start a ptp4l that grants unicast, with further settings."""
    settings = {"unicast_listen": 1, "inhibit_multicast_service": 1, "masterOnly": 1, **more}
    return start_ptp4l(host, "ptp4l-master", settings, "[e0]\n", program)


def ptp4l_client(
    host: Host, master: str, log_interval: int, interface: str = "e0", program: str = "ptp4l", **more: object
) -> "Ptp4lClient":
    """Start a ptp4l that measures against `master` every 2**log_interval s and adjusts no clock."""
    settings = {
        "slaveOnly": 1,
        "hybrid_e2e": 1,
        "inhibit_multicast_service": 1,
        "logSyncInterval": log_interval,
        "logMinDelayReqInterval": log_interval,
        "unicast_req_duration": 10,
        "summary_interval": -4,
        **more,
    }
    table = f"[unicast_master_table]\ntable_id 1\nlogQueryInterval 0\nUDPv4 {master}\n"
    table += f"[{interface}]\nunicast_master_table 1\n"
    return Ptp4lClient(start_ptp4l(host, "ptp4l-client", settings, table, program))


@dataclass
class Ptp4lClient:
    """A running client and what it measures."""

    process: Process

    def raw_delays_ns(self) -> list[int]:
        """Return the mean path delays it has logged, before its filter."""
        return [int(delay) for delay in re.findall(r"delay +filtered +-?\d+ +raw +(-?\d+)", self.process.output())]

    def offsets_ns(self) -> list[int]:
        """Return the offsets from the master it has logged."""
        return [int(offset) for offset in re.findall(r"master offset +(-?\d+)", self.process.output())]


def ptp4u(host: Host, interface: str = "e0", address: str | None = None) -> Process:
    """Start a ptp4u server with software timestamps and a UTC offset, which it requires."""
    binary = brought("ptp4u", "ptp4u")
    config = host.lab.folder / f"ptp4u-{host.name}.yaml"
    config.write_text(
        "clockaccuracy: 0x21\nclockclass: 6\ndraininterval: 30s\nmaxsubduration: 1h\nmetricinterval: 1m\n"
        "minsubinterval: 1ms\nutcoffset: 37s\n",
        "utf-8",
    )
    flags = ["-iface", interface, "-ip", address or host.address, "-timestamptype", "software", "-config", str(config)]
    flags += ["-monitoringport", "0", "-workers", "2", "-recvworkers", "2", "-pidfile", f"{config}.pid"]
    return host.start([binary, *flags], "ptp4u")


def _newest(tool: str, program: str) -> Path | None:
    """Return a program of the newest version of a tool that the set-up has brought."""
    versions = Path(__file__).resolve().parents[2] / ".tools" / tool
    return max(versions.glob(f"*/{program}"), key=lambda path: path.stat().st_mtime, default=None)


def brought(tool: str, program: str) -> Path:
    """Return what `_newest` does; raises LabError when there is none."""
    binary = _newest(tool, program)
    if binary is None:
        raise LabError(f"{program} of {tool} is missing.\nWhat to do: make test-interop")
    return binary
