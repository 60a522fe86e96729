//! Columns of whole numbers in few bits: each as low bits of one width and a short unary rest (Rice's code).
//!
//! A *pack* is several columns of 32-bit numbers, one after the other. The reader knows how many columns there are, how
//! many numbers each has, and which are *signed* (small numbers of either sign). Bits count from the lowest of each
//! byte.
//!
//! ```text
//! 1 byte a column       bits 0-5: k, the width of the low bits, 0 … 32; bit 6: a rest follows; bit 7: a base follows
//! 4 bytes each          the bases of the columns that have one, little-endian, signed
//! k bits a number       low bits, column after column
//! unary                 rests of the columns that have them: as many 0 as the rest (24 at most), then a 1
//! 32 bits each          rests of 24 and more, in their order
//! to the next byte      0
//! ```
//!
//! A number is its base (0 without) plus its rest times 2^k plus its low bits; in signed columns that is zigzag coded
//! first (0, -1, 1, -2 … as 0, 1, 2, 3 …). Sums wrap around at 32 bits, so any number comes back as it was.
//!
//! Rules of writing, so that the bytes are always the same: the base of a signed column is its mean, that of others
//! their minimum, where it saves bits. Of five widths around that of the median the writer takes the one of the fewest
//! bits, or the width of the largest number without rests.

/// Largest rest that is written in unary.
const RESTS_MAX: u32 = 24;
const WIDTH: u8 = 63;
const REST: u8 = 64;
const BASE: u8 = 128;

/// A pack that holds more than its bytes, or numbers of more than 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

/// Bits in their order, the lowest of each byte first.
#[derive(Debug, Default)]
pub struct BitWriter {
    /// Whole bytes up to `at`, then at least one more word.
    bytes: Vec<u8>,
    at: usize,
    /// Bits of the byte at `at`, of which there are `filled`.
    held: u64,
    filled: u32,
}

/// Bytes that one write may touch.
const WORD: usize = 8;

/// Bits that [`BitWriter::append`] takes at once.
const APPENDED_MAX: u32 = 56;

impl BitWriter {
    /// Append bits to a body that has whole bytes so far.
    pub fn after(bytes: Vec<u8>) -> Self {
        let at = bytes.len();
        let mut writer = Self {
            bytes,
            at,
            ..Self::default()
        };
        writer.reserve(0);
        writer
    }

    /// Append the low `width` bits of a number that has no others; 32 at most.
    #[inline]
    pub fn put(&mut self, bits: u32, width: u32) {
        self.reserve(32);
        self.append(u64::from(bits), width);
    }

    /// Return the bytes, the last one padded with 0.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.at + usize::from(self.filled > 0));
        self.bytes
    }

    /// Make room for as many bits.
    fn reserve(&mut self, bits: usize) {
        let needed = self.at + bits / 8 + 2 * WORD;
        if needed > self.bytes.len() {
            self.bytes.resize(needed, 0);
        }
    }

    /// Append the low `width` bits of a number that has no others, [`APPENDED_MAX`] at most; `reserve` made room for them.
    ///
    /// All bits are written each time: a branch on whether a word is full would cost more than the store.
    #[inline]
    fn append(&mut self, bits: u64, width: u32) {
        self.held |= bits << self.filled;
        self.filled += width;
        self.bytes[self.at..self.at + WORD].copy_from_slice(&self.held.to_le_bytes());
        self.at += (self.filled / 8) as usize;
        self.held >>= self.filled & !7;
        self.filled %= 8;
    }

    /// Append the lowest `k` bits of numbers.
    fn low_bits(&mut self, values: &[i32], k: u32) {
        self.reserve(values.len() * k as usize);
        let low = |value: i32| u64::from(value as u32 & u32::MAX >> (32 - k));
        let mut rest = values;
        if 4 * k <= APPENDED_MAX {
            let fours = rest.chunks_exact(4);
            rest = fours.remainder();
            for four in fours {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| low(four[at]));
                self.append(a | b << k | (c | d << k) << (2 * k), 4 * k);
            }
        } else if 2 * k <= APPENDED_MAX {
            let twos = rest.chunks_exact(2);
            rest = twos.remainder();
            for two in twos {
                self.append(low(two[0]) | low(two[1]) << k, 2 * k);
            }
        }
        for value in rest {
            self.append(low(*value), k);
        }
    }

    /// Append the rests of numbers above their lowest `k` bits in unary. Those of `RESTS_MAX` and more are left in `large`.
    fn rests(&mut self, values: &[i32], k: u32, large: &mut Vec<u32>) {
        self.reserve(values.len() * (RESTS_MAX as usize + 1));
        let mut zeros = |value: i32| {
            let rest = value as u32 >> k;
            if rest >= RESTS_MAX {
                large.push(rest);
            }
            rest.min(RESTS_MAX)
        };
        let twos = values.chunks_exact(2);
        let left = twos.remainder();
        for two in twos {
            let (first, second) = (zeros(two[0]), zeros(two[1]));
            let bits = 1 << first | 1 << (first + 1 + second);
            self.append(bits, first + second + 2);
        }
        for value in left {
            let zeros = zeros(*value);
            self.append(1 << zeros, zeros + 1);
        }
    }
}

