"""Windows of small meshes in which every path is planned and every agent reports."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sinemora.alerts.evaluation.breach import Values
from sinemora.alerts.evaluation.window import EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic


def window_of(
    number: int, zone_of: npt.NDArray[np.int64], values: Values, window_s: int = 10, **more: Any
) -> EvaluationWindow:
    """Return window `number` of VMs in these zones; `more` are fields of the window."""
    size = zone_of.size
    fields = {"keys": np.arange(size), "planned": ~np.eye(size, dtype=bool), "silent": np.zeros(size, bool)}
    return EvaluationWindow(window_s * number, window_s, zone_of=zone_of, values=values, **(fields | more))


def series(median: Any, largest: Any = None, loss: Any = 0.0) -> Values:
    """Return medians and largest delays (ns), and loss, of each path; without `largest` all delays are the medians."""
    most = median if largest is None else largest

    def values(metric: Metric, statistic: Statistic) -> npt.NDArray[np.float32]:
        if metric is Metric.LOSS:
            return np.broadcast_to(loss, np.shape(median)).astype(np.float32)
        return np.array(most if statistic is Statistic.MAX else median, np.float32)

    return values
