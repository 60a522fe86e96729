"""A plug-in of pytest that keeps only quick tests which need no server, no network and no started product."""

import inspect
from pathlib import Path

import pytest

_SERVERS = {"servers", "database", "http", "redis", "postgres", "data_dir"}
_WITH_PROCESSES = {"embedded", "profiler", "operations", "toolchain"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect thorough tests, those that use a server's fixture, and folders whose tests start processes."""
    tests = config.rootpath / "tests"

    def pure(item: pytest.Item) -> bool:
        folder = Path(item.path).relative_to(tests).parts[0]
        servers = _SERVERS & set(getattr(item, "fixturenames", ()))
        is_slow = item.get_closest_marker("thorough") is not None
        return folder not in _WITH_PROCESSES and not servers and not _asks_later(item) and not is_slow

    config.hook.pytest_deselected(items=[item for item in items if not pure(item)])
    items[:] = [item for item in items if pure(item)]


def _asks_later(item: pytest.Item) -> bool:
    """Return true for a test that asks for its fixtures by name when it runs."""
    return isinstance(item, pytest.Function) and "request" in inspect.signature(item.function).parameters
