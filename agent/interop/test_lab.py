"""Tests of the laboratory."""

from laboratory import Lab


def test_the_bridge_keeps_its_address_when_hosts_join() -> None:
    # Hosts cache it: after a change they would reach no other host until the cache expires.
    with Lab() as lab:
        before = _address(lab)
        lowest = lab.host("lowest")
        lab.run("ip", "link", "set", lowest.port, "address", "02:00:00:00:00:01")
        assert _address(lab) == before


def _address(lab: Lab) -> str:
    return lab.run("ip", "-oneline", "link", "show", "br0").partition("link/ether ")[2].split()[0]
