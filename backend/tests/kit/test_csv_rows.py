"""CSV text as spreadsheets write it: separators, decimal signs, line ends, and what is refused."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sinemora
from sinemora.kit.csv_rows import CsvError, csv_table, csv_text

KNOWN = ("name", "price")


def rows(text: str) -> list[tuple[str, float]]:
    return [(row.cells["name"], row.number("price")) for row in csv_table(text, KNOWN, 10).rows]


@pytest.mark.parametrize(
    "text",
    [
        "name,price\na,1.5\n",
        "\ufeffName , PRICE\r\n a , 1.5 \r\n\r\n",
        "price;name\n1,5;a\n;\n",
        "name;price\na;1.5\n",
        "name\tprice\ra\t1,5\r",
        '"name","price"\n"a","1.5"',
    ],
)
def test_separators_decimal_signs_and_line_ends(text: str):
    assert rows(text) == [("a", 1.5)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: no header"),
        ("\n", "line 1: no header"),
        ("name,colour\n", "line 1: unknown columns colour; use name, price"),
        ("name,price,\na,1,\n", "line 1: unknown columns (empty)"),
        ("name,price,name\n", "line 1: name occurs more than once"),
        ("name,price\na\n", "line 2: 1 cells for 2 columns"),
        ("name,price\na,1,2\n", "line 2: 3 cells for 2 columns"),
        ('name,price\n"a,1\n', "line 2: unexpected end of data"),
        ("name,price\na,$1\n", "line 2: price must be a number, not '$1'"),
        ("name,price\na,\n", "line 2: price must be a number, not ''"),
        ('name,price\na,"1,234"\n', "'1,234': write it with a decimal point and without separators of thousands"),
        ("name;price\na;1.234,5\n", "'1.234,5': write it with a decimal point"),
        ("name,price\na,1_0\n", "line 2: price must be a number"),
        ("name,price\na,inf\n", "line 2: price must be a finite number"),
        ("name,price\n" + "a,1\n" * 11, "line 12: more than 10 rows"),
    ],
)
def test_what_is_refused_names_the_line(text: str, words: str):
    with pytest.raises(CsvError) as caught:
        rows(text)
    assert words in caught.value.message


@given(st.text(alphabet='name,price;\t"\n\r1.', max_size=60))
def test_any_text_is_read_or_refused(text: str):
    try:
        found = rows(text)
    except CsvError:
        return
    assert len(found) <= 10


FORMULAS = {
    **{text: f"'{text}" for text in ("=2+5+cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\uff1d1+1", "-")},
    "\t=1": "'\t'=1",
    "\r=1": "'\n'=1",
    "a;=1+1": "a;'=1+1",  # opened where semicolons separate cells
    "a;-1, b; c-1": "a;'-1, b; c-1",
}


@pytest.mark.parametrize(("text", "inert"), FORMULAS.items())
def test_a_text_that_a_spreadsheet_would_run_is_made_inert(text: str, inert: str):
    (written,) = csv.reader(io.StringIO(csv_text([[text, "a", -5, "-5.5", "+1e-3", None]]), newline=""))
    assert written == [inert, "a", "-5", "-5.5", "+1e-3", ""]


def test_everything_that_leaves_as_csv_is_written_by_the_one_guarded_writer():
    package = Path(sinemora.__file__).parent
    users = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"csv\.(writer|DictWriter)|import (writer|DictWriter)", path.read_text("utf-8"))
    ]
    assert users == ["kit/csv_rows.py"]
