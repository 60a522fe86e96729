//! The classifier: an eBPF program that counts the bytes of each flow and returns the class of a packet.
//!
//! The kernel runs it for each packet that the queueing discipline takes, under the lock of that discipline, so no two
//! runs change a flow at once. Packets without data (acknowledgements, the start of a connection), measurements of the
//! agent, ICMP and whatever is not IP are in the highest class.

use super::assembler::Alu::{Add, And, Lsh, Mul, Or, Rsh, Sub};
use super::assembler::When::{AnyBit, Equal, Greater, Less, NotEqual, SignedAtLeast, SignedAtMost};
use super::assembler::Width::{Eight, Four, One, Two};
use super::assembler::{Assembler, FRAME, Helper, Label, Reg};
use super::policy::{Order, Policy};

/// Bytes of a key of the table: two addresses of 16, two ports of 2, protocol, padding.
pub(super) const KEY_BYTES: usize = 40;
/// Bytes of a value: start (ns), bytes of data, last packet (ns), 8 each.
pub(super) const VALUE_BYTES: usize = 24;

// Offsets in the frame.
const KEY: i16 = -40;
const VALUE: i16 = -64;
/// Header of the network layer.
const NET: i16 = -104;
/// Header of the transport layer.
const TRANSPORT: i16 = -120;

// Offsets in `struct __sk_buff`.
const LENGTH: i16 = 0;
const PROTOCOL: i16 = 16;

const ETHERNET_BYTES: i32 = 14;
const TCP: i32 = 6;
const UDP: i32 = 17;
const ICMP: i32 = 1;
const ICMP6: i32 = 58;

const R0: Reg = Reg(0);
const R1: Reg = Reg(1);
const R2: Reg = Reg(2);
const R3: Reg = Reg(3);
const R4: Reg = Reg(4);
const R5: Reg = Reg(5);
const PACKET: Reg = Reg(6);
const R7: Reg = Reg(7);
const R8: Reg = Reg(8);
const R9: Reg = Reg(9);

/// Parameters of the classifier, in addition to the policy.
#[derive(Debug, Clone)]
pub(super) struct Surroundings<'a> {
    /// Table of flows.
    pub map_fd: i32,
    /// Handles of the queues, highest class first.
    pub queues: &'a [u32],
    /// UDP ports of measurements.
    pub ports: &'a [u16],
    /// Rate at which the guard sends, bit/s.
    pub rate_bit: u64,
}

/// Bits after the point of the time of a byte.
const BYTE_NS_BITS: i32 = 10;

/// Return the value of the packet's bytes that the processor loads for a number in network order.
fn network(value: u16) -> i32 {
    i32::from(value.to_be())
}

/// Return the instructions of the classifier of Ethernet frames; `None` if they do not fit the jumps.
pub(super) fn assemble(policy: &Policy, around: &Surroundings<'_>) -> Option<Vec<u8>> {
    let mut a = Assembler::default();
    let classes: Vec<Label> = around.queues.iter().map(|_| a.label()).collect();
    let (flow, not_ip, mark) = (a.label(), a.label(), a.label());
    a.mov(PACKET, R1);
    read_headers(&mut a, around.ports, flow, classes[0], not_ip);
    a.place(flow);
    count(&mut a, policy, around.map_fd, classes[0]);
    match &policy.order {
        Order::StrictPriority { bytes } => rank_by_bytes(&mut a, bytes, &classes),
        Order::LogPriority { alpha, boundaries } => {
            let byte_ns = 8e9 / around.rate_bit as f64;
            raise_age(&mut a, byte_ns);
            rank_by_age(&mut a, *alpha, boundaries, &classes);
        }
    }
    for (class, label) in classes.iter().enumerate() {
        a.place(*label);
        a.mov(R8, around.queues[class] as i32);
        let point = policy
            .code_points
            .as_ref()
            .map_or(0, |points| points[class]);
        a.mov(R9, i32::from(point) << 2);
        a.jump(mark);
    }
    a.place(mark);
    if policy.code_points.is_some() {
        set_code_point(&mut a);
    }
    a.mov(R0, R8);
    a.exit();
    a.place(not_ip);
    a.mov(R0, around.queues[0] as i32);
    a.exit();
    a.finish()
}

