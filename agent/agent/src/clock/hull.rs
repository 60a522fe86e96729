//! Lower convex hull of points that come in order of time.

/// A delay above the clock line: when (s) and how much (ns), from a common origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub at_s: f64,
    pub delay_ns: f64,
}

/// The points that can touch a line from above, whatever its slope.
#[derive(Debug, Clone, Default)]
pub struct LowerHull(Vec<Point>);

impl LowerHull {
    /// Add a point, in order of time even if it is older than the newest: responses may overtake each other.
    pub fn add(&mut self, point: Point) {
        let place = self.0.partition_point(|p| p.at_s <= point.at_s);
        if place == self.0.len() {
            self.push(point);
        } else {
            let mut points = std::mem::take(&mut self.0);
            points.insert(place, point);
            for point in points {
                self.push(point);
            }
        }
    }

    /// Append every point of a later hull.
    pub fn append(&mut self, later: &Self) {
        for &point in &later.0 {
            self.add(point);
        }
    }

    /// Return the point that a line of `slope` (ns/s) touches from below; `None` if the hull is empty.
    pub fn support(&self, slope: f64) -> Option<Point> {
        let height = |p: &Point| p.delay_ns - slope * p.at_s;
        self.0
            .iter()
            .copied()
            .min_by(|a, b| height(a).total_cmp(&height(b)))
    }

    /// Return the time of the oldest point.
    pub fn first_s(&self) -> Option<f64> {
        self.0.first().map(|point| point.at_s)
    }

    /// Return the time of the newest point.
    pub fn last_s(&self) -> Option<f64> {
        self.0.last().map(|point| point.at_s)
    }

    fn push(&mut self, point: Point) {
        while let [.., a, b] = self.0[..] {
            if turns_left(a, b, point) {
                break;
            }
            self.0.pop();
        }
        match self.0.last_mut() {
            Some(last) if last.at_s == point.at_s => {
                last.delay_ns = last.delay_ns.min(point.delay_ns);
            }
            _ => self.0.push(point),
        }
    }
}

/// Return true if b lies strictly below the line from a to c.
fn turns_left(a: Point, b: Point, c: Point) -> bool {
    (b.delay_ns - a.delay_ns) * (c.at_s - b.at_s) < (c.delay_ns - b.delay_ns) * (b.at_s - a.at_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(seed: u64, n: u64) -> Vec<Point> {
        let mut state = seed;
        (0..n)
            .map(|i| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                Point {
                    at_s: i as f64 / 8.0,
                    delay_ns: (state >> 44) as f64,
                }
            })
            .collect()
    }

    #[test]
    fn touches_the_same_point_as_a_search_through_all() {
        for n in [1, 2, 3, 10, 500] {
            let all = points(n, n);
            let mut hull = LowerHull::default();
            // Neighbours swapped, as when one response overtakes another.
            for pair in all.chunks(2) {
                pair.iter().rev().for_each(|p| hull.add(*p));
            }
            for slope in [-300e3, -20e3, 0.0, 1e3, 250e3] {
                let lowest = all
                    .iter()
                    .map(|p| p.delay_ns - slope * p.at_s)
                    .fold(f64::INFINITY, f64::min);
                let touched = hull.support(slope).unwrap();
                assert_eq!(touched.delay_ns - slope * touched.at_s, lowest);
            }
            assert!(hull.0.len() < 60, "{} of {n} points kept", hull.0.len());
        }
    }
}
