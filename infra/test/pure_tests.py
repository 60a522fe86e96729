"""A plug-in of pytest that keeps only quick tests which need no server, no network and no started product."""

import inspect
from functools import cache
from pathlib import Path

import pytest

_SERVERS = {"servers", "database", "http", "redis", "postgres", "data_dir"}
# Folders whose tests start processes by what their fixtures and helpers do; a module that starts them says so itself.
_WITH_PROCESSES = {"operations", "profiler", "toolchain"}
_STARTS = "import subprocess"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect thorough tests, those that use a server's fixture, and modules whose tests start processes."""
    tests = config.rootpath / "tests"

    @cache
    def starts_processes(module: Path) -> bool:
        return bool(_WITH_PROCESSES & set(module.relative_to(tests).parts)) or _STARTS in module.read_text("utf-8")

    def pure(item: pytest.Item) -> bool:
        servers = _SERVERS & set(getattr(item, "fixturenames", ()))
        is_slow = item.get_closest_marker("thorough") is not None
        return not (starts_processes(Path(item.path)) or servers or _asks_later(item) or is_slow)

    config.hook.pytest_deselected(items=[item for item in items if not pure(item)])
    items[:] = [item for item in items if pure(item)]


def _asks_later(item: pytest.Item) -> bool:
    """Return true for a test that asks for its fixtures by name when it runs."""
    return isinstance(item, pytest.Function) and "request" in inspect.signature(item.function).parameters
