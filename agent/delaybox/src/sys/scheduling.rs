//! Being run in time.

use super::checked;

/// Below the kernel's own threads (50), above everything ordinary.
const PRIORITY: libc::c_int = 40;

/// How the kernel schedules the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// `SCHED_FIFO`: it runs as soon as a packet is due.
    Fifo,
    Normal,
}

impl Scheduler {
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Normal => "normal",
        }
    }
}

/// Make the calling thread as prompt as it may be: timers without slack, real time if `fifo` is wished
/// and allowed. Refusals are no errors: the result says what was got, and the delays achieved show what it is worth.
pub fn prompt(fifo: bool) -> Scheduler {
    // SAFETY: PR_SET_TIMERSLACK (prctl(2)) takes a number alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64) };
    // SAFETY: all fields of sched_param are numbers, for which zero bytes are valid.
    let mut wish: libc::sched_param = unsafe { std::mem::zeroed() };
    wish.sched_priority = PRIORITY;
    // SAFETY: sched_setscheduler(2) reads one sched_param; 0 is the calling thread.
    if fifo
        && checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wish) })
            .is_ok()
    {
        Scheduler::Fifo
    } else {
        Scheduler::Normal
    }
}
