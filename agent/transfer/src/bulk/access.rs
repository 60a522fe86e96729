//! Proof at both ends of a connection that they know the secret of the order. The secret never goes over the wire.
//!
//! ```text
//! sender    "SNT1", step (u16), connection (u16), nonce (16)
//! receiver  nonce (16), HMAC-SHA-256(secret, "receiver" | hello | nonce)
//! sender    bytes (u64), HMAC-SHA-256(secret, "sender" | hello | nonce | bytes)
//! sender    the bytes
//! receiver  bytes received (u64)
//! ```
//!
//! Numbers are little-endian. With TLS, all of it is inside.

use std::io::{self, Read, Write};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

const GREETING: [u8; 4] = *b"SNT1";
const HELLO_BYTES: usize = 24;
const NONCE_BYTES: usize = 16;
const TAG_BYTES: usize = 32;

/// First byte of a sender without TLS. That of a TLS handshake is 22.
pub const PLAIN: u8 = GREETING[0];

/// Connection that a sender names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    pub step: u16,
    pub connection: u16,
}

/// Return the key of an order's secret (hexadecimal).
pub fn key(secret: &str) -> Option<hmac::Key> {
    let secret: [u8; 32] = crate::artifacts::unhex(secret)?;
    Some(hmac::Key::new(hmac::HMAC_SHA256, &secret))
}

/// Name a connection to a receiver, and check that it knows the secret. Return once `bytes` may follow.
pub fn greet(
    stream: &mut (impl Read + Write),
    key: &hmac::Key,
    named: Named,
    bytes: u64,
) -> io::Result<()> {
    let mut hello = Vec::with_capacity(HELLO_BYTES);
    hello.extend(GREETING);
    hello.extend(named.step.to_le_bytes());
    hello.extend(named.connection.to_le_bytes());
    hello.extend(nonce()?);
    stream.write_all(&hello)?;
    stream.flush()?;
    let mut answer = [0; NONCE_BYTES + TAG_BYTES];
    stream.read_exact(&mut answer)?;
    let (theirs, tag) = answer.split_at(NONCE_BYTES);
    let said = [b"receiver".as_slice(), &hello, theirs].concat();
    hmac::verify(key, &said, tag).map_err(|_| refused("the receiver does not know the secret"))?;
    let said = [b"sender".as_slice(), &hello, theirs, &bytes.to_le_bytes()].concat();
    stream.write_all(&bytes.to_le_bytes())?;
    stream.write_all(hmac::sign(key, &said).as_ref())?;
    stream.flush()
}

/// Answer a sender, and check that it knows the secret. Return its connection and the bytes that follow.
pub fn admit(stream: &mut (impl Read + Write), key: &hmac::Key) -> io::Result<(Named, u64)> {
    let mut hello = [0; HELLO_BYTES];
    stream.read_exact(&mut hello)?;
    if hello[..4] != GREETING {
        return Err(refused("no sender of an agent"));
    }
    let own = nonce()?;
    let said = [b"receiver".as_slice(), &hello, &own].concat();
    stream.write_all(&own)?;
    stream.write_all(hmac::sign(key, &said).as_ref())?;
    stream.flush()?;
    let mut size = [0; 8];
    let mut tag = [0; TAG_BYTES];
    stream.read_exact(&mut size)?;
    stream.read_exact(&mut tag)?;
    let said = [b"sender".as_slice(), &hello, &own, &size].concat();
    hmac::verify(key, &said, &tag).map_err(|_| refused("the sender does not know the secret"))?;
    let named = Named {
        step: u16::from_le_bytes([hello[4], hello[5]]),
        connection: u16::from_le_bytes([hello[6], hello[7]]),
    };
    Ok((named, u64::from_le_bytes(size)))
}

fn nonce() -> io::Result<[u8; NONCE_BYTES]> {
    let mut nonce = [0; NONCE_BYTES];
    SystemRandom::new()
        .fill(&mut nonce)
        .map_err(|_| io::Error::other("no random numbers"))?;
    Ok(nonce)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}
