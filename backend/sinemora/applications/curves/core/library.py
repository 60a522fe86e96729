"""Published curves and measurements, as data.

Sources: D. A. Popescu, "Latency-driven performance in data centres", UCAM-CL-TR-937, 2019 (chapter 5; section 2.5 for
single pairs), and D. A. Popescu, N. Zilberman, A. W. Moore, "Characterizing the impact of network latency on
cloud-based applications' performance", UCAM-CL-TR-914, 2017. Latency was added on the one link of the selected host,
half in each direction, from 2 to 1000 µs in all. A curve is valid for one configuration on the authors' machines; on
other machines scale and trend are similar, the values differ.
"""

from dataclasses import dataclass
from typing import Literal

from sinemora.applications.curves.core.curve import Curve, polynomial, through

THESIS, PAIR, REPORT = "UCAM-CL-TR-937, ch. 5", "UCAM-CL-TR-937, sec. 2.5", "UCAM-CL-TR-914"

TEST_BED_US = 37.5
"""Round trip of the test bed of chapter 5 without added latency: one way 18.5 to 19 µs (UCAM-CL-TR-937, 4.3.2)."""
TEST_BED_SOURCE = "UCAM-CL-TR-937, sec. 4.3.2: one-way delay of 18.5 to 19 µs on the test bed of ch. 5"

Basis = Literal["formula", "points", "bound"]
"""Basis of a curve: the authors' formula, lines between points they state, or the only bound they state."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One measurement as stated by the source: performance `relation` `performance` at `added_us` of round trip."""

    added_us: float
    relation: Literal["=", "≈", "<", ">"]
    performance: float
    words: str
    source: str = THESIS
    setup: str = ""
    """Difference from the configuration of the curve; empty for the same one."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published curve with its source and measurements. `baseline` is in the unit of `metric`."""

    key: str
    name: str
    role: str
    metric: str
    falls: bool
    """True: the metric falls with latency (a rate). False: it grows (a duration), performance is baseline / value."""
    baseline: float | None
    flat_until_us: float
    basis: Basis
    formula: str | None
    source: str
    curve: Curve
    stated: tuple[Stated, ...]

    @property
    def reference_us(self) -> float:
        """Return the round trip of the test bed in µs; 0 for single pairs of section 2.5, for which none is stated."""
        return TEST_BED_US if self.source.startswith(THESIS) else 0.0

    @property
    def residuals(self) -> tuple[float, ...]:
        """Return the errors of the curve at the values that the source states for its setup.

        Lines between stated points have none: they pass through the points.
        """
        if self.basis != "formula":
            return ()
        exact = [point for point in self.stated if point.relation in "=≈" and not point.setup]
        return tuple(float(self.curve(point.added_us)) - point.performance for point in exact)


_MEMCACHED = (1.067, -3.093e-3, 4.084e-6, -1.898e-9)
_STRADS = (1.009, -2.095e-3, 2.571e-6, -1.232e-9)
_SPARK = (1.0199, -1.161e-4)
_TENSORFLOW = (1.005, -5.146e-4, 5.837e-7, -3.46e-10)

