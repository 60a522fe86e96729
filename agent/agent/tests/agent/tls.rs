//! TLS with a real server, whose certificates are from a private authority, and with a proxy.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use sinemora_agent::backend::Client;
use sinemora_agent::config::{BackendUrl, Pin, Trust};

use crate::backend::{FakeBackend, PATIENCE, json, reply};
use crate::process::agent;

/// Run `openssl` in a folder.
fn openssl(folder: &Path, arguments: &str) {
    let done = Command::new("openssl")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("openssl, which the toolchain installs");
    let output = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "openssl {arguments}: {output}");
}

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// Create an authority and a certificate of it for `host`, as files in `folder`.
fn authority(folder: &Path, host: &str) {
    openssl(
        folder,
        &format!("req -x509 {KEY} -days 2 -keyout ca.key -out ca.pem -subj /CN=Own"),
    );
    openssl(
        folder,
        &format!("req {KEY} -keyout server.key -out server.csr -subj /CN={host}"),
    );
    signed_with(folder, &format!("subjectAltName=DNS:{host},IP:127.0.0.1"));
}

/// Put a TLS server in front of a backend. A connection is closed when either end closes it.
fn with_tls(folder: &Path, backend: &FakeBackend) -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let behind = backend.url.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, behind) = (config.clone(), TcpStream::connect(&behind).unwrap());
            std::thread::spawn(move || {
                let tls = ServerConnection::new(config).unwrap();
                let _ = pump(rustls::StreamOwned::new(tls, stream.unwrap()), behind);
            });
        }
    });
    at
}

fn pump(
    mut outer: rustls::StreamOwned<ServerConnection, TcpStream>,
    mut inner: TcpStream,
) -> std::io::Result<()> {
    let short = Some(Duration::from_millis(2));
    inner.set_read_timeout(short)?;
    let mut buffer = [0; 16_384];
    let mut read = |from: &mut dyn Read, to: &mut dyn Write| match from.read(&mut buffer) {
        Ok(0) => Err(ErrorKind::ConnectionAborted.into()),
        Ok(n) => to.write_all(&buffer[..n]).and_then(|()| to.flush()),
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
        Err(e) => Err(e),
    };
    outer.conn.complete_io(&mut outer.sock)?;
    outer.sock.set_read_timeout(short)?;
    loop {
        read(&mut outer, &mut inner)?;
        read(&mut inner, &mut outer)?;
    }
}

fn ask(url: &str, ca_file: Option<PathBuf>, ca_only: bool) -> Result<u16, String> {
    let trust = Trust {
        ca_file,
        ca_only,
        ca_pin: None,
    };
    ask_with(url, &trust)
}

fn ask_with(url: &str, trust: &Trust) -> Result<u16, String> {
    let client = Client::new(BackendUrl::parse(url, false).unwrap(), trust).unwrap();
    let answer = client.get("/readyz", None, PATIENCE);
    answer
        .map(|answer| answer.status)
        .map_err(|error| error.to_string())
}

#[test]
fn trust_depends_on_the_authority_of_the_certificate() {
    let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    authority(own.path(), "backend.test");
    authority(other.path(), "backend.test");
    let backend = FakeBackend::start(|_| reply(204));
    let at = with_tls(own.path(), &backend);
    let url = format!("https://{at}");
    let ca = |folder: &tempfile::TempDir, file: &str| Some(folder.path().join(file));

    assert_eq!(ask(&url, ca(&own, "ca.pem"), false), Ok(204));
    assert_eq!(ask(&url, ca(&own, "ca.pem"), true), Ok(204));
    for (ca_file, ca_only) in [
        (None, false),
        (ca(&other, "ca.pem"), false),
        (ca(&other, "ca.pem"), true),
    ] {
        let error = ask(&url, ca_file, ca_only).unwrap_err();
        let words = "not from an authority this agent trusts: set ca_file to the right one";
        assert!(error.contains(words), "{error}");
    }
    let other_host = url.replace("127.0.0.1", "localhost");
    let error = ask(&other_host, ca(&own, "ca.pem"), false).unwrap_err();
    let words = "its certificate is for another host";
    assert!(error.contains(words), "{error}");
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", plain.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in plain.incoming().map_while(Result::ok) {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    let error = ask(&url, ca(&own, "ca.pem"), false).unwrap_err();
    assert!(error.contains("does not use TLS"), "{error}");
}

/// Sign `server.csr` by the authority of a folder, valid between two times (YYYYMMDDHHMMSSZ).
fn signed_between(folder: &Path, from: &str, until: &str) {
    std::fs::write(
        folder.join("ca.cnf"),
        "[ca]\ndefault_ca=own\n[own]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n\
         policy=any\n[any]\ncommonName=supplied\n",
    )
    .unwrap();
    std::fs::write(folder.join("index"), "").unwrap();
    openssl(
        folder,
        &format!(
            "ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in server.csr -out server.pem -notext \
             -extfile names -startdate {from} -enddate {until}"
        ),
    );
}

