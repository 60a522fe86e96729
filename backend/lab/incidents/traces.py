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

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

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


_EUW, _USW = (5.44, 15.34, 22.67), (4.59, 12.42, 18.31)
_GCE, _UKW, _AUSW = (0.76, 2.84, 4.63), (7.42, 16.6, 20.29), (4.49, 9.63, 12.17)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _for(days: int, hours: int, minutes: int, seconds: int) -> timedelta:
    return timedelta(days, hours=hours, minutes=minutes, seconds=seconds)


TRACES = (
    Trace("EC2-EUW-1", _at("2017-11-06 14:43:20"), _for(7, 0, 3, 10), 289.57, 415.18, 516.5, 2690.0, 49.71, 19, _EUW),
    Trace(
        "EC2-EUW-2", _at("2017-11-06 14:43:22"), _for(5, 15, 12, 50), 345.17, 481.53, 2320.0, 14360.0, 192.57, 90, _EUW
    ),
    Trace("EC2-EUW-3", _at("2017-11-06 14:43:24"), _for(5, 17, 28, 36), 350.97, 459.5, 616.3, 3160.0, 50.68, 48, _EUW),
    Trace("EC2-USW-1", _at("2017-11-07 12:56:48"), _for(5, 10, 8, 30), 256.93, 335.08, 486.3, 1730.0, 33.18, 7, _USW),
    Trace(
        "EC2-USW-2", _at("2017-11-07 12:56:50"), _for(5, 12, 50, 25), 275.86, 361.42, 474.35, 1250.0, 29.08, 12, _USW
    ),
    Trace("EC2-USW-3", _at("2017-11-07 12:56:52"), _for(5, 1, 4, 16), 283.44, 363.88, 429.06, 686.0, 24.15, 5, _USW),
    Trace("GCE-EUW-1", _at("2017-10-16 14:11:06"), _for(7, 0, 0, 0), 97.1, 1200.0, 2740.0, 7720.0, 223.32, 237, _GCE),
    Trace(
        "GCE-EUW-2", _at("2017-10-16 14:10:59"), _for(6, 4, 45, 41), 87.34, 1440.0, 3480.0, 6580.0, 268.65, 216, _GCE
    ),
    Trace("GCE-EUW-3", _at("2017-10-16 14:10:51"), _for(7, 0, 3, 9), 82.97, 1380.0, 3600.0, 8830.0, 275.73, 243, _GCE),
    Trace("GCE-USW-1", _at("2017-10-16 16:38:32"), _for(7, 0, 2, 57), 76.9, 120.34, 981.94, 4570.0, 60.64, 16, _GCE),
    Trace("GCE-USW-2", _at("2017-10-16 16:39:15"), _for(7, 0, 2, 14), 71.35, 92.24, 119.22, 531.0, 8.65, 1, _GCE),
    Trace("GCE-USW-3", _at("2017-10-16 16:41:33"), _for(6, 23, 59, 56), 78.79, 104.34, 128.65, 396.0, 8.03, 1, _GCE),
    Trace(
        "Azure-UKW-1", _at("2017-09-13 15:51:29"), _for(6, 23, 45, 10), 447.0, 529.27, 570.62, 1380.0, 47.4, 2380, _UKW
    ),
    Trace(
        "Azure-UKW-2", _at("2017-09-13 15:51:33"), _for(6, 17, 11, 17), 441.3, 522.88, 565.55, 1010.0, 48.7, 3979, _UKW
    ),
    Trace(
        "Azure-UKW-3", _at("2017-09-13 15:51:40"), _for(6, 23, 59, 59), 419.62, 483.48, 521.42, 827.0, 39.96, 134, _UKW
    ),
    Trace(
        "Azure-USW-1", _at("2017-09-13 15:26:09"), _for(6, 23, 8, 41), 315.14, 357.72, 379.86, 549.0, 22.78, 1, _AUSW
    ),
    Trace("Azure-USW-2", _at("2017-09-13 15:26:11"), _for(7, 0, 0, 0), 281.21, 330.64, 362.23, 717.0, 15.31, 3, _AUSW),
    Trace(
        "Azure-USW-3", _at("2017-09-13 15:26:16"), _for(6, 23, 59, 59), 358.46, 415.68, 449.11, 732.0, 22.22, 4, _AUSW
    ),
)
