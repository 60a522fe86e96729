"""`make wait` asks the product that runs, until its demonstration mesh is complete."""

from typing import Any, cast

import pytest

from sinemora.kit.config import Settings
from sinemora.operations.embedded import waiting
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.readiness import Coverage


class Running:
    """Data folder of a product that was started with a port of its own, without a demonstration."""

    def running(self) -> dict[str, Any]:
        return {"phase": "up", "local_address": "http://127.0.0.1:9", "processes": {"api": {}}}


def test_the_port_of_the_running_product_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answers(url: str) -> bool:
        asked.append(url)
        return True

    monkeypatch.setattr(waiting, "answers", answers)
    assert waiting.wait(Settings(port=8420), cast(DataFolder, Running())) == 0
    assert asked == ["http://127.0.0.1:9/readyz"]


@pytest.mark.parametrize(
    ("found", "complete"),
    [
        (Coverage(0, 0, []), False),
        (Coverage(1, 0, []), False),
        (Coverage(2, 0, []), False),
        (Coverage(2, 2, ["a-1 → a-2: no data"]), False),
        (Coverage(2, 2, []), True),
        (Coverage(3, 2, []), True),  # somebody added a VM whose agent was revoked
        (Coverage(3, 6, []), True),
    ],
)
def test_every_planned_path_is_measured(found: Coverage, complete: bool) -> None:
    assert found.complete(2) is complete
