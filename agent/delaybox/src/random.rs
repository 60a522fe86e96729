//! Random numbers that are the same on every machine: a seed is a promise.

/// xoshiro256++ of D. Blackman and S. Vigna (Scrambled linear pseudorandom number generators, 2021), its state
/// filled by SplitMix64 as its authors advise.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream number `stream` of `seed`. Streams of one seed are independent for all we need here.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self {
            state: std::array::from_fn(|_| splitmix(&mut mixed)),
        }
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Uniform in (0, 1): never 0, so that logarithms and negative powers are finite.
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Standard normal (G. Box and M. Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// An index below `count`; the bias of the multiplication is below count / 2^52.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(1, 0);
        let draws: Vec<f64> = (0..200_000).map(|_| random.uniform()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.003, "{mean}");
        let normal: Vec<f64> = (0..200_000).map(|_| random.normal()).collect();
        let mean = normal.iter().sum::<f64>() / normal.len() as f64;
        let variance = normal.iter().map(|x| x * x).sum::<f64>() / normal.len() as f64;
        assert!(
            mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02,
            "{mean} {variance}"
        );
    }

    #[test]
    fn a_seed_repeats_and_streams_differ() {
        let draw = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.uniform(), random.uniform()]
        };
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
    }

    /// The authors' own code, seeded with the state 1, 2, 3, 4, begins with these.
    #[test]
    fn is_the_published_generator() {
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        let first: Vec<u64> = (0..4).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }
}
