//! Priorities of packets, from which the boundaries of classes are made.

/// Most packets that are recorded; of more, every second one, every fourth, …
const RECORDED_MAX: usize = 1 << 20;

pub(super) struct Record {
    pub(super) log2: Vec<f64>,
    pub(super) bytes: Vec<i64>,
    seen: u64,
    stride: u64,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            log2: Vec::new(),
            bytes: Vec::new(),
            seen: 0,
            stride: 1,
        }
    }
}

impl Record {
    pub(super) fn add(&mut self, log2: f64, bytes: u64) {
        if self.seen % self.stride == 0 {
            if self.log2.len() == RECORDED_MAX {
                let even = |index: usize| index % 2 == 0;
                let mut index = 0..;
                self.log2.retain(|_| index.next().is_some_and(even));
                let mut index = 0..;
                self.bytes.retain(|_| index.next().is_some_and(even));
                self.stride *= 2;
            }
            if self.seen % self.stride == 0 {
                self.log2.push(log2);
                self.bytes.push(bytes as i64);
            }
        }
        self.seen += 1;
    }
}
