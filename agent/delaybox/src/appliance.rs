//! The loop: read what arrived, release what is due, sleep until just before the next, spin the rest.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use crate::error::Error;
use crate::line::Line;
use crate::line::settings::{Order, Scheduled, Settings};
use crate::queue::{Buffers, DelayQueue};
use crate::statistics::{Counters, Delays};
use crate::sys::{self, Scheduler, monotonic_ns};

/// Bytes of the largest packet: a segment of 64 KiB before it is cut, and its headers.
pub const LARGEST_PACKET: usize = (64 << 10) + 128;

/// Ends of a box: they receive packets for its lines, and send each when it is due.
pub trait Ports {
    /// Data needed to send a packet again, apart from its bytes.
    type Label: Copy + Debug + Send + 'static;

    /// Return the files to wait for.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Give all packets that have arrived to `accept`, at most some of each file. `room` holds the largest.
    fn receive(
        &self,
        room: &mut [u8],
        accept: &mut dyn FnMut(Arrival<'_, Self::Label>),
    ) -> Result<(), Error>;

    /// Send a packet of a line; return false if the kernel refuses it.
    fn send(&self, line: usize, label: Self::Label, packet: &[u8]) -> bool;
}

/// Packet that has arrived for a line.
#[derive(Debug)]
pub struct Arrival<'a, L> {
    pub line: usize,
    pub label: L,
    pub packet: &'a [u8],
    /// Place of its IP header, if it has one.
    pub ip: Option<usize>,
    pub wire_bytes: u64,
}

/// Settings of the loop itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Of each line.
    pub settings: Vec<Settings>,
    pub schedule: Vec<Scheduled>,
    pub seed: u64,
    /// Time before a packet is due at which the loop stops sleeping and spins; `i64::MAX`: it never sleeps.
    pub spin_ns: i64,
    /// Capacity of a line, packets.
    pub capacity: usize,
    /// Ask for real-time scheduling.
    pub fifo: bool,
}

/// Command to a running box.
#[derive(Debug)]
pub enum Command {
    Apply(Order),
    /// Send a copy of the statistics.
    Statistics(Sender<Snapshot>),
    /// Clear the durations; counters continue.
    Reset,
    /// Keep durations or not; counters continue.
    Record(bool),
    /// Confirm that all earlier commands are done.
    Tell(Sender<()>),
    Stop,
}

/// Counters and durations at a moment. Making a report of it takes longer, and happens elsewhere than in the loop.
#[derive(Debug)]
pub struct Snapshot {
    pub duration_ns: i64,
    pub seed: u64,
    pub scheduler: Scheduler,
    pub lines: Vec<(Counters, Delays)>,
}

/// Box with its ports open.
pub struct Appliance<P: Ports> {
    ports: Arc<P>,
    lines: Vec<DelayQueue<P::Label>>,
    schedule: VecDeque<Scheduled>,
    options: Options,
    spare: Buffers,
    started_ns: i64,
    scheduler: Scheduler,
    recording: bool,
}

impl<P: Ports> Appliance<P> {
    pub fn new(ports: Arc<P>, options: Options) -> Self {
        let mut schedule = options.schedule.clone();
        schedule.sort_by_key(|scheduled| scheduled.at_ns);
        let lines = options.settings.iter().zip(0..).map(|(settings, number)| {
            DelayQueue::new(Line::new(settings.clone(), options.seed, number))
        });
        Self {
            ports,
            lines: lines.collect(),
            schedule: schedule.into(),
            options,
            spare: Buffers::default(),
            started_ns: monotonic_ns(),
            scheduler: Scheduler::Normal,
            recording: true,
        }
    }

    /// Move packets until a command stops the box or all senders are gone. `wake` becomes readable on a command.
    pub fn run(
        &mut self,
        commands: &Receiver<Command>,
        wake: &UnixStream,
    ) -> Result<Snapshot, Error> {
        self.scheduler = sys::prompt(self.options.fifo);
        self.started_ns = monotonic_ns();
        let mut room = vec![0; LARGEST_PACKET];
        let ports = Arc::clone(&self.ports);
        loop {
            self.follow_schedule();
            ports.receive(&mut room, &mut |arrival| {
                self.lines[arrival.line].accept(
                    (arrival.packet, arrival.ip),
                    arrival.wire_bytes,
                    arrival.label,
                    self.options.capacity,
                    &mut self.spare,
                );
            })?;
            for (number, line) in self.lines.iter_mut().enumerate() {
                line.release(self.recording, &mut self.spare, |packet, label| {
                    ports.send(number, label, packet)
                });
            }
            loop {
                match commands.try_recv() {
                    Err(TryRecvError::Empty) => break,
                    // No sender is left to stop the box.
                    Ok(Command::Stop) | Err(TryRecvError::Disconnected) => {
                        return Ok(self.snapshot());
                    }
                    Ok(command) => self.execute(command),
                }
            }
            self.sleep(wake)?;
        }
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Apply(order) => self.apply(&order),
            Command::Reset => self
                .lines
                .iter_mut()
                .for_each(|line| line.delays = Delays::default()),
            Command::Record(recording) => self.recording = recording,
            // The receiver may be gone.
            Command::Statistics(to) => drop(to.send(self.snapshot())),
            Command::Tell(to) => drop(to.send(())),
            // Ends the loop itself.
            Command::Stop => {}
        }
    }

    fn follow_schedule(&mut self) {
        let elapsed = monotonic_ns() - self.started_ns;
        while self
            .schedule
            .front()
            .is_some_and(|next| next.at_ns <= elapsed)
        {
            if let Some(due) = self.schedule.pop_front() {
                self.apply(&due.order);
            }
        }
    }

    fn apply(&mut self, order: &Order) {
        for number in &order.lines {
            let line = &mut self.lines[*number].line;
            let settings = order.change.applied_to(line.settings());
            line.set(settings);
        }
    }

    fn sleep(&self, wake: &UnixStream) -> Result<(), Error> {
        if self.options.spin_ns == i64::MAX {
            return Ok(());
        }
        let released = self.lines.iter().filter_map(DelayQueue::next_ns);
        let scheduled = self
            .schedule
            .front()
            .map(|next| self.started_ns + next.at_ns);
        let next = released.chain(scheduled).min();
        let limit = next.map(|at_ns| at_ns - monotonic_ns() - self.options.spin_ns);
        if limit.is_some_and(|ns| ns <= 0) {
            return Ok(());
        }
        let mut files = self.ports.descriptors();
        files.push(wake.as_fd());
        sys::wait_readable(&files, limit)
            .map_err(|error| Error::system("waiting for packets", &error))?;
        // The command itself is in the channel; what is in the stream only wakes.
        let _ = std::io::Read::read(&mut &*wake, &mut [0; 64]);
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            duration_ns: monotonic_ns() - self.started_ns,
            seed: self.options.seed,
            scheduler: self.scheduler,
            lines: self
                .lines
                .iter()
                .map(|line| (line.counters(), line.delays.clone()))
                .collect(),
        }
    }
}
