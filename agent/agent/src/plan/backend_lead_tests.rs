use super::*;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;
/// The true lead of the backend's clock at the start.
const TRUE: i64 = 1_700_000_000 * S;

/// A machine and a backend in true time.
#[derive(Default)]
struct World {
    lead: BackendLead,
    now: i64,
    backend_step: i64,
    steps: Vec<i64>,
}

impl World {
    /// Poll: the request takes `there`, the backend holds it for `held`, the answer takes `back`.
    fn poll(&mut self, there: i64, held: i64, back: i64) {
        let sent_ns = self.now;
        let answered = self.now + there + held;
        self.now = answered + back;
        let answer = TimedAnswer {
            sent_ns,
            received_ns: self.now,
            held_ns: held,
            backend_ns: answered + TRUE + self.backend_step,
        };
        self.steps
            .extend(self.lead.observe(&answer).map(|c| c.step_ns));
    }

    fn wait(&mut self, for_ns: i64) {
        self.now += for_ns;
    }

    /// Return the error of the estimate, and its bound, ms.
    fn error_and_bound_ms(&self) -> (i64, i64) {
        let shown = self.now + self.lead.ns().unwrap();
        let error = shown - (self.now + TRUE + self.backend_step);
        let bound = self.lead.error_ns(self.now);
        (error / MS, bound.map_or(-1, |bound| bound as i64 / MS))
    }

    fn assert_right(&self, limit_ms: i64) {
        let (error, bound) = self.error_and_bound_ms();
        assert!(error.abs() <= bound, "{error} of {bound} ms");
        assert!(bound <= limit_ms, "{bound} of {limit_ms} ms");
    }
}

fn started() -> World {
    let mut world = World::default();
    world.poll(30 * MS, 0, 5 * MS);
    world.poll(2 * MS, 0, 2 * MS);
    world.assert_right(10);
    world
}

#[test]
fn a_late_answer_of_a_held_poll_changes_nothing() {
    for late in [3 * S, 14 * S, 39 * S] {
        let mut world = started();
        let before = world.lead.ns();
        world.poll(2 * MS, 25 * S, late);
        assert_eq!(world.lead.ns(), before, "{late}");
        world.assert_right(10);
        world.poll(late, 25 * S, 2 * MS);
        assert_eq!(world.lead.ns(), before, "{late}");
        world.assert_right(15);
    }
}

#[test]
fn a_late_first_answer_has_a_wide_bound_until_a_quick_one() {
    let mut world = World::default();
    world.poll(2 * MS, 0, 9 * S);
    let (error, bound) = world.error_and_bound_ms();
    assert!(error.abs() <= bound && bound > 4_000, "{error} of {bound}");
    assert!(world.lead.needs_answer(world.now));
    world.poll(5 * MS, 0, 5 * MS);
    world.assert_right(10);
    assert!(!world.lead.needs_answer(world.now));
}

#[test]
fn held_polls_keep_the_bound_small_for_days() {
    let mut world = started();
    world.steps.clear();
    for i in 0..3 * 3456 {
        world.poll(2 * MS, 25 * S, (2 + i % 7) * MS);
        world.assert_right(10);
    }
    assert!(world.steps.is_empty(), "noise moves no window");
}

#[test]
fn the_bound_grows_while_nothing_is_heard() {
    let mut world = started();
    world.wait(600 * S);
    let (_, bound) = world.error_and_bound_ms();
    assert!((30..40).contains(&bound), "{bound}");
    assert!(world.lead.needs_answer(world.now));
    world.poll(2 * MS, 0, 2 * MS);
    world.assert_right(5);
}

#[test]
fn a_step_of_the_backends_clock_is_followed_at_once_by_sharp_answers_only() {
    for step in [-3_600 * S, -S, S, 3_600 * S] {
        let mut world = started();
        world.backend_step = step;
        world.poll(2 * MS, 25 * S, 20 * S);
        // A step ahead by less than an answer is late does not contradict it.
        if step != S {
            let (error, bound) = world.error_and_bound_ms();
            assert!(error.abs() <= bound, "{error} of {bound}");
            assert!(world.lead.is_contradicted());
        }
        world.poll(2 * MS, 0, 2 * MS);
        world.assert_right(10);
    }
}

#[test]
fn a_long_way_is_bounded_by_half_its_round_trip() {
    let mut world = World::default();
    for _ in 0..20 {
        world.poll(10 * MS, 0, 290 * MS);
    }
    world.assert_right(160);
    world.poll(10 * MS, 25 * S, 290 * MS);
    world.assert_right(160);
}

#[test]
fn a_backend_that_reports_no_hold_is_followed_by_quick_answers() {
    let mut world = started();
    let before = world.lead.ns();
    world.poll(25 * S, 0, 0);
    assert_eq!(world.lead.ns(), before);
    world.assert_right(10);
}

#[test]
fn absurd_times_overflow_nothing() {
    let mut world = started();
    for backend_ns in [i64::MIN, i64::MAX, 0] {
        for held_ns in [i64::MIN, 0, i64::MAX] {
            world.lead.observe(&TimedAnswer {
                sent_ns: 0,
                received_ns: S,
                held_ns,
                backend_ns,
            });
            world.lead.error_ns(world.now);
        }
    }
}
