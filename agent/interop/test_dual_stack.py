"""Tests of an agent that listens on both address families, and of a network whose MTU changes."""

import time

import daemons
from agents import fleet_in_lab, peer
from laboratory import Host

RATE_HZ = 16


def add_ipv6(host: Host, last: int) -> str:
    """Give a host an IPv6 address at once, without the detection of duplicates."""
    address = f"fd77::{last}"
    host.run("ip", "-6", "address", "add", f"{address}/64", "dev", "e0", "nodad")
    return address


def test_peers_of_both_families_are_measured_and_none_is_lost() -> None:
    with fleet_in_lab() as (lab, fleet):
        hosts = [lab.host(name) for name in ("both", "four", "six", "ptp4", "ptp6")]
        of_v6 = {host.name: add_ipv6(host, 1 + nth) for nth, host in enumerate(hosts)}
        both, four, six, ptp4, ptp6 = hosts
        client = fleet.agent(both, listen_address="::", probe_address=both.address)
        v4, v6 = fleet.agent(four), fleet.agent(six, listen_address=of_v6["six"])
        daemons.ptp4l_master(ptp4)
        daemons.ptp4l_master(ptp6, network_transport="UDPv6")
        v4.follow([client.peer("responder")], RATE_HZ)
        v6.follow([peer(client.key, of_v6["both"], "responder")], RATE_HZ)
        peers = [
            v4.peer("client"),
            v6.peer("client"),
            peer(11, ptp4.address, "client", protocol="ieee1588"),
            peer(12, of_v6["ptp6"], "client", protocol="ieee1588"),
        ]
        client.follow(peers, RATE_HZ)
        windows = client.await_windows(4, client.await_answers([v4.key, v6.key, 11, 12]))
        for window in windows:
            assert list(window.peer_keys) == [v4.key, v6.key, 11, 12]
            assert all(count > 0 for count in window.round_trip.count)
            assert list(window.round_trip.lost) == [0, 0, 0, 0]


def test_a_smaller_mtu_loses_nothing() -> None:
    with fleet_in_lab() as (lab, fleet):
        client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
        client.measure(responder, RATE_HZ)
        client.await_windows(2, time.time() + 1)
        for host in (client.host, responder.host):
            host.run("ip", "link", "set", "e0", "mtu", "576")
        windows = client.await_windows(3, time.time() + 1)
        assert all(window.round_trip.count[0] > 0 for window in windows)
        assert [window.round_trip.lost[0] for window in windows] == [0, 0, 0]
