//! A Kalman filter on offset and skew.

/// Random walk of a clock's skew, ns/s per root second (1e-8).
const WANDER: f64 = 10.0;

/// Offset (ns) and skew (ns/s) of a clock whose skew takes a random walk, with the covariance of the estimates.
#[derive(Debug, Clone)]
pub struct Filter {
    pub at_s: f64,
    pub offset_ns: f64,
    pub skew: f64,
    variance: f64,
    covariance: f64,
    skew_variance: f64,
}

impl Filter {
    /// Start from an offset and a skew with their standard deviations.
    pub fn new(
        at_s: f64,
        offset_ns: f64,
        deviation_ns: f64,
        skew: f64,
        skew_deviation: f64,
    ) -> Self {
        Self {
            at_s,
            offset_ns,
            skew,
            variance: deviation_ns.powi(2),
            covariance: 0.0,
            skew_variance: skew_deviation.powi(2),
        }
    }

    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// Return the predicted offset at a time without changing the state.
    pub fn offset_at(&self, at_s: f64) -> f64 {
        self.offset_ns + self.skew * (at_s - self.at_s)
    }

    /// Return the standard deviation of the offset at a time, ns.
    pub fn deviation_at(&self, at_s: f64) -> f64 {
        let passed_s = (at_s - self.at_s).abs();
        let wander = WANDER.powi(2) * passed_s.powi(3) / 3.0;
        (self.variance
            + 2.0 * self.covariance.abs() * passed_s
            + self.skew_variance * passed_s.powi(2)
            + wander)
            .sqrt()
    }

    /// Advance the state to a time.
    pub fn predict(&mut self, at_s: f64) {
        let s = (at_s - self.at_s).max(0.0);
        let q = WANDER.powi(2);
        self.offset_ns += self.skew * s;
        self.variance +=
            2.0 * self.covariance * s + self.skew_variance * s * s + q * s.powi(3) / 3.0;
        self.covariance += self.skew_variance * s + q * s * s / 2.0;
        self.skew_variance += q * s;
        self.at_s = self.at_s.max(at_s);
    }

    /// Update the state with a measurement `innovation_ns` above the prediction and its variance.
    pub fn update(&mut self, innovation_ns: f64, variance: f64) {
        let total = self.variance + variance;
        let (gain, skew_gain) = (self.variance / total, self.covariance / total);
        self.offset_ns += gain * innovation_ns;
        self.skew += skew_gain * innovation_ns;
        self.skew_variance -= skew_gain * self.covariance;
        self.covariance *= 1.0 - gain;
        self.variance *= 1.0 - gain;
    }

    /// Raise the variances after a deviation within `passed_s` that the model does not explain.
    pub fn raise_variance(&mut self, innovation_ns: f64, passed_s: f64) {
        self.variance += innovation_ns.powi(2);
        self.skew_variance += (innovation_ns / passed_s).powi(2);
    }

    /// Move the offset because its reference has moved.
    pub fn shift(&mut self, by_ns: f64) {
        self.offset_ns += by_ns;
    }
}
