"""Treatment of packets by size and by class: what a burst of mixed packets shows of the queues on a path.

A bucket that counts bytes and drops has tokens for a small packet when it lacks them for a large one, so that loss
rises with size (J. A. Hasenoot, 2022, conclusion C7). Priority queues treat DSCP classes (RFC 2474) apart: packets of
one class wait less or are lost less often than others of equal size, sent in turn with them. Both show only while the
path is loaded.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

_EACH_MIN = 50
"""Least packets of a size or class."""
_LOSS_RATIO = 1.5
"""Least ratio of loss of large to that of small packets: a short queue of bytes evens the difference out."""
_SIGMAS = 4.0
"""Least distance of two shares, in standard deviations; of one in ten thousand without a difference."""
_P_MAX = 1e-6
_DELAY_RATIO = 1.2
"""Least ratio of the median waits of two classes: less is noise of hosts."""
_WAIT_MIN_S = 1e-4
_LOADED_LOSS = 0.01
_STRICT_SHARE = 0.05


class TreatmentVerdict(StrEnum):
    """Result of a comparison: a difference, none, a mark that was removed, or a path without load."""

    DIFFERENT = "different"
    SAME = "same"
    STRIPPED = "stripped"
    NOT_LOADED = "not_loaded"
    TOO_FEW = "too_few_packets"


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Packets of a burst in the order sent: bytes, DSCP as sent and received, delay (s); NaN or -1 for lost ones."""

    size: npt.NDArray[np.float64]
    dscp: npt.NDArray[np.int64]
    received_dscp: npt.NDArray[np.int64]
    delay_s: npt.NDArray[np.float64]

    @property
    def lost(self) -> npt.NDArray[np.bool_]:
        """Flags of lost packets."""
        return ~np.isfinite(self.delay_s)


@dataclass(frozen=True, slots=True)
class Treatment:
    """Verdict with its evidence and explanation in words; `share` of the preferred class among packets delivered."""

    verdict: TreatmentVerdict
    evidence: str
    explanation: str
    share: float | None = None


def by_size(packets: Mixed) -> Treatment:
    """Return whether loss rises with the size of packets, by the smallest and the largest size."""
    small, large = (packets.size == size for size in (packets.size.min(), packets.size.max()))
    if packets.size.min() == packets.size.max() or min(small.sum(), large.sum()) < _EACH_MIN:
        return Treatment(TreatmentVerdict.TOO_FEW, "", f"Send at least {_EACH_MIN} packets each of two sizes.")
    first, second = (float(packets.lost[each].mean()) for each in (small, large))
    evidence = f"{_lost(packets, small)} of {packets.size.min():g} bytes, {_lost(packets, large)} of"
    evidence += f" {packets.size.max():g} bytes"
    if max(first, second) < _LOADED_LOSS:
        return Treatment(TreatmentVerdict.NOT_LOADED, evidence, "Hardly a packet was lost: send faster.")
    least = max(first, 1 / int(small.sum()))
    if second >= _LOSS_RATIO * least and _apart(packets, small, large):
        words = (
            "The path drops by bytes. Small packets are lost less often than large ones: keep urgent messages small."
        )
        return Treatment(TreatmentVerdict.DIFFERENT, evidence, words)
    return Treatment(TreatmentVerdict.SAME, evidence, "Small packets are lost about as often: size gives no advantage.")


def by_class(packets: Mixed) -> Treatment:
    """Return whether one DSCP class is preferred to another, by packets of one size that were sent in turn."""
    classes = np.unique(packets.dscp)
    groups = [packets.dscp == value for value in classes]
    if classes.size != 2 or min(int(group.sum()) for group in groups) < _EACH_MIN:
        return Treatment(TreatmentVerdict.TOO_FEW, "", f"Send at least {_EACH_MIN} packets each of two classes.")
    waits = packets.delay_s - np.nanmin(packets.delay_s) if np.isfinite(packets.delay_s).any() else packets.delay_s
    medians = [float(np.nanmedian(waits[group])) if not packets.lost[group].all() else np.inf for group in groups]
    losses = [float(packets.lost[group].mean()) for group in groups]
    evidence = "; ".join(
        f"DSCP {value}: {100 * loss:.3g} % lost, median wait {1e3 * median:.3g} ms"
        for value, loss, median in zip(classes, losses, medians, strict=True)
    )
    arrived = packets.received_dscp >= 0
    if arrived.any() and (packets.received_dscp[arrived] != packets.dscp[arrived]).mean() > 0.5:
        return Treatment(
            TreatmentVerdict.STRIPPED, evidence, "The marks arrive changed: no queue behind that place sees them."
        )
    if max(losses) < _LOADED_LOSS and max(medians) < _WAIT_MIN_S:
        return Treatment(TreatmentVerdict.NOT_LOADED, evidence, "No packet waited or was lost: send faster.")
    wait = [waits[group & ~packets.lost] for group in groups]
    differ = min(each.size for each in wait) > 0 and float(scipy.stats.mannwhitneyu(*wait).pvalue) < _P_MAX
    ratio = max(medians) / max(min(medians), _WAIT_MIN_S)
    if _apart(packets, *groups) or (differ and ratio >= _DELAY_RATIO):
        best = int(losses[1] < losses[0]) if _apart(packets, *groups) else int(medians[1] < medians[0])
        delivered = [int((group & ~packets.lost).sum()) for group in groups]
        share = delivered[best] / sum(delivered)
        strict = share >= 1 - _STRICT_SHARE
        words = f"The path prefers DSCP {classes[best]}: mark urgent traffic with it."
        words += " The other class starves under load, as behind a strict priority queue." if strict else ""
        return Treatment(TreatmentVerdict.DIFFERENT, evidence, words, share)
    return Treatment(TreatmentVerdict.SAME, evidence, "The path treats both classes alike: marks give no advantage.")


def _lost(packets: Mixed, group: npt.NDArray[np.bool_]) -> str:
    return f"{100 * float(packets.lost[group].mean()):.3g} % lost of {int(group.sum())}"


def _apart(packets: Mixed, one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> bool:
    """Return whether the shares of lost packets of two groups differ by more than chance."""
    shares = [float(packets.lost[group].mean()) for group in (one, other)]
    whole = float(packets.lost[one | other].mean())
    deviation = np.sqrt(whole * (1 - whole) * (1 / int(one.sum()) + 1 / int(other.sum())))
    return bool(deviation > 0 and abs(shares[0] - shares[1]) >= _SIGMAS * deviation)
