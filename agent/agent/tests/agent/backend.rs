//! A backend for tests, which answers as configured and records its requests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sinemora_agent::backend::Client;
use sinemora_agent::config::{BackendUrl, Trust};

/// Time limit of a test, long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// Return the body, which is JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Return the method and the path without the query.
    pub fn to(&self) -> (&str, &str) {
        (&self.method, self.path.split('?').next().unwrap())
    }
}

#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

type Handler = dyn FnMut(&Request) -> Reply + Send;

pub struct FakeBackend {
    pub url: String,
    requests: Receiver<Request>,
}

impl FakeBackend {
    /// Answer every request with the result of `handler`, on a free port of loopback.
    pub fn start(handler: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (handler, sender) = (Arc::clone(&handler), sender.clone());
                std::thread::spawn(move || serve(&stream.unwrap(), &handler, &sender));
            }
        });
        Self { url, requests }
    }

    /// Answer the first request with `reply(1)`, the second with `reply(2)`, and so on.
    pub fn by_turn(mut reply: impl FnMut(u32) -> Reply + Send + 'static) -> Self {
        let mut asked = 0;
        Self::start(move |_| {
            asked += 1;
            reply(asked)
        })
    }

    pub fn client(&self) -> Client {
        let url = BackendUrl::parse(&self.url, false).unwrap();
        Client::new(url, &Trust::default())
            .unwrap()
            .with_credential("sma_test")
    }

    /// Wait for the next request and return it.
    pub fn next(&self) -> Request {
        self.requests
            .recv_timeout(PATIENCE)
            .expect("the agent sends no more requests")
    }

    /// Wait for the next request to this path (without its query) and return it; skip others.
    pub fn next_to(&self, method: &str, path: &str) -> Request {
        loop {
            let request = self.next();
            if request.to() == (method, path) {
                return request;
            }
        }
    }

    /// Return the requests received meanwhile.
    pub fn so_far(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

pub fn reply(status: u16) -> Reply {
    let empty = Reply {
        status,
        ..Reply::default()
    };
    match (status, SystemTime::now().duration_since(UNIX_EPOCH)) {
        // As the backend acknowledges a report.
        (204, Ok(now)) => empty.with("Sinemora-Time-Ns", &now.as_nanos()),
        _ => empty,
    }
}

pub fn problem(status: u16, code: &str, detail: &str) -> Reply {
    let body = serde_json::json!({"type": format!("urn:sinemora:problem:{code}"), "status": status, "code": code, "title": code, "detail": detail})
        .to_string();
    Reply {
        status,
        headers: vec![("Content-Type", "application/problem+json".into())],
        body,
    }
}

pub fn json(status: u16, body: &serde_json::Value) -> Reply {
    Reply {
        status,
        headers: vec![("Content-Type", "application/json".into())],
        body: body.to_string(),
    }
}

impl Reply {
    pub fn with<T: ToString + ?Sized>(mut self, name: &'static str, value: &T) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }
}

fn serve(stream: &TcpStream, handler: &Mutex<Handler>, sender: &Sender<Request>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let request = read_request(&mut reader)?;
        let reply = handler.lock().unwrap()(&request);
        let mut head = format!("HTTP/1.1 {} X\r\n", reply.status);
        for (name, value) in &reply.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if reply.status != 204 && reply.status != 304 {
            head += &format!("Content-Length: {}\r\n", reply.body.len());
        }
        writer
            .write_all(format!("{head}\r\n{}", reply.body).as_bytes())
            .ok()?;
        // The test may have ended.
        sender.send(request).ok()?;
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        reader
            .read_line(&mut line)
            .ok()
            .filter(|read| *read > 0)
            .map(|_| line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        headers,
        body,
    })
}
