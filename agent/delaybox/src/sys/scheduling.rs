//! Real-time scheduling.

use super::checked;

/// Priority below the kernel's own threads (50) and above normal processes.
const PRIORITY: libc::c_int = 40;

/// Scheduling class of the box.
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

/// Remove the timer slack of the calling thread, and set real-time scheduling if `fifo` is set and permitted.
/// A refusal is no error: the result is the class in force.
pub fn prompt(fifo: bool) -> Scheduler {
    // SAFETY: PR_SET_TIMERSLACK (prctl(2)) takes a number alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64) };
    // SAFETY: all fields of sched_param are numbers, for which zero bytes are valid.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = PRIORITY;
    // SAFETY: sched_setscheduler(2) reads one sched_param; 0 is the calling thread.
    if fifo
        && checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
            .is_ok()
    {
        Scheduler::Fifo
    } else {
        Scheduler::Normal
    }
}
