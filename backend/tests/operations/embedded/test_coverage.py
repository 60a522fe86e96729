"""When the demonstration mesh counts as complete."""

import pytest

from sinemora.operations.embedded.readiness import Coverage


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
