"""Price lists of providers: entries of VM types and of serverless offers, read from CSV or JSON text."""

import json
from collections.abc import Iterator
from typing import Any

from sinemora.kit.csv_rows import CsvError, CsvRow, csv_table, csv_text
from sinemora.kit.http import strict_json

COLUMNS = (
    "kind",
    "provider",
    "region",
    "name",
    "price_per_hour",
    "vcpus",
    "memory_gb",
    "price_per_gb_second",
    "price_per_million_requests",
)
ENTRIES_MAX = 2_000
TEXT_COLUMNS = ("kind", "provider", "region", "name")


class PriceListError(ValueError):
    """Text that is no price list; `message` names the line and what to change."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def entries_of_csv(text: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV text with a header; empty cells are left out. Raises `PriceListError`."""
    try:
        return [dict(_cells(row)) for row in csv_table(text, COLUMNS, ENTRIES_MAX).rows]
    except CsvError as error:
        raise PriceListError(error.message) from error


def entries_of_json(text: str) -> list[dict[str, Any]]:
    """Return the entries of a JSON text: a list, or an object with the key `entries`. Raises `PriceListError`."""
    try:
        document = strict_json.parse(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise PriceListError(f"line {error.lineno}: not JSON, {error.msg}") from error
    except strict_json.StrictJsonError as error:
        raise PriceListError(error.message) from error
    entries = document.get("entries") if isinstance(document, dict) else document
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PriceListError("must be a list of objects, or an object with a list in `entries`")
    return list(entries)


def csv_of(entries: list[dict[str, Any]]) -> str:
    """Return entries as CSV text that `entries_of_csv` reads."""
    return csv_text([[*COLUMNS], *([entry.get(name) for name in COLUMNS] for entry in entries)])


def _cells(row: CsvRow) -> Iterator[tuple[str, Any]]:
    for name, text in row.cells.items():
        if text:
            yield name, text if name in TEXT_COLUMNS else row.number(name)
