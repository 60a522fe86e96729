"""Distributions of flow sizes: the five workloads of the source, and sizes of one's own.

The source (K. Mahajan, Columbia University, 2021, figure 2.3) shows its workloads as a plot without numbers. W1 is
the value size of the pool ETC by its published model (B. Atikoglu et al., SIGMETRICS 2012, table 5: a generalised
Pareto distribution of scale 214.476 and shape 0.348238 above 15 bytes); W2 to W4 are points of the distributions that
Homa (B. Montazeri et al., SIGCOMM 2018) published with its simulator; W5 is the web search of DCTCP (M. Alizadeh et
al., SIGCOMM 2010) in packets of 1,460 bytes.
"""

import csv
import io
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

SIZES_MAX = 100_000
"""Rows of an imported table."""
SIZE_MAX = 10**10
"""Bytes of one flow."""
_DISTINCT_MAX = 5_000
_DCTCP_PACKET = 1_460


class SizesError(ValueError):
    """Text that is no table of flow sizes; `message` names the line and what to change."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Workload:
    """Distribution of flow sizes: share of flows of at most so many bytes, by points.

    Between two points the share rises linearly; `stepped`: only the sizes of the points occur.
    """

    key: str
    name: str
    points: tuple[tuple[int, float], ...]
    stepped: bool = False

    @cached_property
    def _arrays(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        sizes, shares = zip(*self.points, strict=True)
        return np.array(sizes, np.float64), np.array(shares, np.float64)

    def sizes_at(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the sizes below which these shares of the flows lie, bytes: the inverse of the distribution."""
        sizes, cumulative = self._arrays
        if self.stepped:
            found = sizes[np.minimum(np.searchsorted(cumulative, shares), sizes.size - 1)]
        else:
            found = np.interp(shares, cumulative, sizes)
        return np.maximum(np.rint(found), 1).astype(np.int64)

    @cached_property
    def mean_bytes(self) -> float:
        """Mean size of a flow."""
        sizes, cumulative = self._arrays
        steps = np.diff(cumulative)
        between = sizes[1:] if self.stepped else (sizes[1:] + sizes[:-1]) / 2
        return float(sizes[0] * cumulative[0] + between @ steps)

    def packets_per_flow(self, packet_bytes: int) -> float:
        """Return the mean number of packets of a flow."""
        shares = (np.arange(20_000) + 0.5) / 20_000
        return float(np.ceil(self.sizes_at(shares) / packet_bytes).mean())


WORKLOADS: dict[str, Workload] = {
    workload.key: workload
    for workload in (
        Workload(
            "w1", "W1 Facebook Memcached",
            (
                (1, 0.0058), (2, 0.184), (3, 0.276), (5, 0.304), (7, 0.311), (9, 0.32), (10, 0.328), (11, 0.418),
                (13, 0.422), (14, 0.442), (38, 0.498), (65, 0.554), (96, 0.61), (135, 0.665), (183, 0.721),
                (246, 0.777), (336, 0.833), (478, 0.888), (772, 0.944), (1_147, 0.972), (1_804, 0.9888),
                (2_461, 0.9944), (6_226, 0.99944), (14_621, 0.999944), (33_338, 0.9999944), (75_070, 1.0),
            ),
        ),
        Workload(
            "w2", "W2 Google Search",
            (
                (1, 0.0), (2, 0.076), (3, 0.132), (4, 0.151), (8, 0.17), (32, 0.189), (64, 0.326), (128, 0.342),
                (256, 0.464), (320, 0.642), (394, 0.776), (512, 0.91), (640, 0.929), (853, 0.949), (1_024, 0.958),
                (1_365, 0.97), (2_048, 0.981), (4_096, 0.9953), (8_192, 0.9984), (16_384, 0.9989), (32_768, 0.99914),
                (65_536, 0.99935), (131_072, 0.99987), (262_144, 0.999975), (524_288, 0.9999827), (3_530_000, 1.0),
            ),
        ),
        Workload(
            "w3", "W3 Google, all applications",
            (
                (1, 0.0), (2, 0.277), (3, 0.461), (4, 0.553), (7, 0.646), (32, 0.738), (64, 0.797), (128, 0.827),
                (256, 0.857), (315, 0.888), (372, 0.908), (512, 0.939), (1_024, 0.961), (2_048, 0.974),
                (4_096, 0.9814), (8_192, 0.9898), (16_384, 0.9956), (32_768, 0.9973), (65_536, 0.9981),
                (131_072, 0.99917), (262_144, 0.99955), (524_288, 0.99985), (1_005_000, 0.999924),
                (3_222_000, 0.999981), (12_160_000, 1.0),
            ),
        ),
        Workload(
            "w4", "W4 Facebook Hadoop",
            (
                (92, 0.007), (271, 0.041), (300, 0.052), (326, 0.138), (376, 0.203), (480, 0.264), (600, 0.459),
                (679, 0.517), (800, 0.576), (1_042, 0.61), (1_534, 0.647), (2_214, 0.675), (5_210, 0.693),
                (7_830, 0.708), (32_000, 0.721), (44_300, 0.758), (51_000, 0.816), (75_200, 0.842), (81_600, 0.872),
                (115_000, 0.898), (184_000, 0.926), (240_000, 0.944), (289_000, 0.954), (471_000, 0.963),
                (941_000, 0.972), (1_770_000, 0.981), (2_170_000, 0.987), (10_000_000, 1.0),
            ),
        ),
        Workload(
            "w5", "W5 Microsoft web search",
            tuple(
                (packets * _DCTCP_PACKET, share)
                for packets, share in (
                    (1, 0.0), (6, 0.15), (13, 0.2), (19, 0.3), (33, 0.4), (53, 0.53), (133, 0.6), (667, 0.7),
                    (1_333, 0.8), (3_333, 0.9), (6_667, 0.97), (20_000, 1.0),
                )
            ),
        ),
    )
}  # fmt: skip
"""The workloads of the source, by their keys."""


