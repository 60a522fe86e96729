"""The host of a VM as a suspect, told apart from its link and from the network."""

from dataclasses import replace

import numpy as np
import pytest

from sinemora.alerts.evaluation.host import HostEvidence, blamed, explains, waiting_moments
from sinemora.alerts.evaluation.root_cause import Cause, Culprit, Hypothesis, Suspect

MS = 1_000_000
IDLE = HostEvidence(0.0005, longest_ns=2 * MS, wake_p50_ns=80_000)
BUSY = HostEvidence(0.05, longest_ns=60 * MS, wake_p50_ns=90_000)


@pytest.mark.parametrize(
    ("host", "shown", "explained"),
    [
        (IDLE, "spikes", False),
        # Four of five spikes in a twentieth of the time are no chance; in nine tenths of it they are.
        (replace(BUSY, spikes=5, spikes_waiting=4), "spikes", True),
        (replace(BUSY, spikes=5, spikes_waiting=2), "spikes", False),
        (replace(BUSY, spikes=5, spikes_waiting=5, stalled=0.9), "spikes", False),
        (replace(BUSY, spikes=1, spikes_waiting=1), "spikes", False),
        # Program waits are in no delay; those of the hypervisor are, and so are waits as long as the rise.
        (BUSY, "rise", False),
        (replace(BUSY, stolen=0.3), "rise", True),
        (replace(BUSY, wake_p50_ns=30 * MS), "rise", True),
        (BUSY, "loss", False),
        (replace(BUSY, receive_drops=12), "loss", True),
        (replace(IDLE, receive_drops=12), "loss", False),
        # What this host always has explains nothing; what is far beyond it does.
        (replace(BUSY, stolen=0.3, usual=0.2, usual_longest_ns=50 * MS), "rise", False),
        (replace(BUSY, stolen=0.7, usual=0.2, usual_longest_ns=50 * MS), "rise", True),
        (replace(BUSY, stolen=0.95, usual=0.8, usual_longest_ns=50 * MS), "rise", True),
        (replace(BUSY, receive_drops=12, usual=0.05, usual_longest_ns=15 * MS), "loss", True),
    ],
)
def test_a_host_explains_what_waiting_does_to_delays(host: HostEvidence, shown: str, explained: bool):
    loss = 0.2 if shown == "loss" else 0.0
    rise_ns = 20e6 if shown == "rise" else None
    assert explains(host, spikes=shown == "spikes", rise_ns=rise_ns, loss=loss) is explained


def cause(culprit: Culprit) -> Cause:
    others = (Hypothesis(culprit, 9.0, 3, 3), Hypothesis(Culprit(Suspect.ZONE, 0), 5.0, 3, 6))
    return Cause(others, np.arange(3))


@pytest.mark.parametrize(
    ("culprit", "hosts", "suspects"),
    [
        (Culprit(Suspect.VM, 1), {1: replace(BUSY, stolen=0.4)}, ["host 1", "vm 1", "zone 0"]),
        # A host that waits and explains nothing stays the second suspect: it may be both.
        (Culprit(Suspect.VM, 1), {1: BUSY}, ["vm 1", "host 1", "zone 0"]),
        (Culprit(Suspect.PAIR, 0, 2), {0: BUSY, 2: replace(BUSY, stolen=0.4)}, ["host 2", "pair 0", "zone 0"]),
        (Culprit(Suspect.PATH, 0, 2), {0: IDLE}, ["path 0", "zone 0"]),
        (Culprit(Suspect.VM, 1), {0: replace(BUSY, stolen=0.4)}, ["vm 1", "zone 0"]),
        (Culprit(Suspect.CLOCK, 1), {1: replace(BUSY, stolen=0.4)}, ["clock 1", "zone 0"]),
        (Culprit(Suspect.ZONE, 0), {0: replace(BUSY, stolen=0.4)}, ["zone 0", "zone 0"]),
    ],
)
def test_the_host_of_an_end_is_blamed_if_it_explains_the_paths(
    culprit: Culprit, hosts: dict[int, HostEvidence], suspects: list[str]
):
    found = blamed(cause(culprit), [hosts.get(at) for at in range(3)], spikes=False, rise_ns=20e6, loss=0.0)
    assert [f"{one.culprit.suspect} {one.culprit.at}" for one in found.hypotheses] == suspects


def test_spikes_are_matched_with_moments_by_time():
    stalls = [(1_000 * MS, 50 * MS), (5_000 * MS, 100 * MS)]
    spikes = [
        (990 * MS, 8 * MS),
        (1_020 * MS, 1 * MS),
        (2_000 * MS, 900 * MS),
        (4_000 * MS, 1_010 * MS),
        (6_000 * MS, 1),
    ]
    assert [waiting_moments([one], stalls) for one in spikes] == [1, 1, 0, 1, 0]