/// Write the key of the flow into the frame; leave the length of the headers of network and transport in R9.
fn read_headers(a: &mut Assembler, ports: &[u16], flow: Label, top: Label, not_ip: Label) {
    let (v4, v6, transport, without_ports, tcp, udp) = (
        a.label(),
        a.label(),
        a.label(),
        a.label(),
        a.label(),
        a.label(),
    );
    for offset in (KEY..0).step_by(8) {
        a.store(Eight, FRAME, offset, 0);
    }
    a.load(Four, R2, PACKET, PROTOCOL);
    a.jump_if(Equal, R2, network(0x0800), v4);
    a.jump_if(Equal, R2, network(0x86dd), v6);
    a.jump(not_ip);

    a.place(v4);
    a.mov(R2, 0);
    load_relative(a, NET, 20, not_ip);
    for (from, to) in [(12, 0), (16, 16)] {
        a.load(Four, R1, FRAME, NET + from);
        a.store(Four, FRAME, KEY + to, R1);
    }
    a.load(One, R8, FRAME, NET + 9);
    a.store(One, FRAME, KEY + 36, R8);
    a.load(One, R7, FRAME, NET);
    a.alu(And, R7, 0x0f);
    a.alu(Lsh, R7, 2);
    // Only the first fragment has ports, so all of them go without.
    a.load(Two, R1, FRAME, NET + 6);
    a.jump_if(AnyBit, R1, network(0x3fff), without_ports);
    a.jump(transport);

    a.place(v6);
    a.mov(R2, 0);
    load_relative(a, NET, 40, not_ip);
    for at in (0..32).step_by(8) {
        a.load(Eight, R1, FRAME, NET + 8 + at);
        a.store(Eight, FRAME, KEY + at, R1);
    }
    a.load(One, R8, FRAME, NET + 6);
    a.store(One, FRAME, KEY + 36, R8);
    a.mov(R7, 40);

    a.place(transport);
    a.jump_if(Equal, R8, TCP, tcp);
    a.jump_if(Equal, R8, UDP, udp);
    a.jump_if(Equal, R8, ICMP, top);
    a.jump_if(Equal, R8, ICMP6, top);
    a.place(without_ports);
    a.mov(R9, R7);
    a.jump(flow);

    a.place(tcp);
    a.mov(R2, R7);
    load_relative(a, TRANSPORT, 16, not_ip);
    a.load(Four, R1, FRAME, TRANSPORT);
    a.store(Four, FRAME, KEY + 32, R1);
    a.load(One, R9, FRAME, TRANSPORT + 12);
    a.alu(Rsh, R9, 4);
    a.alu(Lsh, R9, 2);
    a.alu(Add, R9, R7);
    a.jump(flow);

    a.place(udp);
    a.mov(R2, R7);
    load_relative(a, TRANSPORT, 8, not_ip);
    for offset in [0, 2] {
        a.load(Two, R1, FRAME, TRANSPORT + offset);
        for port in ports {
            a.jump_if(Equal, R1, network(*port), top);
        }
    }
    a.load(Four, R1, FRAME, TRANSPORT);
    a.store(Four, FRAME, KEY + 32, R1);
    a.mov(R9, R7);
    a.alu(Add, R9, 8);
    a.jump(flow);
}

/// Load bytes of the packet into the frame, from R2 bytes after the start of the network header.
fn load_relative(a: &mut Assembler, to: i16, bytes: i32, or_else: Label) {
    const FROM_NETWORK_HEADER: i32 = 1;
    a.mov(R1, PACKET);
    a.mov(R3, FRAME);
    a.alu(Add, R3, i32::from(to));
    a.mov(R4, bytes);
    a.mov(R5, FROM_NETWORK_HEADER);
    a.call(Helper::LoadBytesRelative);
    a.jump_if(NotEqual, R0, 0, or_else);
}

