//! Assembler of eBPF instructions with labels (RFC 9669), for little-endian processors.

use Source::{Immediate, Register};

/// Register: 0 has results, 1 to 5 arguments, 6 to 9 survive calls, 10 is the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reg(pub u8);

pub(super) const FRAME: Reg = Reg(10);

/// Second operand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Register(Reg),
    Immediate(i32),
}

impl From<Reg> for Source {
    fn from(reg: Reg) -> Self {
        Register(reg)
    }
}

impl From<i32> for Source {
    fn from(value: i32) -> Self {
        Immediate(value)
    }
}

/// Arithmetic of 64 bits; shifts to the right fill with zeros.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum Alu {
    Add = 0x00,
    Sub = 0x10,
    Mul = 0x20,
    Or = 0x40,
    And = 0x50,
    Lsh = 0x60,
    Rsh = 0x70,
    Mov = 0xb0,
}

/// Condition of a jump, on 64 bits.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum When {
    Equal = 0x10,
    Greater = 0x20,
    AnyBit = 0x40,
    NotEqual = 0x50,
    SignedAtLeast = 0x70,
    Less = 0xa0,
    SignedAtMost = 0xd0,
}

/// Bytes of a load or store.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum Width {
    Four = 0x00,
    Two = 0x08,
    One = 0x10,
    Eight = 0x18,
}

/// Function of the kernel (`enum bpf_func_id`).
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(super) enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MonotonicNs = 5,
    StoreBytes = 9,
    ReplaceChecksum = 10,
    LoadBytesRelative = 68,
}

/// Place of the program that jumps lead to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label(usize);

const INSTRUCTION_BYTES: usize = 8;

/// Builds a program, one instruction after another.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    code: Vec<[u8; INSTRUCTION_BYTES]>,
    labels: Vec<Option<usize>>,
    /// Instructions that jump, each with its label.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    /// Create a label that is to be placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Place a label at the next instruction.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    /// Compute `to = to op from`.
    pub fn alu(&mut self, op: Alu, to: Reg, from: impl Into<Source>) {
        self.emit_with(0x07 | op as u8, to, 0, from.into());
    }

    /// Copy `from`.
    pub fn mov(&mut self, to: Reg, from: impl Into<Source>) {
        self.alu(Alu::Mov, to, from);
    }

    /// Load a constant of 64 bits.
    pub fn constant(&mut self, to: Reg, value: u64) {
        let halves = [value as u32 as i32, (value >> 32) as u32 as i32];
        self.emit(0x18, to, Reg(0), 0, halves[0]);
        self.emit(0, Reg(0), Reg(0), 0, halves[1]);
    }

    /// Load the address of the map with this file descriptor.
    pub fn map(&mut self, to: Reg, fd: i32) {
        const PSEUDO_MAP_FD: Reg = Reg(1);
        self.emit(0x18, to, PSEUDO_MAP_FD, 0, fd);
        self.emit(0, Reg(0), Reg(0), 0, 0);
    }

    /// Load from memory at `base + offset`.
    pub fn load(&mut self, width: Width, to: Reg, base: Reg, offset: i16) {
        self.emit(0x61 | width as u8, to, base, offset, 0);
    }

    /// Store into memory at `base + offset`.
    pub fn store(&mut self, width: Width, base: Reg, offset: i16, from: impl Into<Source>) {
        match from.into() {
            Register(from) => self.emit(0x63 | width as u8, base, from, offset, 0),
            Immediate(value) => self.emit(0x62 | width as u8, base, Reg(0), offset, value),
        }
    }

    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.emit(0x05, Reg(0), Reg(0), 0, 0);
    }

    pub fn jump_if(&mut self, when: When, left: Reg, right: impl Into<Source>, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.emit_with(0x05 | when as u8, left, 0, right.into());
    }

    pub fn call(&mut self, helper: Helper) {
        self.emit(0x85, Reg(0), Reg(0), 0, helper as i32);
    }

    pub fn exit(&mut self) {
        self.emit(0x95, Reg(0), Reg(0), 0, 0);
    }

    /// Return the instructions with their jumps resolved; `None` if a label is not placed or too far.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        for (at, label) in &self.jumps {
            let target = self.labels[label.0]?;
            let distance = i16::try_from(target as i64 - *at as i64 - 1).ok()?;
            self.code[*at][2..4].copy_from_slice(&distance.to_le_bytes());
        }
        Some(self.code.concat())
    }

    fn emit_with(&mut self, code: u8, to: Reg, offset: i16, from: Source) {
        const FROM_REGISTER: u8 = 0x08;
        match from {
            Register(from) => self.emit(code | FROM_REGISTER, to, from, offset, 0),
            Immediate(value) => self.emit(code, to, Reg(0), offset, value),
        }
    }

    fn emit(&mut self, code: u8, to: Reg, from: Reg, offset: i16, value: i32) {
        let (offset, value) = (offset.to_le_bytes(), value.to_le_bytes());
        self.code.push([
            code,
            from.0 << 4 | to.0,
            offset[0],
            offset[1],
            value[0],
            value[1],
            value[2],
            value[3],
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes by the tables of RFC 9669, section 3 to 5.
    #[test]
    fn instructions_are_encoded_as_in_the_standard() {
        let mut a = Assembler::default();
        let end = a.label();
        a.mov(Reg(6), Reg(1));
        a.load(Width::Four, Reg(2), Reg(6), 16);
        a.jump_if(When::Equal, Reg(2), 8, end);
        a.constant(Reg(3), 0x1_0000_0002);
        a.store(Width::Eight, FRAME, -8, Reg(3));
        a.call(Helper::MonotonicNs);
        a.place(end);
        a.exit();
        let expected = "bf16000000000000 6162100000000000 1502040008000000 1803000002000000 0000000001000000 \
                        7b3af8ff00000000 8500000005000000 9500000000000000";
        let hex: String = a
            .finish()
            .unwrap()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hex, expected.replace(' ', ""));
    }

    #[test]
    fn a_label_that_is_not_placed_is_an_error() {
        let mut a = Assembler::default();
        let nowhere = a.label();
        a.jump(nowhere);
        assert_eq!(a.finish(), None);
    }
}