/// Sign `server.csr` by the authority of a folder, with extensions.
fn signed_with(folder: &Path, extensions: &str) {
    std::fs::write(folder.join("names"), extensions).unwrap();
    openssl(
        folder,
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
}

const NAMES: &str = "subjectAltName=DNS:backend.test,IP:127.0.0.1";

#[test]
fn a_faulty_certificate_is_explained_with_what_would_be_right() {
    type Fault = (&'static str, fn(&Path), &'static [&'static str]);
    let faults: &[Fault] = &[
        (
            "an authority as the server",
            |folder| {
                let names = format!("-addext {NAMES}");
                let made = "-days 2 -keyout server.key -out server.pem -subj /CN=backend.test";
                openssl(folder, &format!("req -x509 {KEY} {made} {names}"));
                std::fs::copy(folder.join("server.pem"), folder.join("ca.pem")).unwrap();
            },
            &[
                "that of an authority (CA:TRUE)",
                "sign a certificate with CA:FALSE",
                "ca_file",
            ],
        ),
        (
            "expired",
            |folder| signed_between(folder, "20200101000000Z", "20210101000000Z"),
            &[
                "its certificate has expired: renew it",
                "this machine's clock",
            ],
        ),
        (
            "not valid yet",
            |folder| signed_between(folder, "20470101000000Z", "20480101000000Z"),
            &["valid only from a later time", "this machine's clock"],
        ),
        (
            "no name",
            |folder| signed_with(folder, "basicConstraints=CA:FALSE"),
            &[
                "its certificate is for another host",
                "subjectAltName has this name",
            ],
        ),
        (
            "another authority of the same name",
            |folder| {
                let made = "-days 2 -keyout other.key -out ca.pem -subj /CN=Own";
                openssl(folder, &format!("req -x509 {KEY} {made}"));
            },
            &[
                "not from an authority this agent trusts",
                "set ca_file to the right one",
            ],
        ),
        (
            "for clients",
            |folder| signed_with(folder, &format!("{NAMES}\nextendedKeyUsage=clientAuth")),
            &["not meant for servers", "extendedKeyUsage has serverAuth"],
        ),
    ];
    for (name, spoil, words) in faults {
        let own = tempfile::tempdir().unwrap();
        authority(own.path(), "backend.test");
        spoil(own.path());
        let backend = FakeBackend::start(|_| reply(204));
        let url = format!("https://{}", with_tls(own.path(), &backend));
        let ca_file = Some(own.path().join("ca.pem"));
        let error = ask(&url, ca_file, true).unwrap_err();
        for word in *words {
            assert!(error.contains(word), "{name}: {word:?} is not in {error}");
        }
    }
}

#[test]
fn the_holder_of_the_pinned_key_is_trusted_whatever_its_certificate_says() {
    let own = tempfile::tempdir().unwrap();
    authority(own.path(), "backend.test");
    let pin = Pin::of(&CertificateDer::from_pem_file(own.path().join("server.pem")).unwrap());
    let trust = |pin: Pin| Trust {
        ca_pin: Some(pin),
        ..Trust::default()
    };
    signed_with(own.path(), "subjectAltName=DNS:other.test");
    signed_between(own.path(), "20200101000000Z", "20210101000000Z");
    let backend = FakeBackend::start(|_| reply(204));
    let url = format!("https://{}", with_tls(own.path(), &backend));
    assert_eq!(ask_with(&url, &trust(pin.unwrap())), Ok(204));
    let other = Pin::of(&CertificateDer::from_pem_file(own.path().join("ca.pem")).unwrap());
    let error = ask_with(&url, &trust(other.unwrap())).unwrap_err();
    let words = "not the one of ca_pin: copy a new line";
    assert!(error.contains(words), "{error}");
}

/// Start a proxy that connects every request to one address, and counts them.
fn proxy(to: SocketAddr) -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, count) = (listener.local_addr().unwrap(), Arc::new(AtomicU32::new(0)));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                lines.push(line);
            }
            let first = lines.first().map_or("", String::as_str);
            if !first.starts_with("CONNECT backend.test:443 ") {
                continue;
            }
            counted.fetch_add(1, Relaxed);
            let (mut client, mut server) = (stream, TcpStream::connect(to).unwrap());
            client
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .unwrap();
            let (mut back, mut forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut back, &mut forth));
            std::thread::spawn(move || std::io::copy(&mut client, &mut server));
        }
    });
    (at, count)
}

#[test]
fn a_proxy_forwards_the_connection_without_reading_it() {
    let own = tempfile::tempdir().unwrap();
    authority(own.path(), "backend.test");
    let ready = serde_json::json!({"status": "ready"});
    let backend = FakeBackend::start(move |_| json(200, &ready));
    let (proxy, count) = proxy(with_tls(own.path(), &backend));
    let state = tempfile::tempdir().unwrap();
    let ca_file = own.path().join("ca.pem");
    let settings = [
        ("backend", "https://backend.test"),
        ("token", "sme_0123456789"),
        ("ca_file", ca_file.to_str().unwrap()),
    ];
    let mut check = agent("check", state.path(), &settings);
    let output = check
        .env("HTTPS_PROXY", format!("http://{proxy}"))
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.contains("https://backend.test is ready"), "{output}");
    assert!(count.load(Relaxed) >= 1);
    assert_eq!(backend.next().path, "/readyz");
}
