//! Connection to the server of blocks of another agent. Several blocks are requested ahead, so that a long way is used.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::access;
use super::manifest::BLOCK_BYTES_MAX;
use super::rate::RateLimit;
use super::server::{BITMAP, BLOCK, GREETING};
use super::work::PeerAddress;
use super::{Digest, unhex};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// An open connection.
#[derive(Debug)]
pub struct PeerClient {
    stream: TcpStream,
}

impl PeerClient {
    /// Connect as the VM `vm_key` and prove that it has the token.
    pub fn connect(peer: &PeerAddress, vm_key: u32) -> io::Result<Self> {
        let token = unhex(&peer.token).ok_or(io::ErrorKind::InvalidInput)?;
        let at = SocketAddr::new(peer.address, peer.port);
        let mut stream = TcpStream::connect_timeout(&at, CONNECT_LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        stream.set_write_timeout(Some(ANSWER_LIMIT))?;
        let mut greeting = [0; 4];
        stream.read_exact(&mut greeting)?;
        if greeting != GREETING {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the port belongs to another program",
            ));
        }
        let mut nonce = [0; access::NONCE_BYTES];
        stream.read_exact(&mut nonce)?;
        let mut hello = Vec::with_capacity(44);
        hello.extend(vm_key.to_le_bytes());
        hello.extend(peer.expires_s.to_le_bytes());
        hello.extend(access::proof(&token, &nonce));
        stream.write_all(&hello)?;
        Ok(Self { stream })
    }

    /// Ask which blocks of an artifact the peer holds; `id` is its UUID.
    pub fn request_bitmap(&mut self, id: &[u8; 16]) -> io::Result<()> {
        let mut request = [BITMAP; 17];
        request[1..].copy_from_slice(id);
        self.stream.write_all(&request)
    }

    /// Receive which blocks the peer holds.
    pub fn receive_bitmap(&mut self, blocks: usize) -> io::Result<Vec<bool>> {
        let bytes = self.answer(blocks.div_ceil(8), None)?;
        let has = |at: usize| {
            bytes
                .get(at / 8)
                .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
        };
        Ok((0..blocks).map(has).collect())
    }

    /// Request a block. Answers arrive in the order of the requests.
    pub fn request_block(&mut self, digest: &Digest) -> io::Result<()> {
        let mut request = [BLOCK; 33];
        request[1..].copy_from_slice(digest);
        self.stream.write_all(&request)
    }

    /// Receive the next requested block; empty if the peer does not hold it any more.
    pub fn receive_block(&mut self, rate: &RateLimit) -> io::Result<Vec<u8>> {
        self.answer(BLOCK_BYTES_MAX as usize, Some(rate))
    }

    fn answer(&mut self, most: usize, rate: Option<&RateLimit>) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > most {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("an answer of {length} bytes, at most {most} are possible"),
            ));
        }
        let mut data = vec![0; length];
        let Some(rate) = rate else {
            self.stream.read_exact(&mut data)?;
            return Ok(data);
        };
        for piece in data.chunks_mut(rate.piece_bytes()) {
            rate.pass(piece.len());
            self.stream.read_exact(piece)?;
        }
        Ok(data)
    }
}