def own_workload(text: str, name: str = "Own flow sizes") -> Workload:
    """Return the workload of a CSV table: column `bytes`, and optionally `count` of flows of that size.

    A single column of numbers needs no header. Raises `SizesError`.
    """
    counts = Counter[int]()
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff")), strict=True)
    columns = ["bytes"]
    try:
        for at, row in enumerate(rows):
            if at == 0 and not _is_number(row):
                columns = [cell.strip() for cell in row]
                if columns not in (["bytes"], ["bytes", "count"]):
                    raise SizesError("line 1: the columns must be bytes, or bytes and count")
                continue
            if not row:
                continue
            if at > SIZES_MAX:
                raise SizesError(f"more than {SIZES_MAX} rows; sum equal sizes up with a column count")
            if len(row) != len(columns):
                raise SizesError(f"line {rows.line_num}: expected {len(columns)} cells, found {len(row)}")
            size = _whole(rows.line_num, "bytes", row[0], SIZE_MAX)
            counts[size] += _whole(rows.line_num, "count", row[1], 10**9) if len(columns) == 2 else 1
    except csv.Error as error:
        raise SizesError(f"line {rows.line_num}: {error}") from error
    if not counts:
        raise SizesError("no flow sizes: write one number of bytes a line")
    return of_counts(counts, name)


def of_counts(counts: dict[int, int], name: str) -> Workload:
    """Return the workload in which each size is as frequent as it was counted."""
    sizes = np.array(sorted(counts), np.int64)
    shares = np.cumsum([counts[size] for size in sizes.tolist()]) / sum(counts.values())
    if sizes.size > _DISTINCT_MAX:  # as many as a job keeps: every flow has one of them, at its share
        shares_kept = np.linspace(0, 1, _DISTINCT_MAX)
        kept = np.unique(np.append(np.searchsorted(shares, shares_kept[:-1]), sizes.size - 1))
        sizes, shares = sizes[kept], shares[kept]
    return Workload("own", name, tuple(zip(sizes.tolist(), shares.tolist(), strict=True)), stepped=True)


def _is_number(row: list[str]) -> bool:
    return bool(row) and row[0].strip().lstrip("+-").replace(".", "", 1).isdigit()


def _whole(line: int, column: str, cell: str, most: int) -> int:
    try:
        number = int(cell.strip())
    except ValueError:
        raise SizesError(f"line {line}: {column} must be a whole number, not {cell.strip()[:40]!r}") from None
    if not 1 <= number <= most:
        raise SizesError(f"line {line}: {column} must be 1 to {most}, not {number}")
    return number
