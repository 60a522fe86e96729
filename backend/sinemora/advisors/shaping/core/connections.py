"""Retransmission timeouts of connections, as kernels count them: judgement in words.

A segment whose loss no later acknowledgement shows is sent again after the retransmission timeout, at least 200 ms on
Linux: 195 to 235 ms on the short paths of a data centre (see `tail`). Fast retransmissions take a round trip instead.
"""

from dataclasses import dataclass

from sinemora.advisors.shaping.core.tail import HIGH_MS, IN_BAND_MIN, LOW_MS


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of the connections of a VM to a peer: presence of the signature, and the evidence in words.

    `stall_ms` is the mean wait for a timeout, `share` that of segments that waited; None without any.
    """

    found: bool
    evidence: str
    stall_ms: float | None
    share: float | None


def judged(segments: int, retransmitted: int, timeouts: int, in_band: int, stalled_ms: int) -> Timeouts:
    """Return the judgement of counters: some timeouts of 195 to 235 ms, and not fewer than others."""
    evidence = (
        f"{timeouts} timeouts, {in_band} of {LOW_MS:g} to {HIGH_MS:g} ms;"
        f" {retransmitted} of {segments} segments sent again"
    )
    found = in_band >= IN_BAND_MIN and 2 * in_band >= timeouts
    stall_ms = stalled_ms / timeouts if timeouts else None
    return Timeouts(found, evidence, stall_ms, min(timeouts / segments, 1.0) if timeouts and segments else None)