LIBRARY: tuple[Published, ...] = (
    Published(
        key="memcached-server",
        name="Memcached, server",
        role="delay at the server; 5 clients, Facebook ETC mix, closed loop of 180 connections",
        metric="queries/s",
        falls=True,
        baseline=990e3,
        flat_until_us=40,
        basis="formula",
        formula="1.067 − 3.093e-3 x + 4.084e-6 x² − 1.898e-9 x³",
        source=f"{THESIS}, eq. 5.4",
        curve=polynomial(40, _MEMCACHED, 1000),
        stated=(
            Stated(40, "<", 1.0, "a slight drop appears with 40 µs"),
            Stated(50, "=", 0.934, "6.6 % performance drop when adding 50 µs"),
            Stated(100, "<", 0.80, "100 µs are enough for over 20 % degradation"),
            Stated(250, "≈", 0.5, "250 µs reduces the QPS to nearly half"),
            Stated(1000, "=", 0.17, "with 1 ms only 17 % of the baseline"),
            Stated(200, "≈", 0.5, "halved around twice 100 µs", REPORT, "read-only mix"),
            Stated(30, "=", 1 - 35 / 1050, "30 µs lowers by about 35 K of 1.05 M QPS", setup="read-only mix"),
            Stated(50, "<", 1 - 100 / 1050, "50 µs reduces by more than 100 K QPS", setup="read-only mix"),
            Stated(250, "≈", 0.5, "250 µs: approximately half", setup="read-only mix"),
            Stated(1000, "=", 0.16, "1 ms: 16 % of the baseline", setup="read-only mix"),
            Stated(20, "=", 0.75, "20 µs: a drop of 25 %", PAIR, "one client, memslap"),
            Stated(100, "=", 0.25, "100 µs: 25 % of the baseline", PAIR, "one client, memslap"),
        ),
    ),
    Published(
        key="memcached-client",
        name="Memcached, one client of five",
        role="delay at one client; the aggregate of five clients is measured",
        metric="queries/s",
        falls=True,
        baseline=990e3,
        flat_until_us=0,
        basis="bound",
        formula=None,
        source=f"{THESIS}, sec. 5.4.2: the reduction is smaller than a fifth; drawn as a line to that bound",
        curve=through([0, 1000], [1, 0.8]),
        stated=(Stated(1000, ">", 0.8, "the reduction in the achieved performance is smaller than a fifth"),),
    ),
    Published(
        key="dns",
        name="DNS (NSD)",
        role="delay at the server; one client, A records",
        metric="queries/s",
        falls=True,
        baseline=270e3,
        flat_until_us=100,
        basis="points",
        formula=None,
        source=f"{THESIS}, sec. 5.4; lines between the stated points",
        curve=through([0, 100, 150, 200, 300, 500, 1000], [1, 1, 0.87, 0.74, 0.74, 0.56, 0.34]),
        stated=(
            Stated(100, "=", 1.0, "up to 100 µs do not affect performance"),
            Stated(150, "=", 0.87, "150 µs brings 13 % loss"),
            Stated(200, "=", 0.74, "200 µs leads to 26 % loss"),
            Stated(300, "=", 0.74, "300 µs leads to 26 % loss"),
            Stated(500, "=", 0.56, "500 µs leads to 44 % loss"),
            Stated(1000, "=", 0.34, "1 ms leads to 66 % loss, around 91,000 QPS"),
        ),
    ),
    Published(
        key="strads-lasso",
        name="STRADS Lasso regression",
        role="delay at coordinator and scheduler; 6 workers, 100 K iterations",
        metric="training time, s",
        falls=False,
        baseline=50,
        flat_until_us=20,
        basis="formula",
        formula="1.009 − 2.095e-3 x + 2.571e-6 x² − 1.232e-9 x³",
        source=f"{THESIS}, eq. 5.5",
        curve=polynomial(20, _STRADS, 1000),
        stated=(
            Stated(20, "≈", 50 / 52, "20 µs increases the time by approximately 2 s from 50 s"),
            Stated(100, "=", 50 / 60, "100 µs increases the time by 10 s"),
            Stated(400, "≈", 50 / 100, "400 µs doubles the time to approximately 100 s"),
            Stated(1000, "=", 50 / 172, "1 ms leads to 172 s"),
        ),
    ),
    Published(
        key="spark-glm",
        name="Spark GLM regression",
        role="delay at the master; 8 workers, 100 iterations",
        metric="training time, s",
        falls=False,
        baseline=17.14,
        flat_until_us=200,
        basis="formula",
        formula="1.0199 − 1.161e-4 x",
        source=f"{THESIS}, eq. 5.6",
        curve=polynomial(200, _SPARK, 1000),
        stated=(
            Stated(200, "=", 1.0, "up to 200 µs have no impact"),
            Stated(500, "=", 1 / 1.044, "500 µs: increase of 4.4 %"),
            Stated(1000, "≈", 17.14 / 18.86, "1 ms: 18.86 s against 17.14 s"),
        ),
    ),
    Published(
        key="tensorflow-mnist",
        name="TensorFlow MNIST",
        role="delay at the parameter server; 9 hosts, 20 K iterations",
        metric="training time, s",
        falls=False,
        baseline=151,
        flat_until_us=40,
        basis="formula",
        formula="1.005 − 5.146e-4 x + 5.837e-7 x² − 3.46e-10 x³",
        source=f"{THESIS}, eq. 5.7",
        curve=polynomial(40, _TENSORFLOW, 1000),
        stated=(
            Stated(100, "=", 0.967, "degradation of 3.3 % for 100 µs"),
            Stated(600, "=", 151 / 182, "600 µs: 182 s from approximately 151 s"),
            Stated(1000, "=", 151 / 208, "1 ms: 208 s, a drop of 27.5 %"),
        ),
    ),
    Published(
        key="apache",
        name="Apache (ab), one pair",
        role="delay between one client and the server; two clients already compete for the link",
        metric="requests/s",
        falls=True,
        baseline=None,
        flat_until_us=20,
        basis="points",
        formula=None,
        source=f"{PAIR}; lines between the stated points",
        curve=through([0, 20, 100], [1, 1, 0.54]),
        stated=(
            Stated(20, "≈", 1.0, "the drop starts when 20 µs are added", PAIR),
            Stated(100, "=", 0.54, "100 µs leads to 46 % loss", PAIR),
        ),
    ),
    Published(
        key="tpc-c",
        name="TPC-C on MySQL, one pair",
        role="delay between one client and the server; transactions take tens of milliseconds",
        metric="New-Order transactions/min",
        falls=True,
        baseline=None,
        flat_until_us=0,
        basis="points",
        formula=None,
        source=f"{PAIR}; a line to the stated point",
        curve=through([0, 100], [1, 0.97]),
        stated=(Stated(100, "=", 0.97, "3 % reduction with 100 µs", PAIR),),
    ),
)


def published(key: str) -> Published:
    """Return the published curve of that key. Raises `KeyError`."""
    for entry in LIBRARY:
        if entry.key == key:
            return entry
    raise KeyError(key)
