"""A plug-in of pytest that keeps only the tests which need no server, no network and no started product."""

import inspect
from pathlib import Path

import pytest

_SERVERS = {"servers", "database", "http", "redis", "postgres", "data_dir"}
_WITH_PROCESSES = {"embedded", "profiler", "operations", "toolchain"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that use a server's fixture or live in a folder whose tests start processes."""
    tests = config.rootpath / "tests"

    def pure(item: pytest.Item) -> bool:
        folder = Path(item.path).relative_to(tests).parts[0]
        servers = _SERVERS & set(getattr(item, "fixturenames", ()))
        return folder not in _WITH_PROCESSES and not servers and not _asks_later(item)

    config.hook.pytest_deselected(items=[item for item in items if not pure(item)])
    items[:] = [item for item in items if pure(item)]


def _asks_later(item: pytest.Item) -> bool:
    """Return true for a test that asks for its fixtures by name when it runs."""
    return isinstance(item, pytest.Function) and "request" in inspect.signature(item.function).parameters
