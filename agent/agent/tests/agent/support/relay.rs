//! A user-space relay between two agents, which forwards, delays or drops packets and records their fates.

use std::collections::BinaryHeap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sinemora_agent::network::Listen;

/// Direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the responder.
    Outbound,
    Inbound,
}

/// A packet in the relay: the n-th of its type, 0x0 Sync, 0x1 Delay_Req, 0x8 Follow_Up, 0x9 Delay_Resp.
#[derive(Debug, Clone, Copy)]
pub struct Passing {
    pub direction: Direction,
    pub kind: u8,
    pub nth: u32,
}

/// Treatment of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Lose,
    Delay(Duration),
}

/// Fates of all packets seen, per type.
#[derive(Debug, Default, Clone)]
pub struct Log {
    pub fates: [Vec<Fate>; 16],
}

impl Log {
    /// Return how many of the first `of` packets of a type were lost.
    pub fn lost(&self, kind: usize, of: usize) -> i32 {
        let first = &self.fates[kind][..of];
        first.iter().filter(|fate| **fate == Fate::Lose).count() as i32
    }
}

/// Runs until dropped.
pub struct Relay {
    /// The relay in the place of the responder, seen by the client, and in that of the client.
    pub as_responder: Listen,
    pub as_client: Listen,
    log: Arc<Mutex<Log>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    pub fn start(
        client: Listen,
        responder: Listen,
        addresses: [&str; 2],
        decide: impl Fn(Passing) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let open = |address: &str| UdpSocket::bind((address, 0)).unwrap();
        let [near_event, near_general] = [open(addresses[0]), open(addresses[0])];
        let [far_event, far_general] = [open(addresses[1]), open(addresses[1])];
        let place = |event: &UdpSocket, general: &UdpSocket| Listen {
            address: event.local_addr().unwrap().ip(),
            event_port: event.local_addr().unwrap().port(),
            general_port: general.local_addr().unwrap().port(),
            flow_port: 0,
        };
        let as_responder = place(&near_event, &near_general);
        let as_client = place(&far_event, &far_general);
        let (log, stop) = (Arc::<Mutex<Log>>::default(), Arc::<AtomicBool>::default());
        let decide = Arc::new(decide);
        let out = SocketAddr::new(responder.address, responder.event_port);
        let back = |port: u16| SocketAddr::new(client.address, port);
        let (event, general) = (back(client.event_port), back(client.general_port));
        let routes = [
            (Direction::Outbound, &near_event, &far_event, out),
            (Direction::Inbound, &far_event, &near_event, event),
            // The responder answers to the ports of its plan, which are those of the relay.
            (Direction::Inbound, &far_general, &near_general, general),
        ];
        let threads = routes.map(|(direction, from, through, to)| {
            let pump = Pump {
                direction,
                from: from.try_clone().unwrap(),
                through: through.try_clone().unwrap(),
                to,
                log: log.clone(),
                waiting: BinaryHeap::new(),
            };
            let (decide, stop) = (decide.clone(), stop.clone());
            std::thread::spawn(move || pump.run(&*decide, &stop))
        });
        Self {
            as_responder,
            as_client,
            log,
            stop,
            threads: threads.into(),
        }
    }

    pub fn log(&self) -> Log {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

struct Pump {
    direction: Direction,
    from: UdpSocket,
    through: UdpSocket,
    to: SocketAddr,
    log: Arc<Mutex<Log>>,
    waiting: BinaryHeap<(std::cmp::Reverse<Instant>, Vec<u8>)>,
}

impl Pump {
    fn run(mut self, decide: &dyn Fn(Passing) -> Fate, stop: &AtomicBool) {
        let mut buffer = [0; 256];
        while !stop.load(Relaxed) {
            let most = Duration::from_millis(50);
            let left = |due: Instant| due.saturating_duration_since(Instant::now());
            let pause = self.waiting.peek().map_or(most, |(due, _)| left(due.0));
            let pause = pause.clamp(Duration::from_micros(100), most);
            self.from.set_read_timeout(Some(pause)).unwrap();
            if let Ok(len) = self.from.recv(&mut buffer) {
                self.pass(&buffer[..len], decide);
            }
            while let Some((due, packet)) = self.waiting.peek()
                && due.0 <= Instant::now()
            {
                self.through.send_to(packet, self.to).unwrap();
                self.waiting.pop();
            }
        }
    }

    fn pass(&mut self, packet: &[u8], decide: &dyn Fn(Passing) -> Fate) {
        let kind = packet[0] & 0x0f;
        let mut log = self.log.lock().unwrap();
        let seen = &mut log.fates[usize::from(kind)];
        let fate = decide(Passing {
            direction: self.direction,
            kind,
            nth: seen.len() as u32,
        });
        seen.push(fate);
        match fate {
            Fate::Lose => {}
            Fate::Pass => _ = self.through.send_to(packet, self.to).unwrap(),
            Fate::Delay(by) => {
                let due = std::cmp::Reverse(Instant::now() + by);
                self.waiting.push((due, packet.to_vec()));
            }
        }
    }
}
