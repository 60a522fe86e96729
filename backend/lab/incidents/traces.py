"""Published traces and their own events.

Statistics: D. A. Popescu, *Latency-driven performance in data centres*, UCAM-CL-TR-937, 2019, table 4.3 (18 traces of
one message a second over about a week, three pairs of VMs in each of six data centres) and figure 4.11. Section 4.5.3
defines events of two timescales, and sections 4.5.1, 4.5.3 and 4.6 describe these:

- long: *considerable changes in latency during several hours or days*. GCE-EUW from 2017-10-17 09:25 to 2017-10-18
  05:16 on all three pairs, with losses of up to 46.961e-4 an hour; Azure-USW a fall by about 50 µs on the second day,
  then a rise to about 50 µs above the level before; Azure-UKW a fall by about 100 µs on Sunday, back on Monday except
  on VM1-VM3. A fall is harmless: rises must be detected.
- short: *transient latency spikes*, where the largest delay is more than 500 µs above the median.

The last column of table 4.3 counts sudden rises to values over 500 µs, which is less: on Azure-UKW-2 with a median of
441 µs they are 3,979, mostly of 60 to 130 µs. Their length follows from the table: the quantiles give the share of
delays over 500 µs, which the spikes share. GCE-USW-3 has a largest delay of 396 µs and one spike: the table contradicts
itself, and this trace has none here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from sinemora.measurements.latency_budget import published

SPIKE_US = 500.0
LOSS = {
    "EC2-EUW": (2.028e-4, 11.198e-4),
    "EC2-USW": (1.06e-4, 8.324e-4),
    "GCE-EUW": (0.463e-4, 8.3e-4),
    "GCE-USW": (0.476e-4, 8.373e-4),
    "Azure-UKW": (2.45e-4, 16.533e-4),
    "Azure-USW": (1.244e-4, 11.123e-4),
}
"""Mean and largest loss of an hour by data centre (table 4.4); of GCE-EUW the median day and, outside its disturbance,
three messages of 3,600 (section 4.6).
"""


@dataclass(frozen=True, slots=True)
class Trace:
    """Published statistics of a trace: µs; `wander_us`: deviation of delays within 1 min, 10 min, 1 h.

    The table counts two messages a second. `started_at` is in UTC.
    """

    name: str
    started_at: datetime
    lasted: timedelta
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float
    sd_us: float
    published_spikes: int
    wander_us: tuple[float, float, float]

    @property
    def usual_sd_us(self) -> float:
        """Return the deviation without own events: of a trace with long ones, three times that of an hour at most."""
        return min(self.sd_us, 3 * self.wander_us[2])

    @property
    def data_centre(self) -> str:
        return self.name.rsplit("-", 1)[0]

    @property
    def spikes(self) -> int:
        """Return the number of spikes, as far as the largest delay allows any."""
        return self.published_spikes if self.max_us > SPIKE_US else 0

    @property
    def spike_s(self) -> float:
        """Return the mean time of a spike, s."""
        return max(1.0, self.share_above(SPIKE_US) * self.lasted.total_seconds() / max(1, self.spikes))

    def share_above(self, us: float) -> float:
        """Return the share of delays above one, between the published quantiles on logarithmic scales."""
        delays, shares = np.log(self._quantiles())
        return float(np.exp(np.interp(np.log(us), delays, shares)))

    def delay_of(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the delays that these shares exceed, µs."""
        known_delays, known_shares = np.log(self._quantiles())
        delays: npt.NDArray[np.float64] = np.exp(np.interp(np.log(shares), known_shares[::-1], known_delays[::-1]))
        return delays

    def _quantiles(self) -> npt.NDArray[np.float64]:
        """Return delays in µs, rising, and the shares of delays that exceed them."""
        delays = (self.p50_us, self.p99_us, self.p999_us, self.max_us)
        return np.array([delays, (0.5, 0.01, 0.001, 1 / self.lasted.total_seconds())])


_WANDER_US = {
    "EC2-EUW": (5.44, 15.34, 22.67),
    "EC2-USW": (4.59, 12.42, 18.31),
    "GCE-EUW": (0.76, 2.84, 4.63),
    "GCE-USW": (0.76, 2.84, 4.63),
    "Azure-UKW": (7.42, 16.6, 20.29),
    "Azure-USW": (4.49, 9.63, 12.17),
}
# Start (UTC), length and spikes; the delays are those of the latency budget.
_COURSES = {
    "EC2-EUW-1": ("2017-11-06 14:43:20", timedelta(7, hours=0, minutes=3, seconds=10), 19),
    "EC2-EUW-2": ("2017-11-06 14:43:22", timedelta(5, hours=15, minutes=12, seconds=50), 90),
    "EC2-EUW-3": ("2017-11-06 14:43:24", timedelta(5, hours=17, minutes=28, seconds=36), 48),
    "EC2-USW-1": ("2017-11-07 12:56:48", timedelta(5, hours=10, minutes=8, seconds=30), 7),
    "EC2-USW-2": ("2017-11-07 12:56:50", timedelta(5, hours=12, minutes=50, seconds=25), 12),
    "EC2-USW-3": ("2017-11-07 12:56:52", timedelta(5, hours=1, minutes=4, seconds=16), 5),
    "GCE-EUW-1": ("2017-10-16 14:11:06", timedelta(7, hours=0, minutes=0, seconds=0), 237),
    "GCE-EUW-2": ("2017-10-16 14:10:59", timedelta(6, hours=4, minutes=45, seconds=41), 216),
    "GCE-EUW-3": ("2017-10-16 14:10:51", timedelta(7, hours=0, minutes=3, seconds=9), 243),
    "GCE-USW-1": ("2017-10-16 16:38:32", timedelta(7, hours=0, minutes=2, seconds=57), 16),
    "GCE-USW-2": ("2017-10-16 16:39:15", timedelta(7, hours=0, minutes=2, seconds=14), 1),
    "GCE-USW-3": ("2017-10-16 16:41:33", timedelta(6, hours=23, minutes=59, seconds=56), 1),
    "Azure-UKW-1": ("2017-09-13 15:51:29", timedelta(6, hours=23, minutes=45, seconds=10), 2380),
    "Azure-UKW-2": ("2017-09-13 15:51:33", timedelta(6, hours=17, minutes=11, seconds=17), 3979),
    "Azure-UKW-3": ("2017-09-13 15:51:40", timedelta(6, hours=23, minutes=59, seconds=59), 134),
    "Azure-USW-1": ("2017-09-13 15:26:09", timedelta(6, hours=23, minutes=8, seconds=41), 1),
    "Azure-USW-2": ("2017-09-13 15:26:11", timedelta(7, hours=0, minutes=0, seconds=0), 3),
    "Azure-USW-3": ("2017-09-13 15:26:16", timedelta(6, hours=23, minutes=59, seconds=59), 4),
}


def _traces() -> Iterator[Trace]:
    for listed in published.traces():
        started_at, lasted, spikes = _COURSES.get(listed.name, ("", timedelta(), 0))
        if started_at.startswith(listed.started_on):
            start = datetime.fromisoformat(started_at).replace(tzinfo=UTC)
            delays_ns = (listed.p50_ns, listed.p99_ns, listed.p999_ns, listed.max_ns, listed.sd_ns)
            p50, p99, p999, most, sd = (ns / 1000 for ns in delays_ns)
            wander_us = _WANDER_US[listed.name.rsplit("-", 1)[0]]
            yield Trace(listed.name, start, lasted, p50, p99, p999, most, sd, spikes, wander_us)


TRACES = tuple(_traces())
