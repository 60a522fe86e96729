"""The reference for evaluation: one vectorised SQL statement for each rule, on a table of the same values.

The table has a row for each path: the value of every series, its usual value and deviation. Storing the window,
keeping usual values, counting windows, grouping and suspects, which an evaluation does too, are left out.
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import psycopg

from sinemora.alerts.evaluation.rule import Kind, Rule
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.operations.embedded.servers.postgres import PostgresServer

Series = tuple[Metric, Statistic]


def seconds(rules: Sequence[Rule], values: dict[Series, npt.NDArray[np.float32]]) -> float:
    """Return the seconds of all rules on one window, values [source][target] of each series; median of three."""
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-") as folder:
        postgres = PostgresServer(Path(folder))
        postgres.prepare()
        postgres.start()
        try:
            with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as connection:
                _fill(connection, values)
                return median(_spent(connection, rules, list(values)) for _ in range(3))
        finally:
            postgres.stop()


def _fill(connection: psycopg.Connection, values: dict[Series, npt.NDArray[np.float32]]) -> None:
    columns = ", ".join(f"v{n} real, usual{n} real, deviation{n} real" for n in range(len(values)))
    connection.execute(f"CREATE UNLOGGED TABLE paths (source int, target int, {columns})")
    size = len(next(iter(values.values())))
    with connection.cursor().copy("COPY paths FROM STDIN") as copy:
        for source in range(size):
            rows = [np.full(size, source), np.arange(size)]
            for of in values.values():
                value = np.nan_to_num(of[source], nan=0.0)
                rows += [value, value * 0.98, value * 0.02]
            whole = np.delete(np.stack(rows, axis=1), source, axis=0)
            copy.write(
                "".join(f"{int(row[0])}\t{int(row[1])}\t" + "\t".join(map(str, row[2:])) + "\n" for row in whole)
            )
    connection.execute("ANALYZE paths")


def _spent(connection: psycopg.Connection, rules: Sequence[Rule], series: list[Series]) -> float:
    began_s = time.perf_counter()
    for rule in rules:
        n = series.index((rule.condition.metric, rule.condition.statistic))
        connection.execute(f"SELECT source, target FROM paths WHERE {_breach(rule, n)}").fetchall()
    return time.perf_counter() - began_s


def _breach(rule: Rule, n: int) -> str:
    condition = rule.condition
    if condition.kind in (Kind.BASELINE, Kind.SPIKE):
        rise = f"v{n} - usual{n}"
        return f"{rise} > {condition.rise_ns} AND {rise} > {condition.deviations} * deviation{n}"
    return f"v{n} > {condition.above}"
