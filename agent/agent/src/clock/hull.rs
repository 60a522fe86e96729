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
