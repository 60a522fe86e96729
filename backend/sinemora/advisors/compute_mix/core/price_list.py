"""Price lists of providers: entries of VM types and of serverless offers, read from CSV or JSON text."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

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
TEXT_COLUMNS = ("kind", "provider", "region", "name")


class PriceListError(ValueError):
    """Text that is no price list; `message` names the line and what to change."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def entries_of_csv(text: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV text with a header; empty cells are left out. Raises `PriceListError`."""
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), strict=True)
    try:
        unknown = [name for name in reader.fieldnames or [] if name not in COLUMNS]
        if unknown or not reader.fieldnames:
            raise PriceListError(f"line 1: unknown columns {', '.join(map(str, unknown)) or '(none)'}; use {_listed()}")
        return [_row(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise PriceListError(f"line {reader.line_num}: {error}") from error


def entries_of_json(text: str) -> list[dict[str, Any]]:
    """Return the entries of a JSON text: a list, or an object with the key `entries`. Raises `PriceListError`."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise PriceListError(f"line {error.lineno}: not JSON, {error.msg}") from error
    entries = document.get("entries") if isinstance(document, dict) else document
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PriceListError("must be a list of objects, or an object with a list in `entries`")
    return list(entries)


def csv_of(entries: list[dict[str, Any]]) -> str:
    """Return entries as CSV text that `entries_of_csv` reads."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: value for name, value in entry.items() if value is not None} for entry in entries)
    return text.getvalue()


def _row(line: int, row: dict[str | None, Any]) -> dict[str, Any]:
    if None in row or None in row.values():
        raise PriceListError(f"line {line}: more or fewer cells than the header has columns")
    return dict(_cells(line, row))


def _cells(line: int, row: dict[str | None, Any]) -> Iterator[tuple[str, Any]]:
    for name, cell in row.items():
        text = str(cell).strip()
        if name is None or not text:
            continue
        if name in TEXT_COLUMNS:
            yield name, text
        else:
            try:
                yield name, float(text)
            except ValueError:
                raise PriceListError(f"line {line}: {name} must be a number, not {text[:40]!r}") from None


def _listed() -> str:
    return ", ".join(COLUMNS)
