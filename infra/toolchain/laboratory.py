"""Brings what agents are measured and compared with: network namespaces, stock PTP daemons, certificates; and the
maker of its packages."""

import shutil

import debian
from common import TOOLS, VERSIONS, StepFailedError, remembered
from steps import Log

# Debian keeps these where only root's PATH leads; the laboratory looks there too (agent/bench/lab.py).
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def network(log: Log) -> str:
    """ip, tc, ethtool, unshare, nsenter and setpriv, which join and enter the namespaces of a laboratory."""
    programs = ["ip", "tc", "ethtool", "unshare", "nsenter", "setpriv"]
    return _present("network", programs, "network namespaces are set up with", log)


def daemons(log: Log) -> str:
    """ptpd and ptp4l, which the agent must understand and be understood by."""
    return _present("ptp", ["ptpd", "ptp4l"], "interoperability is tested with", log)


def cxx(log: Log) -> str:
    """A C++ compiler, which libFuzzer is built with."""
    return _present("cxx", ["c++"], "the fuzzer is built with", log)


def ptp4u(log: Log) -> str:
    """facebook/time's ptp4u, built from its module in `.tools/ptp4u` when the pinned version is not there yet."""
    return _of_go("ptp4u", log)


def nfpm(log: Log) -> str:
    """nfpm, which makes .deb and .rpm packages, likewise."""
    return _of_go("nfpm", log)


def certificates(log: Log) -> str:
    """openssl, which makes the authorities that tests of TLS trust and distrust, and signs packages."""
    return _present("openssl", ["openssl"], "certificates are made with", log)


def rpm(log: Log) -> str:
    """rpm, with which packages of that kind are tried on a Debian."""
    return _present("rpm", ["rpm"], "packages are tried with", log)


def _of_go(name: str, log: Log) -> str:
    wanted = VERSIONS[name]
    folder = TOOLS / name / wanted["pinned"]
    if (folder / name).exists():
        return "unchanged"
    log.run(
        [remembered()["go"], "install", f"{wanted['module']}@{wanted['pinned']}"],
        "check that this machine reaches its Go module proxy (GOPROXY), then again",
        TOOLS,
        GOBIN=str(folder),
        GOTOOLCHAIN="local",
        GOFLAGS="-buildvcs=false",
    )
    return str(wanted["pinned"])


def memcached(log: Log) -> str:
    """memcached and its load generator, which the profiler of curves is measured with."""
    return _present("memcached", ["memcached", "memcaslap"], "the profiler is measured with", log)


def redis(log: Log) -> str:
    """Install redis-benchmark, which the tests of the profiler look up."""
    return _present("redis", ["redis-benchmark"], "the profiler is tested with", log)


def _present(tools: str, programs: list[str], what_for: str, log: Log) -> str:
    if not (missing := _missing(programs)):
        return "from the machine"
    debian.install(VERSIONS[tools]["debian"], f"{what_for} {', '.join(missing)}.".capitalize(), log)
    if missing := _missing(programs):
        raise StepFailedError(
            f"{', '.join(missing)} cannot be found.", "see whether your PATH leads to /usr/sbin", log.path
        )
    return "Debian"


def _missing(programs: list[str]) -> list[str]:
    return [program for program in programs if not (shutil.which(program) or shutil.which(program, path=_PATH))]
