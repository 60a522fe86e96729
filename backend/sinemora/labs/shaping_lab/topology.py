"""Nodes of the lab: client, server and neighbour, each a host and its port, at a switch; in network namespaces.

    host `uplink` ── `downlink` port `uplink` ── `pN` switch

The neighbour exchanges traffic with the server, so that both share what leaves and reaches the server's host.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from sinemora.kit.delaybox import Delaybox
from sinemora.labs.shaping_lab import namespaces as net
from sinemora.labs.shaping_lab.core.profiles import Discipline, Profile, Scale, host_up, port_down, port_up

NODES = ("client", "server", "neighbour")


@dataclass(frozen=True, slots=True)
class Star:
    """Namespaces of the hosts and ports, by node."""

    hosts: dict[str, str]
    ports: dict[str, str]

    def address(self, node: str) -> str:
        """Return the IPv4 address of a host."""
        return f"10.78.{NODES.index(node)}.2"

    def apply(self, profile: Profile, scale: Scale) -> None:
        """Replace the queueing disciplines of all nodes by those of a profile. Raises `net.CommandFailed`."""
        made: tuple[tuple[dict[str, str], str, Callable[[Profile, Scale], Sequence[Discipline]]], ...] = (
            (self.hosts, "uplink", host_up),
            (self.ports, "uplink", port_up),
            (self.ports, "downlink", port_down),
        )
        for places, device, disciplines in made:
            for name in places.values():
                net.clear(name, device)
                for kind, *arguments in disciplines(profile, scale):
                    net.within(name, "tc", kind, "add", "dev", device, *arguments)


@contextmanager
def star(delay_us: float = 0.0) -> Iterator[Star]:
    """Yield the nodes, connected; remove them afterwards. `delay_us`: one-way delay of a delaybox at the client.

    Raises `net.CommandFailed`, `DelayboxError`.
    """
    roles = [*NODES, *(f"{node}-port" for node in NODES), "switch", *(["box"] if delay_us else [])]
    with ExitStack() as stack:
        names = dict(zip(roles, stack.enter_context(net.namespaces(roles)), strict=True))
        switch = names["switch"]
        net.forward(switch)
        for number, node in enumerate(NODES):
            host, port = names[node], names[f"{node}-port"]
            net.connect(host, "uplink", f"10.78.{number}.2/24", port, "downlink", f"10.78.{number}.1/24")
            outer, inner = f"10.79.{number}.2/24", f"10.79.{number}.1/24"
            if delay_us and node == "client":
                net.connect(port, "uplink", outer, names["box"], "left", None)
                net.connect(names["box"], "right", None, switch, f"p{number}", inner)
                stack.enter_context(delayed(names["box"], "left", "right", delay_us))
            else:
                net.connect(port, "uplink", outer, switch, f"p{number}", inner)
            net.forward(port)
            net.within(host, "ip", "route", "add", "default", "via", f"10.78.{number}.1")
            net.within(port, "ip", "route", "add", "default", "via", f"10.79.{number}.1")
            net.within(switch, "ip", "route", "add", f"10.78.{number}.0/24", "via", f"10.79.{number}.2")
        hosts = {node: names[node] for node in NODES}
        yield Star(hosts, {node: names[f"{node}-port"] for node in NODES})


@contextmanager
def delayed(namespace: str, left: str, right: str, delay_us: float) -> Iterator[None]:
    """Pass packets between two interfaces of a namespace, `delay_us` later each way. Raises `DelayboxError`."""
    sides = [f"if:{device}@{namespace}" for device in (left, right)]
    delay = f"delay={round(1e3 * delay_us)}ns"
    box = Delaybox(["run", "--left", sides[0], "--right", sides[1], "--both", delay])
    try:
        yield
    finally:
        box.close()
