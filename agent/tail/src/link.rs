//! The link: arrivals, one packet at a time, finished flows.

/// Packets between two calls of the watcher: a few per second of work.
const WATCH_EVERY: u64 = 1 << 18;

/// Flows in order of arrival, and the link that they share.
#[derive(Clone, Copy, Debug)]
pub struct Flows<'a> {
    arrivals_ps: &'a [i64],
    sizes: &'a [i64],
    byte_ps: u64,
    packet_bytes: u64,
}

/// Flows that cannot be simulated: not in order, of no bytes, too many, or longer than the clock counts.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// The watcher asked to stop.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// Result of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// When the last packet of each flow was sent, ps.
    pub finish_ps: Vec<i64>,
    pub packets: u64,
    /// Bytes sent in each class, lowest first; empty without classes.
    pub class_bytes: Vec<i64>,
    /// log2 of the priority of packets that are not the first of their flow; of many, every second, fourth, … one.
    pub recorded: Vec<f64>,
    /// Bytes of these packets.
    pub recorded_bytes: Vec<i64>,
}

/// A packet that was sent.
pub(super) struct Packet {
    pub(super) flow: u32,
    pub(super) started_ps: u64,
    /// Bytes of the flow sent before it.
    pub(super) sent_before: u64,
    pub(super) bytes: u64,
    /// Size of its flow.
    pub(super) size: u64,
}

impl Packet {
    pub(super) fn sent(&self) -> u64 {
        self.sent_before + self.bytes
    }
}

/// The order in which packets are sent.
pub(super) trait Order {
    /// A flow of `size` bytes arrives. Flows arrive in the order of their numbers.
    fn arrive(&mut self, flow: u32, size: u64, now_ps: u64);

    /// Return the flow whose packet is sent now; none if no flow waits.
    fn next(&mut self, now_ps: u64) -> Option<u32>;

    /// The packet that `next` chose is sent. `next_bytes` is the size of the flow's next packet, 0 after the last.
    fn sent(&mut self, packet: &Packet, next_bytes: u64, now_ps: u64);
}

impl<'a> Flows<'a> {
    /// Return the flows. Arrivals ascend, sizes are 1 byte or more, both arrays have one length.
    pub fn new(
        arrivals_ps: &'a [i64],
        sizes: &'a [i64],
        byte_ps: i64,
        packet_bytes: i64,
    ) -> Result<Self, TooLong> {
        let ordered =
            arrivals_ps.is_sorted() && arrivals_ps.first().is_none_or(|first| *first >= 0);
        let sized = sizes.len() == arrivals_ps.len() && sizes.iter().all(|size| *size > 0);
        let numbered = u32::try_from(sizes.len()).is_ok_and(|count| count < u32::MAX);
        if !ordered || !sized || !numbered || byte_ps < 1 || packet_bytes < 1 {
            return Err(TooLong);
        }
        let bytes: i128 = sizes.iter().map(|size| i128::from(*size)).sum();
        let last = i128::from(arrivals_ps.last().copied().unwrap_or_default());
        if last + bytes * i128::from(byte_ps) > i128::from(i64::MAX) {
            return Err(TooLong);
        }
        Ok(Self {
            arrivals_ps,
            sizes,
            byte_ps: byte_ps as u64,
            packet_bytes: packet_bytes as u64,
        })
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}

/// Send all packets in an order.
pub(super) fn run(
    flows: &Flows<'_>,
    order: &mut impl Order,
    mut watch: impl FnMut(usize) -> bool,
) -> Result<Outcome, Stopped> {
    let mut finish_ps = vec![0; flows.len()];
    let mut sent = vec![0_u64; flows.len()];
    let (mut arrived, mut finished, mut packets, mut now_ps) = (0, 0, 0_u64, 0_u64);
    loop {
        while arrived < flows.len() && flows.arrivals_ps[arrived] as u64 <= now_ps {
            let at = flows.arrivals_ps[arrived] as u64;
            order.arrive(arrived as u32, flows.sizes[arrived] as u64, at);
            arrived += 1;
        }
        let Some(flow) = order.next(now_ps) else {
            let Some(next) = flows.arrivals_ps.get(arrived) else {
                break;
            };
            now_ps = *next as u64;
            continue;
        };
        let size = flows.sizes[flow as usize] as u64;
        let sent = &mut sent[flow as usize];
        let bytes = flows.packet_bytes.min(size - *sent);
        let packet = Packet {
            flow,
            started_ps: now_ps,
            sent_before: *sent,
            bytes,
            size,
        };
        *sent += bytes;
        now_ps += bytes * flows.byte_ps;
        let next_bytes = flows.packet_bytes.min(size - *sent);
        if next_bytes == 0 {
            finish_ps[flow as usize] = now_ps as i64;
            finished += 1;
        }
        order.sent(&packet, next_bytes, now_ps);
        packets += 1;
        if packets % WATCH_EVERY == 0 && !watch(finished) {
            return Err(Stopped);
        }
    }
    Ok(Outcome {
        finish_ps,
        packets,
        ..Outcome::default()
    })
}
