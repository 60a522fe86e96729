"""Forged packets of each kind: the owner of the source address receives no more octets than were forged."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import amplification

RATES_HZ = (1, 50)


@pytest.fixture(scope="module")
def measured() -> dict[float, dict[str, tuple[int, int]]]:
    """Return the octets by rate. Each rate has a laboratory of its own, and they wait side by side."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(RATES_HZ, pool.map(lambda rate_hz: amplification.measure(rate_hz, 10), RATES_HZ), strict=True))


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_forged_packets_are_not_amplified(measured: dict[float, dict[str, tuple[int, int]]], rate_hz: float) -> None:
    octets = measured[rate_hz]
    assert all(sent > 0 for sent, _ in octets.values()), octets
    assert {kind: (sent, received) for kind, (sent, received) in octets.items() if received > sent} == {}
    # Compact requests get the Sync that tells the identity, each of the same length; a busy machine drops some.
    sent, received = octets["compact requests"]
    assert received > sent / 2
    # So are those of SPTP, about one of two.
    sent, received = octets["requests of SPTP"]
    assert received > sent / 2