/// Add the packet's data to its flow. Leave the bytes sent before it in R1 and the age of the flow (ns) in R3.
fn count(a: &mut Assembler, policy: &Policy, map_fd: i32, top: Label) {
    let (new, restart, counted) = (a.label(), a.label(), a.label());
    a.load(Four, R8, PACKET, LENGTH);
    a.alu(Sub, R8, ETHERNET_BYTES);
    a.alu(Sub, R8, R9);
    a.jump_if(SignedAtMost, R8, 0, top);
    a.call(Helper::MonotonicNs);
    a.mov(R9, R0);
    a.map(R1, map_fd);
    a.mov(R2, FRAME);
    a.alu(Add, R2, i32::from(KEY));
    a.call(Helper::MapLookup);
    a.jump_if(Equal, R0, 0, new);
    a.mov(R7, R0);
    a.load(Eight, R1, R7, 16);
    a.mov(R2, R9);
    a.alu(Sub, R2, R1);
    let gap_ns = u64::try_from(policy.flow_gap.as_nanos()).unwrap_or(u64::MAX);
    a.constant(R3, gap_ns);
    a.jump_if(Greater, R2, R3, restart);
    a.load(Eight, R1, R7, 8);
    a.mov(R2, R1);
    a.alu(Add, R2, R8);
    a.store(Eight, R7, 8, R2);
    a.store(Eight, R7, 16, R9);
    a.load(Eight, R2, R7, 0);
    a.mov(R3, R9);
    a.alu(Sub, R3, R2);
    a.jump(counted);

    a.place(restart);
    for (offset, value) in [(0, R9), (8, R8), (16, R9)] {
        a.store(Eight, R7, offset, value);
    }
    a.jump(top);

    a.place(new);
    for (offset, value) in [(0, R9), (8, R8), (16, R9)] {
        a.store(Eight, FRAME, VALUE + offset, value);
    }
    a.map(R1, map_fd);
    a.mov(R2, FRAME);
    a.alu(Add, R2, i32::from(KEY));
    a.mov(R3, FRAME);
    a.alu(Add, R3, i32::from(VALUE));
    a.mov(R4, 0);
    // A table that takes no more leaves the flow new: its packets stay in the highest class.
    a.call(Helper::MapUpdate);
    a.jump(top);
    a.place(counted);
}

/// Jump to the class of R1 bytes.
fn rank_by_bytes(a: &mut Assembler, bytes: &[u64], classes: &[Label]) {
    for (bound, class) in bytes.iter().zip(classes) {
        a.constant(R2, *bound);
        a.jump_if(Less, R1, R2, *class);
    }
    a.jump(classes[bytes.len()]);
}

/// Raise the age in R3 to at least the time that the link takes for the R1 bytes before.
///
/// A window of TCP is handed over at once, but in the tail lab, where the boundaries come from, a packet is ranked when
/// those before it have left. Without this the second window of a short flow would rank behind all bulk.
fn raise_age(a: &mut Assembler, byte_ns: f64) {
    let old_enough = a.label();
    a.mov(R2, R1);
    a.alu(
        Mul,
        R2,
        (byte_ns * f64::from(1 << BYTE_NS_BITS)).round() as i32,
    );
    a.alu(Rsh, R2, BYTE_NS_BITS);
    a.jump_if(Less, R2, R3, old_enough);
    a.mov(R3, R2);
    a.place(old_enough);
}

/// Bits after the point of log2 of the bytes and of the age.
const LOG_BITS: u32 = 16;
/// Bits after the point of the weights of the two.
const WEIGHT_BITS: u32 = 20;

/// Jump to the class of a flow of R1 bytes and R3 ns.
///
/// Both sides of log2 age − α log2 bytes ≥ boundary are divided by the larger of 1 and α, so no α overflows.
fn rank_by_age(a: &mut Assembler, alpha: f64, boundaries: &[f64], classes: &[Label]) {
    let largest = alpha.max(1.0);
    let weight = |of: f64| (of / largest * f64::from(1 << WEIGHT_BITS)).round() as i32;
    a.mov(R7, R3);
    log2(a);
    a.mov(R8, R0);
    a.mov(R1, R7);
    log2(a);
    a.alu(Mul, R0, weight(1.0));
    a.alu(Mul, R8, weight(alpha));
    a.alu(Sub, R0, R8);
    for (boundary, class) in boundaries.iter().rev().zip(classes) {
        let scaled = boundary / largest * ((1u64 << (LOG_BITS + WEIGHT_BITS)) as f64);
        // A boundary beyond all priorities saturates.
        a.constant(R1, scaled.round() as i64 as u64);
        a.jump_if(SignedAtLeast, R0, R1, *class);
    }
    a.jump(classes[boundaries.len()]);
}

