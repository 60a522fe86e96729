"""CSV text: rows as spreadsheets write them, and the one writer of everything that leaves as CSV.

Cells are separated by commas, semicolons or tabs, under a header.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

_DELIMITERS = (",", ";", "\t")
# Spreadsheets take a text that begins so for a formula (OWASP, "CSV injection"); the last four are those of East Asian
# keyboards. A plain number is none. Where a comma is the decimal sign, cells also begin after a semicolon.
_FORMULA = re.compile(r"(^|[;\t\n])(?=[=+\-@\t\n\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", re.IGNORECASE)


class CsvError(ValueError):
    """Text that is no such table; `message` names the line and what to change."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class CsvRow:
    """Cells of a row by column, without spaces around them. `line`: its last line in the text, from 1.

    `comma_decimals`: a comma separates no cells, so it is the decimal sign of numbers.
    """

    line: int
    cells: dict[str, str]
    comma_decimals: bool = False

    def number(self, column: str) -> float:
        """Return the finite number in a column. Raises `CsvError`."""
        text = self.cells[column]
        plain = text.replace(",", ".") if self.comma_decimals and "." not in text else text
        try:
            if "_" in plain:  # Python's notation
                raise ValueError
            number = float(plain)
        except ValueError:
            hint = "" if "," not in text else ": write it with a decimal point and without separators of thousands"
            raise CsvError(f"line {self.line}: {column} must be a number, not {text[:40]!r}{hint}") from None
        if not isfinite(number):
            raise CsvError(f"line {self.line}: {column} must be a finite number, not {text[:40]!r}")
        return number


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Columns in the order of the header, and the rows. Iterating the rows raises `CsvError`."""

    columns: tuple[str, ...]
    rows: Iterator[CsvRow]


def csv_text(rows: Iterable[Sequence[Any]], line_end: str = "\n") -> str:
    """Return rows as CSV text (RFC 4180). A text that a spreadsheet would run begins with an apostrophe."""
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end).writerows([_inert(cell) for cell in row] for row in rows)
    return text.getvalue()


def _inert(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")  # the writer leaves a single carriage return unquoted
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def csv_table(text: str, known: Sequence[str], rows_max: int) -> CsvTable:
    """Return the table of a text whose header has only `known` columns, in any order and case; empty rows are left out.

    The separator is the one that makes most of the header's cells known. Raises `CsvError`.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    headers = {one: _header(plain, one) for one in _DELIMITERS}
    delimiter = max(headers, key=lambda one: len(set(known) & set(headers[one])))
    columns = headers[delimiter]
    use = f"use {', '.join(known)}"
    if not any(columns):
        raise CsvError(f"line 1: no header; {use}")
    if unknown := [name or "(empty)" for name in columns if name not in known]:
        raise CsvError(f"line 1: unknown columns {', '.join(unknown)[:200]}; {use}")
    if twice := sorted({name for name in columns if columns.count(name) > 1}):
        raise CsvError(f"line 1: {', '.join(twice)} occurs more than once; keep one column of each name")
    return CsvTable(tuple(columns), _rows(plain, columns, delimiter, rows_max))


def _header(text: str, delimiter: str) -> list[str]:
    # Quotes that do not fit this separator are kept as text; they are judged with the rows.
    cells = next(csv.reader(io.StringIO(text.split("\n", 1)[0]), delimiter=delimiter), [])
    return [cell.strip().lower() for cell in cells]


def _rows(text: str, columns: list[str], delimiter: str, rows_max: int) -> Iterator[CsvRow]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    found = 0
    try:
        next(reader)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            found += 1
            if found > rows_max:
                raise CsvError(f"line {reader.line_num}: more than {rows_max:,} rows; split the table")
            if len(cells) != len(columns):
                raise CsvError(f"line {reader.line_num}: {len(cells)} cells for {len(columns)} columns")
            named = {name: cell.strip() for name, cell in zip(columns, cells, strict=True)}
            yield CsvRow(reader.line_num, named, delimiter != ",")
    except csv.Error as error:
        raise CsvError(f"line {reader.line_num}: {error}") from error
