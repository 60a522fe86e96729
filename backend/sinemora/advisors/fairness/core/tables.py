"""Fairness measured elsewhere: a CSV table of throughputs, or of indices, by group and window."""

import csv
import io
from collections import defaultdict
from dataclasses import dataclass
from math import isfinite

from sinemora.measurements.aggregate.fairness import jain_index

ROWS_MAX = 100_000


class TableError(ValueError):
    """Text that is no table; `message` names the line and what to change."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class WindowIndex:
    """Index of a group in one window; `members` is 0 where the table holds the index itself."""

    window: str
    index: float | None
    members: int


@dataclass(frozen=True, slots=True)
class GroupIndex:
    """Windows of a group in the order of the table, and the mean of their indices."""

    group: str
    windows: list[WindowIndex]

    @property
    def mean(self) -> float | None:
        """Mean over windows with an index; None without any."""
        known = [window.index for window in self.windows if window.index is not None]
        return sum(known) / len(known) if known else None


def groups_of_csv(text: str) -> list[GroupIndex]:
    """Return the groups of a table with columns `group`, `window`, and `throughput` or `index`. Raises `TableError`."""
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), strict=True)
    try:
        columns = set(reader.fieldnames or [])
        if columns not in ({"group", "window", "throughput"}, {"group", "window", "index"}):
            raise TableError("line 1: the columns must be group, window, and either throughput or index")
        value = "index" if "index" in columns else "throughput"
        values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for at, row in enumerate(reader):
            if at >= ROWS_MAX:
                raise TableError(f"more than {ROWS_MAX} rows")
            values[str(row["group"])][str(row["window"])].append(_number(reader.line_num, value, row.get(value)))
    except csv.Error as error:
        raise TableError(f"line {reader.line_num}: {error}") from error
    return [
        GroupIndex(group, [_window(window, shares, value == "index") for window, shares in windows.items()])
        for group, windows in values.items()
    ]


def _window(window: str, values: list[float], is_index: bool) -> WindowIndex:
    if not is_index:
        return WindowIndex(window, jain_index(values), len(values))
    if len(values) > 1:
        raise TableError(f"window {window}: a group has one index a window")
    return WindowIndex(window, values[0], 0)


def _number(line: int, column: str, cell: str | None) -> float:
    try:
        number = float(cell or "")
    except ValueError:
        raise TableError(f"line {line}: {column} must be a number, not {(cell or '')[:40]!r}") from None
    if not isfinite(number) or number < 0 or (column == "index" and not 0 < number <= 1):
        bounds = "above 0 and at most 1" if column == "index" else "at least 0"
        raise TableError(f"line {line}: {column} must be {bounds}")
    return number
