"""Fairness measured elsewhere: a CSV table of throughputs, or of indices, by group and window."""

from collections import defaultdict
from dataclasses import dataclass

from sinemora.kit.csv_rows import CsvError, CsvRow, csv_table
from sinemora.measurements.aggregate.fairness import jain_index

ROWS_MAX = 100_000
_KEYS = ("group", "window")
_VALUES = ("throughput", "index")


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
    """Return the groups of a table with columns `group`, `window`, and `throughput` or `index`. Raises `CsvError`."""
    table = csv_table(text, (*_KEYS, *_VALUES), ROWS_MAX)
    if set(table.columns) not in ({*_KEYS, value} for value in _VALUES):
        raise CsvError("line 1: the columns must be group, window, and either throughput or index")
    value = next(name for name in _VALUES if name in table.columns)
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in table.rows:
        group, window = (_label(row, name) for name in _KEYS)
        values[group][window].append(_number(row, value))
    if not values:
        raise CsvError("no rows below the header: write one row a flow, or one a window with its index")
    return [
        GroupIndex(group, [_window(group, window, shares, value) for window, shares in windows.items()])
        for group, windows in values.items()
    ]


def _window(group: str, window: str, values: list[float], value: str) -> WindowIndex:
    if value == "throughput":
        return WindowIndex(window, jain_index(values), len(values))
    if len(values) > 1:
        raise CsvError(f"window {window} of {group}: {len(values)} indices; a group has one index a window")
    return WindowIndex(window, values[0], 0)


def _label(row: CsvRow, column: str) -> str:
    label = row.cells[column]
    if not label:
        raise CsvError(f"line {row.line}: {column} is empty")
    return label


def _number(row: CsvRow, column: str) -> float:
    number = row.number(column)
    if number < 0 or (column == "index" and not 0 < number <= 1):
        bounds = "above 0 and at most 1" if column == "index" else "at least 0"
        raise CsvError(f"line {row.line}: {column} must be {bounds}, not {row.cells[column][:40]}")
    return number
