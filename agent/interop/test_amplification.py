"""Forged packets of each kind: the owner of the source address receives no more octets than were forged."""

import pytest

import amplification


@pytest.mark.parametrize("rate_hz", [1, 50])
def test_forged_packets_are_not_amplified(rate_hz: float) -> None:
    octets = amplification.measure(rate_hz, 10)
    assert all(sent > 0 for sent, _ in octets.values()), octets
    assert {kind: (sent, received) for kind, (sent, received) in octets.items() if received > sent} == {}
    # Compact requests get the Sync that tells the identity, each of the same length; a busy machine drops some.
    sent, received = octets["compact requests"]
    assert received > sent / 2
    # So are those of SPTP, about one of two.
    sent, received = octets["requests of SPTP"]
    assert received > sent / 2
    if rate_hz > 1:
        # The answers to a served client, less the messages that it is not sent in return at the end of its grants.
        sent, received = octets[amplification.IN_SEQUENCE]
        assert received > sent / 2
