"""Two emulated regions in a laboratory: bridges joined by a delaybox, and hosts that send less to the other region.

Small VMs of clouds send some hundred Mbit/s within their region and about 60 to another one. Both rates are a half of
that here, so that two cores carry all hosts.
"""

from boxes import DELAYBOX
from laboratory import Host, Lab, LabError

REGIONS = ("west", "east")
ONE_WAY_MS = 33
"""Delay between the regions, as between the two coasts of North America."""
BETWEEN_MBIT, WITHIN_MBIT = 30, 150
"""Rates at which a host sends to the other region, and within its own, Mbit/s."""
_QUEUE_S = 0.05
_BRIDGES = dict(zip(REGIONS, ("br0", "br1"), strict=True))


class Regions:
    """The network: the laboratory's bridge is the first region and has the backend, a second bridge is the other."""

    def __init__(self, lab: Lab) -> None:
        if not DELAYBOX.exists():
            raise LabError(f"{DELAYBOX} is not built.\nWhat to do: make setup")
        self.lab = lab
        self._hosts: dict[str, list[Host]] = {region: [] for region in REGIONS}
        lab.run("ip", "link", "add", _BRIDGES["east"], "type", "bridge")
        lab.run("ip", "link", "set", _BRIDGES["east"], "up")
        for region, bridge in _BRIDGES.items():
            lab.run("ip", "link", "add", f"to-{region}", "type", "veth", "peer", "name", f"box-{region}")
            lab.run("ip", "link", "set", f"to-{region}", "master", bridge, "up")
            lab.run("ip", "link", "set", f"box-{region}", "up")
        sides = [f"--{side}=if:box-{region}" for side, region in zip(("left", "right"), REGIONS, strict=True)]
        self.box = lab.start([DELAYBOX, "run", *sides, f"--both=delay={ONE_WAY_MS}ms"], "delaybox")
        self.box.require("the delaybox", "ready")

    def host(self, name: str, region: str) -> Host:
        """Create a host in a region. What it sends is limited."""
        host = self.lab.host(name)
        self.lab.run("ip", "link", "set", host.port, "master", _BRIDGES[region])
        # It sends packets, not segments that something behind it cuts.
        host.run("ethtool", "-K", "e0", "tso", "off", "gso", "off")
        host.run("tc", "qdisc", "add", "dev", "e0", "root", "handle", "1:", "htb", "default", "10")
        for number, mbit in (("10", WITHIN_MBIT), ("20", BETWEEN_MBIT)):
            of_class = ("dev", "e0", "parent", "1:", "classid", f"1:{number}")
            host.run("tc", "class", "add", *of_class, "htb", "rate", f"{mbit}mbit", "burst", "5kb", "quantum", "1514")
            queue = ("bfifo", "limit", str(int(mbit * 125_000 * _QUEUE_S)))
            host.run("tc", "qdisc", "add", "dev", "e0", "parent", f"1:{number}", *queue)
        for other in (other for of, hosts in self._hosts.items() if of != region for other in hosts):
            _limit(host, other)
            _limit(other, host)
        self._hosts[region].append(host)
        return host


def _limit(host: Host, other: Host) -> None:
    match = ("protocol", "ip", "u32", "match", "ip", "dst", f"{other.address}/32", "flowid", "1:20")
    host.run("tc", "filter", "add", "dev", "e0", "parent", "1:", *match)
