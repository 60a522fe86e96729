//! Byte streams between sender and receiver: TCP, or TLS 1.3 on it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection, StreamOwned};
use sinemora_agent::backend::pinned;
use sinemora_agent::config::Pin;

use super::order::BulkOrder;

/// Stream of a connection.
pub trait Channel: Read + Write + Send {}

impl<T: Read + Write + Send> Channel for T {}

/// TLS settings of an order at one end.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    client: Option<Arc<ClientConfig>>,
    server: Option<Arc<ServerConfig>>,
}

impl Tls {
    /// Read certificate and key of an order; without them there is no TLS.
    pub fn of(order: &BulkOrder) -> Result<Self, String> {
        let Some(certificate) = &order.certificate else {
            return Ok(Self::default());
        };
        let decode = |text: &str| {
            STANDARD
                .decode(text)
                .map_err(|error| format!("the certificate is not base64: {error}"))
        };
        let certificate = CertificateDer::from(decode(certificate)?);
        // The backend gave the certificate to both ends: senders accept no other key.
        let pin = Pin::of(&certificate).map_err(|error| error.to_string())?;
        let client = pinned::client_config(pin);
        let server = match &order.certificate_key {
            None => None,
            Some(key) => {
                let key = PrivatePkcs8KeyDer::from(decode(key)?);
                let config =
                    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                        .with_protocol_versions(&[&TLS13])
                        .and_then(|builder| {
                            builder
                                .with_no_client_auth()
                                .with_single_cert(vec![certificate], key.into())
                        });
                Some(Arc::new(config.map_err(|error| error.to_string())?))
            }
        };
        Ok(Self {
            client: Some(Arc::new(client)),
            server,
        })
    }

    /// Return the sender's side of TLS on a connection.
    pub fn connect(&self, stream: TcpStream) -> io::Result<Box<dyn Channel>> {
        let config = self.client.as_ref().ok_or_else(without)?;
        let name = ServerName::IpAddress(stream.peer_addr()?.ip().into());
        let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(session, stream)))
    }

    /// Return the receiver's side of TLS on a connection.
    pub fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn Channel>> {
        let config = self.server.as_ref().ok_or_else(without)?;
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(session, stream)))
    }
}

fn without() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the order has no certificate")
}