/// Append a pack of columns to `body`: `sizes` numbers each of `numbers`, which are overwritten.
pub fn pack(body: Vec<u8>, numbers: &mut [i32], sizes: &[usize], signed: &[bool]) -> Vec<u8> {
    let mut columns = Vec::with_capacity(sizes.len());
    let mut rest_of = &mut *numbers;
    for (size, signed) in sizes.iter().zip(signed) {
        let (mine, left) = std::mem::take(&mut rest_of).split_at_mut(*size);
        let base = take_base(mine, *signed);
        columns.push((base, choose_width(mine), &*mine));
        rest_of = left;
    }
    let mut out = BitWriter::after(body);
    for (base, (k, has_rest), _) in &columns {
        let flags = if *has_rest { REST } else { 0 } | if *base == 0 { 0 } else { BASE };
        out.put(*k | u32::from(flags), 8);
    }
    for (base, ..) in columns.iter().filter(|column| column.0 != 0) {
        out.put(*base as u32, 32);
    }
    for (_, (k, _), values) in columns.iter().filter(|column| column.1.0 > 0) {
        out.low_bits(values, *k);
    }
    let mut large = Vec::new();
    for (_, (k, _), values) in columns.iter().filter(|column| column.1.1) {
        out.rests(values, *k, &mut large);
    }
    for rest in large {
        out.put(rest, 32);
    }
    out.finish()
}

/// Take the base off a column, which leaves unsigned numbers, and return it.
fn take_base(column: &mut [i32], signed: bool) -> i32 {
    if column.is_empty() {
        return 0;
    }
    if signed {
        let total: i64 = column.iter().map(|number| i64::from(*number)).sum();
        let mean = total.div_euclid(column.len() as i64) as i32;
        let base = if (-1..=1).contains(&mean) { 0 } else { mean };
        for number in column {
            let left = number.wrapping_sub(base);
            *number = left << 1 ^ left >> 31;
        }
        return base;
    }
    let mut base = column.iter().copied().min().unwrap_or(0);
    if base > 0 && !fits_half(column, width_of(base as u32) + 1) {
        base = 0;
    }
    if base != 0 {
        for number in column {
            *number = number.wrapping_sub(base);
        }
    }
    base
}

/// Number of low bits of a column's values, and whether they have unary rests.
fn choose_width(column: &[i32]) -> (u32, bool) {
    let (middle, top) = median_width(column);
    let mut chosen = (top, false);
    let mut best = column.len() as u64 * u64::from(top);
    for k in middle.saturating_sub(2)..(middle + 3).min(top) {
        let rests: u32 = column
            .iter()
            .map(|number| {
                let rest = *number as u32 >> k;
                if rest < RESTS_MAX {
                    rest
                } else {
                    RESTS_MAX + 32
                }
            })
            .sum();
        let bits = column.len() as u64 * u64::from(k + 1) + u64::from(rests);
        if bits < best {
            best = bits;
            chosen = (k, true);
        }
    }
    chosen
}

