"""A plug-in of pytest that keeps only the tests which need no server, no network and no started product."""

from pathlib import Path

import pytest

_SERVERS = {"servers", "database", "http", "redis", "postgres", "data_dir"}
_WITH_PROCESSES = {"embedded", "profiler", "operations", "toolchain"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that use a server's fixture or live in a folder whose tests start processes."""
    tests = config.rootpath / "tests"

    def pure(item: pytest.Item) -> bool:
        folder = Path(item.path).relative_to(tests).parts[0]
        return folder not in _WITH_PROCESSES and not _SERVERS & set(getattr(item, "fixturenames", ()))

    config.hook.pytest_deselected(items=[item for item in items if not pure(item)])
    items[:] = [item for item in items if pure(item)]
