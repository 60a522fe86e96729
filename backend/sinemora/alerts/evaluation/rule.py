"""Rules as values: what is looked at, when it counts, whom it concerns."""

from dataclasses import dataclass, field
from enum import StrEnum
from math import comb

import numpy as np

from sinemora.alerts.evaluation.baseline import LONG, SHORT, Flags
from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX, MOfN
from sinemora.measurements.aggregate.fairness import ALERT_BELOW
from sinemora.measurements.aggregate.matrix import Metric, Statistic


class Kind(StrEnum):
    """Comparison of a rule: a value with a number, a value with the baseline of its path, the packets lost over many
    windows with a ratio, the largest delay of a window with its median, an agent's last report with the clock, an
    application's predicted performance with its objective, the time until the token bucket of a VM is empty with a
    limit, the share of time that the host of a VM made its agent wait with a limit, or the fairness of the shares of
    VMs, applications or flows with a limit.
    """

    THRESHOLD = "threshold"
    BASELINE = "baseline"
    LOSS = "loss"
    SPIKE = "spike"
    SILENT = "silent"
    PERFORMANCE = "performance"
    TOKENS = "tokens"
    HOST = "host"
    FAIRNESS = "fairness"


class Among(StrEnum):
    """Members among which a rule compares shares: VMs or applications of a mesh, or the flows of each path."""

    VMS = "vms"
    APPLICATIONS = "applications"
    FLOWS = "flows"


class Timescale(StrEnum):
    """Memory of a baseline: the last half hour, days, or this hour of the week in the last weeks."""

    SHORT = "short"
    LONG = "long"
    WEEKLY = "weekly"


class Symptom(StrEnum):
    """What a rule notices: a changed delay, lost packets, an unknown clock, a silent agent, a slow application,
    a token bucket that runs empty, a host without time, uneven shares.
    """

    DELAY = "delay"
    LOSS = "loss"
    CLOCK = "clock"
    SILENCE = "silence"
    PERFORMANCE = "performance"
    TOKENS = "tokens"
    HOST = "host"
    FAIRNESS = "fairness"