/// Return the width that at least half of the numbers do not exceed, and the largest width.
fn median_width(column: &[i32]) -> (u32, u32) {
    let top = width_of(column.iter().fold(0, |bits, number| bits | *number as u32));
    let (mut low, mut high) = (0, top);
    while low < high {
        let middle = (low + high) / 2;
        if fits_half(column, middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low, top)
}

/// Report whether at least half of the numbers have no more than `width` bits.
fn fits_half(column: &[i32], width: u32) -> bool {
    let mask = u32::MAX.checked_shl(width).unwrap_or(0);
    let fitting: u32 = column
        .iter()
        .map(|number| u32::from(*number as u32 & mask == 0))
        .sum();
    fitting as usize >= column.len().div_ceil(2)
}

fn width_of(number: u32) -> u32 {
    32 - number.leading_zeros()
}

/// Where the parts of a pack are, in bits from the start of its bytes.
struct Layout {
    bases: usize,
    low: usize,
    rests: usize,
}

/// Reads packs from bytes, one after the other.
pub struct Unpacker<'a> {
    bytes: &'a [u8],
    /// The next byte to be read.
    pub at: usize,
}

impl<'a> Unpacker<'a> {
    /// Read from the first byte on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Read the next byte.
    pub fn byte(&mut self) -> Result<u8, Exhausted> {
        let byte = *self.bytes.get(self.at).ok_or(Exhausted)?;
        self.at += 1;
        Ok(byte)
    }

    /// Read the next four bytes as a number.
    pub fn word(&mut self) -> Result<u32, Exhausted> {
        let bytes = self.bytes.get(self.at..self.at + 4).ok_or(Exhausted)?;
        self.at += 4;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Read a pack into `numbers`, `sizes` of them for each column.
    pub fn columns(
        &mut self,
        numbers: &mut [i32],
        sizes: &[usize],
        signed: &[bool],
    ) -> Result<(), Exhausted> {
        let params = self.params(sizes.len())?;
        let layout = self.layout(params, |column| sizes[column])?;
        let (mut base_at, mut low, mut to) = (layout.bases, layout.low, layout.rests);
        let mut large = Vec::new();
        let (mut start, mut left) = (0, &mut *numbers);
        for (column, param) in params.iter().enumerate() {
            let (mine, others) = std::mem::take(&mut left).split_at_mut(sizes[column]);
            left = others;
            let k = usize::from(param & WIDTH);
            self.low_bits(mine, low, k);
            low += k * mine.len();
            if param & REST != 0 {
                to = self.rests(mine, to, k, |at| large.push((start + at, k)))?;
            }
            start += mine.len();
        }
        to = self.large_rests(numbers, &large, to)?;
        let mut left = &mut *numbers;
        for (column, param) in params.iter().enumerate() {
            let (mine, others) = std::mem::take(&mut left).split_at_mut(sizes[column]);
            left = others;
            let base = self.base(*param, &mut base_at);
            restore(mine, base, signed[column]);
        }
        self.at = to.div_ceil(8);
        Ok(())
    }

    /// Read the `wanted` columns only of a pack of `n` numbers each, into their places of `numbers`.
    ///
    /// `Ok(false)` when one of them has a rest that is not written in unary: `columns` reads it. Leave `at` alone.
    pub fn some_columns(
        &self,
        numbers: &mut [i32],
        n: usize,
        signed: &[bool],
        wanted: &[bool],
    ) -> Result<bool, Exhausted> {
        let params = self.params_at(self.at, signed.len())?;
        let layout = self.layout(params, |_| n)?;
        let (mut base_at, mut low, mut to) = (layout.bases, layout.low, layout.rests);
        let last = wanted.iter().rposition(|wanted| *wanted).unwrap_or(0);
        for (column, param) in params.iter().enumerate().take(last + 1) {
            let k = usize::from(param & WIDTH);
            let base = self.base(*param, &mut base_at);
            if wanted[column] {
                let mine = &mut numbers[column * n..(column + 1) * n];
                self.low_bits(mine, low, k);
                if param & REST != 0 {
                    let mut large = false;
                    to = self.rests(mine, to, k, |_| large = true)?;
                    if large {
                        return Ok(false);
                    }
                }
                restore(mine, base, signed[column]);
            } else if param & REST != 0 {
                to = self.after_ones(to, n)?;
            }
            low += k * n;
        }
        Ok(true)
    }

    /// Read the number at `place` of each column of a pack of `n` numbers each.
    ///
    /// `Ok(false)` when one of them has a rest that is not written in unary: `columns` reads it. Leave `at` alone.
    pub fn at_place(
        &self,
        numbers: &mut [i32],
        n: usize,
        signed: &[bool],
        place: usize,
    ) -> Result<bool, Exhausted> {
        let params = self.params_at(self.at, signed.len())?;
        let layout = self.layout(params, |_| n)?;
        let (mut base_at, mut low, mut to) = (layout.bases, layout.low, layout.rests);
        for (column, param) in params.iter().enumerate() {
            let k = usize::from(param & WIDTH);
            let mut number = u64::from(self.bits(low + k * place, k));
            low += k * n;
            if param & REST != 0 {
                let first = self.after_ones(to, place)?;
                let last = self.after_ones(first, 1)?;
                to = self.after_ones(last, n - place - 1)?;
                let rest = (last - first - 1) as u64;
                if rest >= u64::from(RESTS_MAX) {
                    return Ok(false);
                }
                number += rest << k;
            }
            let number = u32::try_from(number).map_err(|_| Exhausted)?;
            let base = self.base(*param, &mut base_at);
            let mut one = [number as i32];
            restore(&mut one, base, signed[column]);
            numbers[column] = one[0];
        }
        Ok(true)
    }

    fn params(&mut self, columns: usize) -> Result<&'a [u8], Exhausted> {
        self.params_at(self.at, columns)
    }

