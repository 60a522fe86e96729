//! The loop: read what arrived, release what is due, sleep until just before the next, spin the rest.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use crate::error::Error;
use crate::line::settings::{Direction, Order, Scheduled, Settings};
use crate::line::{Fate, Line};
use crate::sides::{LARGEST_FRAME, Side, Sides};
use crate::statistics::{Counters, Delays, DirectionReport, Report};
use crate::sys::{self, Scheduler, monotonic_ns};

/// Frames to read from a side before the loop sends due ones again.
const BATCH: usize = 32;
/// Buffers kept for reuse, so that no packet waits for an allocation.
const SPARE_BUFFERS: usize = 4096;

/// Settings of the loop itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub settings: [Settings; 2],
    pub schedule: Vec<Scheduled>,
    pub seed: u64,
    /// Time before a packet is due at which the loop stops sleeping and spins; `i64::MAX`: it never sleeps.
    pub spin_ns: i64,
    /// Capacity of a direction, packets.
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

/// Counters and durations at a moment; [`Snapshot::report`] does the slow part elsewhere than in the loop.
#[derive(Debug)]
pub struct Snapshot {
    duration_ns: i64,
    seed: u64,
    scheduler: Scheduler,
    directions: [(Counters, Delays); 2],
}

struct Held {
    at_ns: i64,
    arrived_ns: i64,
    drawn_ns: i64,
    frame: Vec<u8>,
}

struct DirectionState {
    line: Line,
    held: VecDeque<Held>,
    counters: Counters,
    delays: Delays,
}

/// Box with both ends open.
pub struct Appliance {
    sides: Arc<Sides>,
    directions: [DirectionState; 2],
    schedule: VecDeque<Scheduled>,
    options: Options,
    spare: Vec<Vec<u8>>,
    started_ns: i64,
    scheduler: Scheduler,
    recording: bool,
}

impl Appliance {
    pub fn new(sides: Arc<Sides>, options: Options) -> Self {
        let mut schedule = options.schedule.clone();
        schedule.sort_by_key(|scheduled| scheduled.at_ns);
        let state = |direction: Direction| DirectionState {
            line: Line::new(
                options.settings[direction.index()].clone(),
                options.seed,
                direction,
            ),
            held: VecDeque::new(),
            counters: Counters::default(),
            delays: Delays::default(),
        };
        Self {
            sides,
            directions: Direction::BOTH.map(state),
            schedule: schedule.into(),
            options,
            spare: Vec::new(),
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
        let mut frame = vec![0; LARGEST_FRAME];
        loop {
            self.follow_schedule();
            for direction in Direction::BOTH {
                self.read(direction, &mut frame)?;
            }
            self.release();
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
                .directions
                .iter_mut()
                .for_each(|state| state.delays = Delays::default()),
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
        for direction in order.directions {
            let line = &mut self.directions[direction.index()].line;
            let settings = order.change.applied_to(line.settings());
            line.set(settings);
        }
    }

    fn read(&mut self, direction: Direction, frame: &mut [u8]) -> Result<(), Error> {
        let side = &self.sides[direction.index()];
        let state = &mut self.directions[direction.index()];
        for _ in 0..BATCH {
            let read = side.read(frame);
            let read = read.map_err(|error| Error::system("a frame cannot be read", &error))?;
            let Some(bytes) = read else { break };
            let now = monotonic_ns();
            let frame = &frame[..bytes];
            let wire_bytes = Side::wire_bytes(frame);
            state.counters.received_packets += 1;
            state.counters.received_bytes += wire_bytes;
            if state.held.len() >= self.options.capacity {
                state.counters.overflowed_packets += 1;
                continue;
            }
            match state.line.arrival(now, wire_bytes) {
                Fate::Lost => state.counters.lost_packets += 1,
                Fate::Dropped => state.counters.dropped_packets += 1,
                Fate::Leaves { at_ns, drawn_ns } => {
                    let mut kept = self.spare.pop().unwrap_or_default();
                    kept.clear();
                    kept.extend_from_slice(frame);
                    state.held.push_back(Held {
                        at_ns,
                        arrived_ns: now,
                        drawn_ns,
                        frame: kept,
                    });
                }
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        for direction in Direction::BOTH {
            let state = &mut self.directions[direction.index()];
            let to = &self.sides[1 - direction.index()];
            for _ in 0..BATCH {
                let now = monotonic_ns();
                if state.held.front().is_none_or(|next| next.at_ns > now) {
                    break;
                }
                let Some(due) = state.held.pop_front() else {
                    break;
                };
                let bytes = Side::wire_bytes(&due.frame);
                if to.write(&due.frame) {
                    state.counters.sent_packets += 1;
                    state.counters.sent_bytes += bytes;
                } else {
                    state.counters.refused_packets += 1;
                }
                if self.recording {
                    state.delays.drawn.add(due.drawn_ns);
                    state.delays.planned.add(due.at_ns - due.arrived_ns);
                    state.delays.achieved.add(now - due.arrived_ns);
                    state.delays.late.add(now - due.at_ns);
                }
                if self.spare.len() < SPARE_BUFFERS {
                    self.spare.push(due.frame);
                }
            }
        }
    }

    fn sleep(&self, wake: &UnixStream) -> Result<(), Error> {
        if self.options.spin_ns == i64::MAX {
            return Ok(());
        }
        let released = self
            .directions
            .iter()
            .filter_map(|state| state.held.front().map(|next| next.at_ns));
        let scheduled = self
            .schedule
            .front()
            .map(|next| self.started_ns + next.at_ns);
        let next = released.chain(scheduled).min();
        let limit = next.map(|at_ns| at_ns - monotonic_ns() - self.options.spin_ns);
        if limit.is_some_and(|ns| ns <= 0) {
            return Ok(());
        }
        let files = [
            self.sides[0].descriptor(),
            self.sides[1].descriptor(),
            wake.as_fd(),
        ];
        sys::wait_readable(files, limit)
            .map_err(|error| Error::system("waiting for packets", &error))?;
        // The command itself is in the channel; what is in the stream only wakes.
        let _ = std::io::Read::read(&mut &*wake, &mut [0; 64]);
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let direction = |state: &DirectionState| {
            let counters = Counters {
                in_box_packets: state.held.len() as u64,
                clamped_draws: state.line.clamped(),
                ..state.counters.clone()
            };
            (counters, state.delays.clone())
        };
        Snapshot {
            duration_ns: monotonic_ns() - self.started_ns,
            seed: self.options.seed,
            scheduler: self.scheduler,
            directions: [
                direction(&self.directions[0]),
                direction(&self.directions[1]),
            ],
        }
    }
}

impl Snapshot {
    /// Return the figures, with the kernel's own drop count.
    pub fn report(&self, sides: &Sides) -> Report {
        let direction = |direction: Direction| {
            let (counters, delays) = &self.directions[direction.index()];
            let counters = Counters {
                missed_packets: sides[direction.index()].missed(),
                ..counters.clone()
            };
            DirectionReport::new(counters, delays)
        };
        Report {
            duration_s: self.duration_ns as f64 / 1e9,
            seed: self.seed,
            scheduler: self.scheduler.name(),
            outbound: direction(Direction::Outbound),
            inbound: direction(Direction::Inbound),
        }
    }
}
