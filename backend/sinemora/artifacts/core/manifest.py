"""Manifest of an artifact: its blocks in order, and the Merkle root over them.

Bytes of a manifest, 36 for each block:

 0  32  SHA-256 of the block
32   4  size, bytes, little-endian
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DIGEST_BYTES = 32
ENTRY_BYTES = DIGEST_BYTES + 4
BLOCK_BYTES_MAX = 1 << 20
BLOCKS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Block:
    """Block of a file: its SHA-256 and its size."""

    digest: bytes
    size: int


def encode(blocks: Iterable[Block]) -> bytes:
    """Return the bytes of a manifest."""
    return b"".join(block.digest + block.size.to_bytes(4, "little") for block in blocks)


def decode(manifest: bytes) -> list[Block]:
    """Return the blocks of a manifest. ValueError for bytes that are none."""
    if len(manifest) % ENTRY_BYTES:
        raise ValueError(f"{len(manifest)} bytes are no manifest: they are no multiple of {ENTRY_BYTES}")
    entries = (manifest[at : at + ENTRY_BYTES] for at in range(0, len(manifest), ENTRY_BYTES))
    return [Block(entry[:DIGEST_BYTES], int.from_bytes(entry[DIGEST_BYTES:], "little")) for entry in entries]


def root(blocks: Sequence[Block]) -> bytes:
    """Return the Merkle root: SHA-256 over 0 and the entry for a leaf, over 1 and both children for a node.

    An odd node at the end of a level moves up unchanged (RFC 9162, section 2.1.1). Without blocks it is SHA-256 of
    nothing.
    """
    level = [hashlib.sha256(b"\x00" + encode([block])).digest() for block in blocks]
    if not level:
        return hashlib.sha256(b"").digest()
    while len(level) > 1:
        pairs = [hashlib.sha256(b"\x01" + level[at] + level[at + 1]).digest() for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]
