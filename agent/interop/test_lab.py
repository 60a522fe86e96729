"""The laboratory itself."""

from lab import Lab


def test_the_bridge_keeps_its_address_whoever_joins() -> None:
    # Hosts remember it: were it to change, they would talk to nobody until they ask again.
    with Lab() as lab:
        before = _address(lab)
        lowest = lab.host("lowest")
        lab.run("ip", "link", "set", lowest.port, "address", "02:00:00:00:00:01")
        assert _address(lab) == before


def _address(lab: Lab) -> str:
    return lab.run("ip", "-oneline", "link", "show", "br0").partition("link/ether ")[2].split()[0]
