"""Tests of a VM that gets another address, as by DHCP: it is measured again without help."""

import time

from agents import Fleet, peer
from laboratory import Lab, wait_until

RATE_HZ = 16
# Two windows of the default length.
WITHIN_S = 20


def test_a_client_with_a_new_address_measures_again_within_two_windows() -> None:
    with Lab() as lab:
        fleet = Fleet(lab)
        host = lab.host("client")
        client, responder = fleet.agent(host, listen_address=""), fleet.agent(lab.host("responder"))
        responder.follow([client.peer("responder")], RATE_HZ)
        client.follow([responder.peer("client")], RATE_HZ)
        client.await_windows(2, time.time() + 1)
        moved = "10.77.200.9"
        host.run("ip", "address", "del", f"{host.address}/16", "dev", "e0")
        host.run("ip", "address", "add", f"{moved}/16", "dev", "e0")
        changed_s = time.time()
        # The backend plans the new address once the agent has reported it.
        responder.follow([peer(client.key, moved, "responder")], RATE_HZ)

        def measured() -> bool:
            windows = [window for window in client.windows(changed_s) if window.round_trip.count[0] > RATE_HZ // 2]
            return len(windows) >= 2

        wait_until("windows from the new address", measured, WITHIN_S)
        assert "has lost its address" in client.process.output()
        assert client.process.running
