"""Two emulated regions in a laboratory: bridges joined by a delaybox, and hosts behind network cards of limited rate.

The rate of a card is half of what a small VM keeps up (about 60 Mbit/s), so that two cores carry all of them.
"""

from boxes import DELAYBOX
from laboratory import Host, Lab, LabError

REGIONS = ("west", "east")
ONE_WAY_MS = 33
"""Delay between the regions, as between the two coasts of North America."""
CARD_MBIT = 30
_BRIDGES = dict(zip(REGIONS, ("br0", "br1"), strict=True))


class Regions:
    """The network: the laboratory's bridge is the first region and has the backend, a second bridge is the other."""

    def __init__(self, lab: Lab) -> None:
        if not DELAYBOX.exists():
            raise LabError(f"{DELAYBOX} is not built.\nWhat to do: make setup")
        self.lab = lab
        lab.run("ip", "link", "add", _BRIDGES["east"], "type", "bridge")
        lab.run("ip", "link", "set", _BRIDGES["east"], "up")
        for region, bridge in _BRIDGES.items():
            lab.run("ip", "link", "add", f"to-{region}", "type", "veth", "peer", "name", f"box-{region}")
            lab.run("ip", "link", "set", f"to-{region}", "master", bridge, "up")
            lab.run("ip", "link", "set", f"box-{region}", "up")
        sides = [f"--{side}=if:box-{region}" for side, region in zip(("left", "right"), REGIONS, strict=True)]
        self.box = lab.start([DELAYBOX, "run", *sides, f"--both=delay={ONE_WAY_MS}ms"], "delaybox")
        self.box.require("the delaybox", "ready")

    def host(self, name: str, region: str, card_mbit: float | None = CARD_MBIT) -> Host:
        """Create a host in a region; what it sends is limited to the rate of its card, if it has one."""
        host = self.lab.host(name)
        self.lab.run("ip", "link", "set", host.port, "master", _BRIDGES[region])
        if card_mbit is not None:
            # The card sends packets, not segments that something else cuts.
            host.run("ethtool", "-K", "e0", "tso", "off", "gso", "off")
            limits = ("rate", f"{card_mbit}mbit", "burst", "5kb", "latency", "50ms")
            host.run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", *limits)
        return host