class Severity(StrEnum):
    """Severity of a rule and its incidents."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.CRITICAL)
_SYMPTOMS = {
    Kind.SILENT: Symptom.SILENCE,
    Kind.PERFORMANCE: Symptom.PERFORMANCE,
    Kind.TOKENS: Symptom.TOKENS,
    Kind.HOST: Symptom.HOST,
    Kind.FAIRNESS: Symptom.FAIRNESS,
}
PER_PATH = (Kind.THRESHOLD, Kind.BASELINE, Kind.LOSS, Kind.SPIKE)
DIRECTED = (Metric.ONE_WAY_DELAY, Metric.LOSS, Metric.JITTER)
"""Metrics measured per direction: they show which direction is at fault."""
SPIKE_RISE_NS = 500_000.0
"""Least rise of a transient spike above the median (UCAM-CL-TR-937, 4.5.3)."""
EMPTY_WITHIN_S = 60
"""Time before a token bucket is empty at its present use: a forecast of an older use would be of little worth."""
LASTING_LOSS = 0.002
"""Loss above that of usual hours: of 18 traces in six data centres, hours without a disturbance lost up to 0.17 %, the
worst hour with one 0.47 % (UCAM-CL-TR-937, table 4.4).
"""
_SPIKES_A_WEEK = 2380
_BY_CHANCE = 5e-5


@dataclass(frozen=True, slots=True)
class Condition:
    """When a window of a path is a breach.

    `above`: threshold in ns or as a ratio; for performance the distance below the objective, or with `over_s` the rate
    at which it uses the budget of its contract; for asymmetry it applies to the magnitude. `deviations`: deviations
    above the baseline of `timescale`; of a spike, above the usual largest rise of the path and of its pair of zones.
    `rise_ns`: least rise above the baseline (of loss: a ratio); of a spike, least rise above the median. `over_s`: of
    loss the time over which packets are counted, of a baseline the time in which six breaches are too many
    (`recurring.py`); 0: M of N windows. `within_s`: time within which a token bucket will be empty at its present use,
    only of tokens. `among`, `below`: members, and Jain's index of their shares below which a window is a breach, only
    of fairness.
    """

    kind: Kind
    metric: Metric = Metric.ONE_WAY_DELAY
    statistic: Statistic = Statistic.P50
    above: float = 0.0
    deviations: float = 6.0
    rise_ns: float = 0.0
    timescale: Timescale = Timescale.SHORT
    over_s: int = 0
    within_s: int = 0
    among: Among = Among.FLOWS
    below: float = 0.0

    @property
    def memory(self) -> int:
        """Return the index of its timescale in a baseline; an hour of the week uses the long memory."""
        return SHORT if self.timescale is Timescale.SHORT else LONG

    @property
    def directed(self) -> bool:
        """Return whether the condition distinguishes the directions of a pair."""
        return self.kind in PER_PATH and self.metric in DIRECTED

    @property
    def of_applications(self) -> bool:
        """Return whether the condition needs the predicted performance of applications."""
        shares = self.kind is Kind.FAIRNESS and self.among is Among.APPLICATIONS
        return shares or self.kind is Kind.PERFORMANCE

    @property
    def recurs(self) -> bool:
        """Return whether the condition counts how often a path is in breach, instead of M of N windows."""
        return self.kind is Kind.BASELINE and self.over_s > 0

    @property
    def symptom(self) -> Symptom:
        """Return what the condition notices."""
        if (symptom := _SYMPTOMS.get(self.kind)) is not None:
            return symptom
        return {Metric.LOSS: Symptom.LOSS, Metric.CLOCK_ERROR: Symptom.CLOCK}.get(self.metric, Symptom.DELAY)

    @property
    def about_delay(self) -> bool:
        """Return whether the condition compares the delay of a path."""
        return self.kind in PER_PATH and self.metric in (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one mesh. `sources_min`: number of VMs that must see the breach, as sources or targets.

    `scope` [source][target]: mask of its paths; None: all. Durations in seconds.
    """

    id: str
    name: str
    condition: Condition
    severity: Severity = Severity.WARNING
    x: int = 2
    y: int = 3
    sources_min: int = 1
    hold_s: int = 0
    keep_firing_s: int = 60
    scope: Flags | None = field(default=None, compare=False)

    def m_of_n(self, window_s: int) -> MOfN:
        """Return M of N, hold and keep firing in windows of a mesh."""
        return MOfN(self.x, self.y, -(-self.hold_s // window_s), -(-self.keep_firing_s // window_s))


def defaults(window_s: int = 10) -> list[Rule]:
    """Return the default rules of a mesh with this window length.

    `docs/alerts.md` has their figures, with measured detection and miss rates.
    """
    one_way, loss = Metric.ONE_WAY_DELAY, Metric.LOSS
    spikes_x, spikes_y = spike_windows(window_s)
    return [
        Rule(
            "delay",
            "Delay above its baseline",
            Condition(Kind.BASELINE, one_way, deviations=5.0, rise_ns=15_000),
            sources_min=2,
        ),
        Rule(
            "path",
            "One path above its baseline",
            Condition(Kind.BASELINE, one_way, deviations=6.0, rise_ns=20_000),
            x=3,
            y=3,
        ),
        Rule(
            "drift",
            "Delay above its long-term baseline",
            Condition(Kind.BASELINE, one_way, deviations=4.5, rise_ns=15_000, timescale=Timescale.LONG),
            x=5,
            y=6,
            sources_min=2,
        ),
        Rule(
            "path-drift",
            "One path above its long-term baseline",
            Condition(Kind.BASELINE, one_way, deviations=5.0, rise_ns=15_000, timescale=Timescale.LONG),
            x=12,
            y=16,
        ),
        Rule(
            "recurring",
            "One path above its baseline again and again",
            Condition(Kind.BASELINE, one_way, deviations=6.0, rise_ns=20_000, over_s=3600),
            severity=Severity.INFO,
            x=1,
            y=1,
            keep_firing_s=0,
        ),
        Rule(
            "far",
            "One path far above its baseline",
            # The 90th percentile: a spike of a second is seen, a single slow exchange is not.
            Condition(Kind.BASELINE, one_way, Statistic.P90, deviations=12.0, rise_ns=SPIKE_RISE_NS),
            severity=Severity.INFO,
            x=1,
            y=1,
            keep_firing_s=0,
        ),
        Rule(
            "lasting-loss",
            "Loss over an hour",
            Condition(Kind.LOSS, loss, Statistic.MEAN, above=LASTING_LOSS, over_s=3600),
            x=2,
            y=2,
        ),
        Rule("loss", "Loss seen by several VMs", Condition(Kind.THRESHOLD, loss, above=0.05), sources_min=2),
        Rule("path-loss", "Loss on a path", Condition(Kind.THRESHOLD, loss, above=0.15)),
        Rule(
            "lost",
            "All packets lost",
            Condition(Kind.THRESHOLD, loss, above=0.99),
            severity=Severity.CRITICAL,
            x=2,
            y=2,
        ),
        Rule(
            "spikes",
            "Repeated delay spikes",
            Condition(Kind.SPIKE, one_way, rise_ns=SPIKE_RISE_NS),
            severity=Severity.INFO,
            x=spikes_x,
            y=spikes_y,
            sources_min=2,
        ),
        Rule(
            "strong-spike",
            "Strong delay spike",
            Condition(Kind.SPIKE, one_way, deviations=20.0, rise_ns=SPIKE_RISE_NS),
            x=1,
            y=1,
            sources_min=2,
            keep_firing_s=0,
        ),
        Rule(
            "clock",
            "Clock error above its baseline",
            Condition(Kind.BASELINE, Metric.CLOCK_ERROR, deviations=12.0, rise_ns=100_000),
            x=3,
            y=3,
            sources_min=2,
        ),
        Rule("silent", "Agent silent", Condition(Kind.SILENT), severity=Severity.CRITICAL, x=1, y=1, keep_firing_s=0),
        Rule("performance", "Application below its objective", Condition(Kind.PERFORMANCE), x=3, y=4),
        Rule("tokens", "Token bucket nearly empty", Condition(Kind.TOKENS, within_s=EMPTY_WITHIN_S)),
        # Flows of a path have the same ends: only their routes differ. VMs and applications may be apart on purpose.
        Rule(
            "fairness",
            "Uneven flows of a path",
            Condition(Kind.FAIRNESS, among=Among.FLOWS, below=ALERT_BELOW),
            x=3,
            y=3,
        ),
    ]


def spike_windows(window_s: int) -> tuple[int, int]:
    """Return M of N windows with a spike that the spikiest quiet path does not reach by chance.

    That path has 2,380 spikes a week (UCAM-CL-TR-937, table 4.3, Azure UK West): one minute in four has one.
    """
    share = min(0.9, window_s * _SPIKES_A_WEEK / (7 * 86_400))
    for y in range(6, WINDOWS_MAX + 1, 2):
        for x in range(4, y + 1):
            tail = sum(comb(y, k) * share**k * (1 - share) ** (y - k) for k in range(x, y + 1))
            if tail <= _BY_CHANCE:
                return x, y
    return WINDOWS_MAX, WINDOWS_MAX


def sources(cells: np.ndarray, size: int) -> int:
    """Return the number of VMs that see these paths (flat indices): distinct sources or targets, whichever are
    more; 1 for a single pair.
    """
    if not cells.size:
        return 0
    ends = np.stack((cells // size, cells % size))
    if np.unique(np.sort(ends, axis=0), axis=1).shape[1] == 1:
        return 1
    return max(np.unique(end).size for end in ends)
