//! Manifest of an artifact: SHA-256 and size (u32, little-endian) of each block, and the Merkle root over them.

use super::{Digest, sha256};

const ENTRY_BYTES: usize = 36;
pub const BLOCK_BYTES_MAX: u32 = 1 << 20;

/// Block of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub digest: Digest,
    pub size: u32,
}

/// Read the bytes of a manifest; `None` if they are none.
pub fn decode(bytes: &[u8]) -> Option<Vec<Block>> {
    if bytes.len() % ENTRY_BYTES != 0 {
        return None;
    }
    let block = |entry: &[u8]| {
        let size = u32::from_le_bytes(entry[32..].try_into().ok()?);
        let digest = entry[..32].try_into().ok()?;
        (1..=BLOCK_BYTES_MAX)
            .contains(&size)
            .then_some(Block { digest, size })
    };
    bytes.chunks(ENTRY_BYTES).map(block).collect()
}

/// Return the Merkle root: SHA-256 over 0 and the entry for a leaf, over 1 and both children for a node. An odd node at
/// the end of a level moves up unchanged (RFC 9162, section 2.1.1).
pub fn root(blocks: &[Block]) -> Digest {
    let leaf = |block: &Block| {
        let mut bytes = [0; 1 + ENTRY_BYTES];
        bytes[1..33].copy_from_slice(&block.digest);
        bytes[33..].copy_from_slice(&block.size.to_le_bytes());
        sha256(&bytes)
    };
    let mut level: Vec<Digest> = blocks.iter().map(leaf).collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => {
                    let mut bytes = [1; 65];
                    bytes[1..33].copy_from_slice(left);
                    bytes[33..].copy_from_slice(right);
                    sha256(&bytes)
                }
                odd => odd[0],
            })
            .collect();
    }
    level.first().copied().unwrap_or_else(|| sha256(&[]))
}
