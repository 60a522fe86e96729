"""Forged requests of standard clients: the owner of the source address receives no more octets than were forged."""

import pytest

import amplification


@pytest.mark.parametrize("rate_hz", [1, 50])
def test_forged_requests_are_not_amplified(rate_hz: float) -> None:
    sent, received = amplification.measure(rate_hz, 10)
    assert sent > 0
    assert received <= sent, f"{received} octets for {sent}"
