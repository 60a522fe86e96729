"""Loss reported towards standard responders with one or several clients, on a network that loses nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sinemora.measurements.ingest.agent_pb2 import Columns, MeshWindow

import daemons
from agents import Agent, fleet_in_lab, peer
from laboratory import Host

WINDOWS = 10
DAEMONS: dict[str, Callable[[Host], object]] = {
    "ptp4l": daemons.ptp4l_master,
    "ptp4l-4": lambda host: daemons.ptp4l_master(host, "ptp4l-4"),
    "ptpd": lambda host: daemons.ptpd_master(host, -7),
    "ptp4u": daemons.ptp4u,
}


@dataclass
class Reported:
    """Counts that the clients of one responder reported in one direction: sums over their windows."""

    sent: int = 0
    lost: int = 0
    windows: int = 0
    unknown: int = 0

    def add(self, columns: Columns) -> None:
        """Add one window of one client; an unknown count adds nothing to the others."""
        self.windows += 1
        if -1 in (columns.sent[0], columns.lost[0]):
            self.unknown += 1
            return
        self.sent += columns.sent[0]
        self.lost += columns.lost[0]


def measure(count: int, rate_hz: int) -> dict[str, dict[str, Reported]]:
    """Measure one responder of each daemon with the same `count` clients; return the sums by daemon and direction."""
    with fleet_in_lab() as (lab, fleet):
        clients = [fleet.agent(lab.host(f"client{nth}")) for nth in range(count)]
        keys = {}
        peers = []
        for key, (name, start) in enumerate(DAEMONS.items(), 11):
            host = lab.host(name)
            start(host)
            keys[name] = key
            peers.append(peer(key, host.address, "client", protocol="ieee1588"))
        for client in clients:
            client.follow(peers, rate_hz)
        since_s = max([client.await_answers(keys.values()) for client in clients])
        windows = [window for client in clients for window in client.await_windows(WINDOWS, since_s)]
        return {name: _sums(windows, key) for name, key in keys.items()}


def _sums(windows: Sequence[MeshWindow], key: int) -> dict[str, Reported]:
    sums = {"inbound": Reported(), "outbound": Reported(), "round_trip": Reported()}
    for window in windows:
        place = list(window.peer_keys).index(key)
        for direction, reported in sums.items():
            columns: Columns = getattr(window, direction)
            reported.add(Columns(sent=[columns.sent[place]], lost=[columns.lost[place]]))
    return sums


def without_service(client: Agent) -> list[str]:
    """Return the messages of an agent about responders that have no service for it."""
    return [line for line in client.process.output().splitlines() if "no service of the IEEE 1588 responder" in line]
