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

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinemora.measurements.latency_budget import published

SPIKE_US = 500.0
_SOURCE = tomllib.loads(Path(__file__).with_name("traces.toml").read_text("utf-8"))
LOSS = {name: (row["loss_mean"], row["loss_most"]) for name, row in _SOURCE["data_centres"].items()}
"""Mean and largest loss of an hour by data centre."""


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


def _traces() -> Iterator[Trace]:
    for listed in published.traces():
        course = _SOURCE["traces"].get(listed.name)
        if course is not None and f"{course['started_at']:%Y-%m-%d}" == listed.started_on:
            delays_ns = (listed.p50_ns, listed.p99_ns, listed.p999_ns, listed.max_ns, listed.sd_ns)
            p50, p99, p999, most, sd = (ns / 1000 for ns in delays_ns)
            wander_us = tuple(_SOURCE["data_centres"][listed.name.rsplit("-", 1)[0]]["wander_us"])
            start, lasted = course["started_at"], timedelta(seconds=course["lasted_s"])
            yield Trace(listed.name, start, lasted, p50, p99, p999, most, sd, course["spikes"], wander_us)


TRACES = tuple(_traces())
