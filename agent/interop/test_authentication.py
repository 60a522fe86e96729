"""Tests of messages with an AUTHENTICATION TLV (IEEE 1588-2019, 16.14): refused, counted, and named by an event."""

import sys

from agents import fleet_in_lab, peer
from laboratory import wait_until

RATE_HZ = 16
SENT = 20

# Sends messages of the type argv[2] with an AUTHENTICATION TLV to argv[1]: Announce, Sync or Signaling.
_SEND = """
import socket, struct, sys, time
type, body = {"announce": (0xb, bytes(30)), "sync": (0x0, bytes(10)), "signaling": (0xc, b"\\xff" * 10)}[sys.argv[2]]
port = 319 if sys.argv[2] == "sync" else 320
request = struct.pack("!HHBbI", 4, 6, 0xb0, 0, 300) if sys.argv[2] == "signaling" else b""
# Security parameter pointer, key id and the integrity check value (table 128).
tlv = struct.pack("!HHBBI", 0x8009, 22, 0, 0, 7) + bytes(16)
content = body + request + tlv
head = bytes([type, 0x12]) + struct.pack("!H", 34 + len(content)) + b"\\x00\\x00\\x04\\x00" + bytes(12)
message = head + b"\\x02" + bytes(8) + b"\\x01" + bytes(2) + b"\\x05\\x7f" + content
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.bind(("0.0.0.0", port))
for _ in range(20):
    sender.sendto(message, (sys.argv[1], port))
    time.sleep(0.02)
"""


def test_authenticated_messages_are_refused_counted_and_explained() -> None:
    with fleet_in_lab() as (lab, fleet):
        agent, sender = fleet.agent(lab.host("agent"), standard_clients="10.77.0.0/16"), lab.host("sender")
        agent.follow([peer(11, sender.address, "client", protocol="ieee1588")], RATE_HZ)

        def explained() -> list[str]:
            messages = [str(event["detail"]["message"]) for event in agent.events()]
            return [text for text in messages if "AUTHENTICATION TLV" in text and sender.address in text]

        wait_until("requests of the agent", lambda: agent.metrics()["sinemora_agent_packets_sent_total"] > 0)
        for kind in ("announce", "sync", "signaling"):
            before = agent.metrics()["sinemora_agent_packets_rejected_total"]
            sender.run(sys.executable, "-c", _SEND, agent.host.address, kind)
            assert agent.metrics()["sinemora_agent_packets_rejected_total"] - before >= SENT, kind
        wait_until("the event", explained)
        assert "switch authentication off" in explained()[0]