/// Compute R0 = log2 R1 with 16 bits after the point, at most 0.008 off. 0 counts as 1.
///
/// Without jumps: each would double the paths that the kernel's verifier follows.
fn log2(a: &mut Assembler) {
    let is_not_zero = |a: &mut Assembler, of: Reg, to: Reg| {
        a.mov(to, 0);
        a.alu(Sub, to, of);
        a.alu(Or, to, of);
        a.alu(Rsh, to, 63);
    };
    // 0 becomes 1, an odd number stays, and of an even one the last bit hardly counts.
    a.alu(Or, R1, 1);
    a.mov(R3, R1);
    a.mov(R0, 0);
    for step in [5, 4, 3, 2, 1, 0] {
        a.mov(R2, R1);
        a.alu(Rsh, R2, 1 << step);
        is_not_zero(a, R2, R4);
        a.alu(Lsh, R4, step);
        a.alu(Rsh, R1, R4);
        a.alu(Add, R0, R4);
    }
    // R0 is the place of the highest bit. The fraction is what follows it: 1 + f, and log2(1 + f) ≈ f + 0.3466 f (1 - f).
    a.mov(R2, 63);
    a.alu(Sub, R2, R0);
    a.alu(Lsh, R3, R2);
    a.alu(Lsh, R3, 1);
    a.alu(Rsh, R3, 64 - LOG_BITS as i32);
    a.mov(R2, 1 << LOG_BITS);
    a.alu(Sub, R2, R3);
    a.alu(Mul, R2, R3);
    a.alu(Mul, R2, 22_713);
    a.alu(Rsh, R2, 2 * LOG_BITS as i32);
    a.alu(Lsh, R0, LOG_BITS as i32);
    a.alu(Add, R0, R3);
    a.alu(Add, R0, R2);
}

/// Write R9, a code point shifted by two bits, into a packet whose own code point is 0. Keep ECN and R8.
fn set_code_point(a: &mut Assembler) {
    let (v6, store, done) = (a.label(), a.label(), a.label());
    a.jump_if(Equal, R9, 0, done);
    a.load(Four, R1, PACKET, PROTOCOL);
    a.jump_if(Equal, R1, network(0x86dd), v6);
    a.load(One, R1, FRAME, NET + 1);
    a.mov(R2, R1);
    a.alu(And, R2, 0xfc);
    a.jump_if(NotEqual, R2, 0, done);
    a.load(Two, R3, FRAME, NET);
    a.alu(Or, R1, R9);
    a.store(One, FRAME, NET + 1, R1);
    a.load(Two, R4, FRAME, NET);
    a.mov(R1, PACKET);
    a.mov(R2, ETHERNET_BYTES + 10);
    a.mov(R5, 2);
    a.call(Helper::ReplaceChecksum);
    a.jump(store);

    // The traffic class lies across two bytes: four bits of the first, four of the second.
    a.place(v6);
    a.load(Two, R1, FRAME, NET);
    a.jump_if(AnyBit, R1, network(0x0fc0), done);
    a.load(One, R1, FRAME, NET);
    a.mov(R2, R9);
    a.alu(Rsh, R2, 4);
    a.alu(Or, R1, R2);
    a.store(One, FRAME, NET, R1);
    a.load(One, R1, FRAME, NET + 1);
    a.mov(R2, R9);
    a.alu(And, R2, 0x0f);
    a.alu(Lsh, R2, 4);
    a.alu(Or, R1, R2);
    a.store(One, FRAME, NET + 1, R1);

    a.place(store);
    a.mov(R1, PACKET);
    a.mov(R2, ETHERNET_BYTES);
    a.mov(R3, FRAME);
    a.alu(Add, R3, i32::from(NET));
    a.mov(R4, 2);
    a.mov(R5, 0);
    a.call(Helper::StoreBytes);
    a.place(done);
}
