//! Random numbers of a seed: MT19937, as numpy's legacy generator draws them.

const N: usize = 624;
const M: usize = 397;

/// The Mersenne Twister of Matsumoto and Nishimura (1998).
pub(super) struct Random {
    state: [u32; N],
    index: usize,
}

impl Random {
    /// Return the generator of a seed.
    pub(super) fn new(mut seed: u32) -> Self {
        let mut state = [0; N];
        for (at, word) in state.iter_mut().enumerate() {
            *word = seed;
            seed = (seed ^ (seed >> 30))
                .wrapping_mul(1_812_433_253)
                .wrapping_add(at as u32 + 1);
        }
        Self { state, index: N }
    }

    fn renew(&mut self) {
        for at in 0..N {
            let bits = (self.state[at] & 0x8000_0000) | (self.state[(at + 1) % N] & 0x7fff_ffff);
            let odd = if bits & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + M) % N] ^ (bits >> 1) ^ odd;
        }
        self.index = 0;
    }

    fn bits(&mut self) -> u32 {
        if self.index >= N {
            self.renew();
        }
        let mut bits = self.state[self.index];
        self.index += 1;
        bits ^= bits >> 11;
        bits ^= (bits << 7) & 0x9d2c_5680;
        bits ^= (bits << 15) & 0xefc6_0000;
        bits ^ (bits >> 18)
    }

    /// Draw a number from 0 to below 1, with 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        let high = f64::from(self.bits() >> 5);
        let low = f64::from(self.bits() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// Draw a number below `end`, which is 1 or more.
    pub(super) fn below(&mut self, end: usize) -> usize {
        if end <= 1 {
            return 0;
        }
        let mask = u32::MAX >> (end as u32 - 1).leading_zeros();
        loop {
            let drawn = (self.bits() & mask) as usize;
            if drawn < end {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_those_of_the_reference() {
        // mt19937ar.c, init_genrand(5489): the first and the 10,000th output.
        let mut random = Random::new(5489);
        assert_eq!(random.bits(), 3_499_211_612);
        let last = (0..9_999).map(|_| random.bits()).last();
        assert_eq!(last, Some(4_123_659_995));
    }
}
