"""docs/curves.md agrees with the code."""

import re
from pathlib import Path

import pytest

from sinemora.applications.curves.core import diagnosis
from sinemora.applications.curves.core.fit import FAMILIES
from sinemora.applications.curves.core.library import LIBRARY
from sinemora.applications.curves.core.upload import parse
from sinemora.applications.learning import evidence
from sinemora.labs.profiler.recipes import RECIPES

TEXT = (Path(__file__).parents[4] / "docs/curves.md").read_text()
ROWS = [
    [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]
    for line in TEXT.splitlines()
    if "|" in line
]


@pytest.mark.parametrize("entry", LIBRARY, ids=lambda entry: entry.key)
def test_every_published_curve_is_in_the_table(entry):
    row = next(row for row in ROWS if row[0] == entry.key)
    assert (float(row[1]), float(row[3])) == (entry.flat_until_us, entry.curve.end_us)
    assert entry.formula in (row[2], None)


def test_every_family_and_warning_is_explained():
    codes = re.findall(r'warn\(\s*"(\w+)"', Path(diagnosis.__file__).read_text())
    assert codes
    for name in (*FAMILIES, *codes):
        assert f"`{name}`" in TEXT


def test_the_example_can_be_fitted():
    example = re.search(r"```\n(added_us,.*?)```", TEXT, re.DOTALL)
    assert parse(example[1].encode()).samples().performance[0] == 1


def test_every_reason_for_insufficient_data_is_explained():
    codes = re.findall(r'Reason\(\s*"(\w+)"', Path(evidence.__file__).read_text())
    assert len(codes) > 4
    for code in codes:
        assert f"| `{code}` |" in TEXT


def test_every_recipe_is_named():
    section = TEXT[TEXT.index("## Profiling") : TEXT.index("## Curves in the product")]
    assert all(name in section for name in RECIPES)
