from pathlib import Path

import pytest

from sinemora.operations.embedded.story.busy import waiting_percent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "some avg10=85.39 avg60=64.24 avg300=83.56 total=1176\nfull avg10=0.00 avg60=0.50 avg300=0.00 total=0\n",
            64.24,
        ),
        ("full avg60=0.50\n", None),
        ("some avg60=much\n", None),
        ("", None),
    ],
)
def test_the_pressure_of_the_kernel_is_read(tmp_path: Path, text: str, expected: float | None) -> None:
    file = tmp_path / "cpu"
    file.write_text(text)
    assert waiting_percent(file) == expected


def test_a_kernel_without_pressure_says_nothing(tmp_path: Path) -> None:
    assert waiting_percent(tmp_path / "none") is None
