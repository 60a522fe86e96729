"""The host of a VM as a cause: is a delay the network's, or was the machine waiting for a processor?

R-Pingmesh (SIGCOMM 2024) separates the processing at both ends from the network by six timestamps. Agents report what
lies before the driver and after the kernel's receive stamp, so delays of paths do not contain it. A waiting host still
shows in them in three ways: the kernel itself stood still for a moment (spikes fall into such moments more often than
by chance), the hypervisor ran others (steal), or the kernel dropped packets that it had no time for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

from sinemora.alerts.evaluation.root_cause import OF_PAIR, OF_VM, Cause, Culprit, Hypothesis, Suspect

# Shares of a processor's time, and length of one wait, from which a host is waiting. Timers of an idle VM are late by
# a tenth of a millisecond.
_WAITING_RATIO, _LONG_WAIT_NS = 0.02, 20_000_000
# A machine that is always busy waits as well: how many times more than usual is its fault.
_UNUSUAL = 3
# Share of stolen time from which the kernel's own timestamps are late as well.
_STOLEN_RATIO = 0.1
# Spikes in moments of waiting: their least share, and the largest probability that chance puts as many there.
_SPIKES_SHARE, _BY_CHANCE = 0.6, 0.01
# Of two clocks and of a packet's own delay, ns.
_SLACK_NS = 5_000_000


@dataclass(frozen=True, slots=True)
class HostEvidence:
    """Waits on one VM in the last minute. None is not available.

    Ratios are shares of time: the agent waited for a processor (`stalled`), the hypervisor ran others (`stolen`), a
    quota held the agent back (`throttled`), some process waited (`pressure`). `longest_ns`, `wake_p50_ns`: lateness of
    the agent's wake-ups. `queue_p99_ns`: wait in the VM's own queue. Of `spikes` of its paths, `spikes_waiting` fall
    into moments in which it waited for a processor. `usual`, `usual_longest_ns`: `waiting` and `longest_ns` of an
    ordinary minute of this host; 0 is not known.
    """

    stalled: float
    longest_ns: int = 0
    wake_p50_ns: int | None = None
    queue_p99_ns: int | None = None
    stolen: float | None = None
    throttled: float | None = None
    pressure: float | None = None
    receive_drops: int | None = None
    spikes: int = 0
    spikes_waiting: int = 0
    usual: float = 0.0
    usual_longest_ns: int = 0

    @property
    def waiting(self) -> float:
        """Return the largest share of time that the host made the agent wait."""
        return max(self.stalled, self.stolen or 0.0, self.throttled or 0.0)

    @property
    def waits(self) -> bool:
        """Return whether the host waits noticeably and more than it usually does, whatever its paths do."""
        # Of a host that waits more than half of the time no multiple is left.
        ratio = max(_WAITING_RATIO, min(_UNUSUAL * self.usual, (1 + self.usual) / 2))
        return self.waiting >= ratio or self.longest_ns >= max(_LONG_WAIT_NS, _UNUSUAL * self.usual_longest_ns)

    @property
    def has_spikes(self) -> bool:
        """Return whether spikes fall into moments of waiting, more than by chance."""
        if not self.spikes or self.spikes_waiting < _SPIKES_SHARE * self.spikes:
            return False
        return _at_least(self.spikes_waiting, self.spikes, min(self.stalled, 1.0)) <= _BY_CHANCE


def explains(host: HostEvidence, *, spikes: bool, rise_ns: float | None, loss: float) -> bool:
    """Return whether a host explains what its paths show: spikes alone, or a rise (ns) and a ratio of loss."""
    if not host.waits:
        return False
    if (host.stolen or 0.0) >= _STOLEN_RATIO or (loss > 0 and host.receive_drops):
        return True
    if spikes:
        return host.has_spikes
    # A usual wait as long as the rise: everything on this machine is late, also what carries its packets.
    return loss == 0 and rise_ns is not None and (host.wake_p50_ns or 0) >= rise_ns > 0


def blamed(
    cause: Cause, hosts: Sequence[HostEvidence | None], *, spikes: bool, rise_ns: float | None, loss: float
) -> Cause:
    """Return a cause with the host of a VM as its culprit, if that explains it; as a further suspect if it also waits.

    `hosts` by position of the VM.
    """
    culprit = cause.culprit
    if culprit.suspect not in (*OF_VM, *OF_PAIR) or culprit.suspect in (Suspect.AGENT, Suspect.CLOCK):
        return cause
    ends = [at for at in (culprit.at, culprit.other) if at >= 0]
    found = [(host.waiting, at, host) for at in ends if (host := hosts[at]) is not None and host.waits]
    if not found:
        return cause
    explaining = [one for one in found if explains(one[2], spikes=spikes, rise_ns=rise_ns, loss=loss)]
    _, at, _ = max(explaining or found, key=lambda one: (one[0], -one[1]))
    best = cause.hypotheses[0]
    of_host = Hypothesis(Culprit(Suspect.HOST, at), best.score, best.bad, best.known)
    first, second = (of_host, best) if explaining else (best, of_host)
    return replace(cause, hypotheses=(first, second, *cause.hypotheses[1:3]))


def waiting_moments(spikes_ns: Sequence[tuple[int, int]], stalls_ns: Sequence[tuple[int, int]]) -> int:
    """Return how many spikes touch a stall; both as starts and lengths, ns."""
    return sum(
        any(at - _SLACK_NS <= began + lasted and began <= at + length + _SLACK_NS for began, lasted in stalls_ns)
        for at, length in spikes_ns
    )


def _at_least(hits: int, trials: int, chance: float) -> float:
    """Return the probability of at least `hits` in independent trials."""
    return sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(hits, trials + 1))