    fn params_at(&self, at: usize, columns: usize) -> Result<&'a [u8], Exhausted> {
        let params = self.bytes.get(at..at + columns).ok_or(Exhausted)?;
        if params.iter().any(|param| param & WIDTH > 32) {
            return Err(Exhausted);
        }
        Ok(params)
    }

    fn layout(&self, params: &[u8], size: impl Fn(usize) -> usize) -> Result<Layout, Exhausted> {
        let bases = 8 * (self.at + params.len());
        let based = params.iter().filter(|param| **param & BASE != 0).count();
        let low = bases + 32 * based;
        let bits: usize = params
            .iter()
            .enumerate()
            .map(|(column, param)| usize::from(param & WIDTH) * size(column))
            .sum();
        let rests = low + bits;
        if rests > 8 * self.bytes.len() {
            return Err(Exhausted);
        }
        Ok(Layout { bases, low, rests })
    }

    fn base(&self, param: u8, at: &mut usize) -> i32 {
        if param & BASE == 0 {
            return 0;
        }
        *at += 32;
        self.bits(*at - 32, 32) as i32
    }

    /// Eight bytes from `byte` on, 0 beyond the last.
    #[inline]
    fn load(&self, byte: usize) -> u64 {
        match self.bytes.get(byte..byte + 8) {
            Some(bytes) => {
                let mut eight = [0; 8];
                eight.copy_from_slice(bytes);
                u64::from_le_bytes(eight)
            }
            None => self.load_last(byte),
        }
    }

    #[cold]
    fn load_last(&self, byte: usize) -> u64 {
        let mut eight = [0; 8];
        let left = self.bytes.get(byte..).unwrap_or(&[]);
        let size = left.len().min(8);
        eight[..size].copy_from_slice(&left[..size]);
        u64::from_le_bytes(eight)
    }

    /// `width` bits from the bit `at` on; 32 at most.
    #[inline]
    fn bits(&self, at: usize, width: usize) -> u32 {
        ((self.load(at / 8) >> (at % 8)) & ((1u64 << width) - 1)) as u32
    }

    fn low_bits(&self, column: &mut [i32], mut low: usize, k: usize) {
        if k == 0 {
            column.fill(0);
            return;
        }
        let mask = (1u64 << k) - 1;
        // Of the 64 bits of a load, up to seven come before the first number.
        for numbers in column.chunks_mut(57 / k) {
            let mut bits = self.load(low / 8) >> (low % 8);
            for number in &mut *numbers {
                *number = (bits & mask) as i32;
                bits >>= k;
            }
            low += k * numbers.len();
        }
    }

    /// Add the rests of a column from the bit `to` on; return the bit after them.
    ///
    /// `is_large` gets the index of each number whose rest is not written in unary, which `large_rests` reads.
    fn rests(
        &self,
        column: &mut [i32],
        to: usize,
        k: usize,
        mut is_large: impl FnMut(usize),
    ) -> Result<usize, Exhausted> {
        let end = 8 * self.bytes.len();
        let mut high = 0u64;
        let mut before = to; // the bit after the last one found
        let mut byte = to / 8;
        let mut ones = self.load(byte) & (u64::MAX << (to % 8));
        for (at, number) in column.iter_mut().enumerate() {
            while ones == 0 {
                byte += 8;
                if 8 * byte >= end {
                    return Err(Exhausted);
                }
                ones = self.load(byte);
            }
            let one = 8 * byte + ones.trailing_zeros() as usize;
            ones &= ones - 1;
            let rest = one - before;
            before = one + 1;
            if rest >= RESTS_MAX as usize {
                is_large(at);
                continue;
            }
            let whole = u64::from(*number as u32) + ((rest as u64) << k);
            high |= whole;
            *number = whole as i32;
        }
        if high >> 32 != 0 {
            return Err(Exhausted);
        }
        Ok(before)
    }

    /// Add the rests that are not written in unary, from the bit `at` on, to numbers that have low bits of a width only.
    fn large_rests(
        &self,
        numbers: &mut [i32],
        large: &[(usize, usize)],
        mut at: usize,
    ) -> Result<usize, Exhausted> {
        for (place, k) in large {
            if at + 32 > 8 * self.bytes.len() {
                return Err(Exhausted);
            }
            let whole = u64::from(numbers[*place] as u32) + (u64::from(self.bits(at, 32)) << k);
            numbers[*place] = u32::try_from(whole).map_err(|_| Exhausted)? as i32;
            at += 32;
        }
        Ok(at)
    }

    /// Return the position after the next `count` ones from the bit `at` on.
    fn after_ones(&self, at: usize, mut count: usize) -> Result<usize, Exhausted> {
        if count == 0 {
            return Ok(at);
        }
        let end = 8 * self.bytes.len();
        let mut byte = at / 8;
        let mut ones = self.load(byte) & (u64::MAX << (at % 8));
        loop {
            let held = ones.count_ones() as usize;
            if held >= count {
                break;
            }
            count -= held;
            byte += 8;
            if 8 * byte >= end {
                return Err(Exhausted);
            }
            ones = self.load(byte);
        }
        for _ in 1..count {
            ones &= ones - 1;
        }
        Ok(8 * byte + ones.trailing_zeros() as usize + 1)
    }
}

/// Numbers from what their column holds.
fn restore(column: &mut [i32], base: i32, signed: bool) {
    if signed {
        for number in column {
            let left = *number as u32;
            let value = (left >> 1) as i32 ^ -((left & 1) as i32);
            *number = value.wrapping_add(base);
        }
    } else if base != 0 {
        for number in column {
            *number = number.wrapping_add(base);
        }
    }
}

/// 32 bits that change with any bit of the body, with its length and with its head.
pub fn checksum(head: u32, body: &[u8]) -> u32 {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut total = u64::from(head) << 32 | body.len() as u64 & 0xFFFF_FFFF;
    let mut weight = 1u64;
    for part in body.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        total = total.wrapping_add(u64::from_le_bytes(word).wrapping_mul(weight));
        weight = weight.wrapping_add(2);
    }
    (total.wrapping_mul(MIX) >> 32) as u32
}
