//! Loops of placement and simulation: a search with its bounds, simulated latency.
//!
//! Matrices are slices, row after row. Numbers come from Python as they are in its arrays: nodes, arcs and machines are
//! 32- or 64-bit integers, of which negative ones are none.

mod alone;
pub mod annealing;
pub mod branching;
pub mod by_job;
mod graphs;
pub mod latency;
mod making_room;
mod potential;
pub mod problem;
mod random;
pub mod relaxation;
mod state;
mod waiting;
pub mod watch;

/// Define a function that uses the vector instructions of AVX2 where the processor has them.
macro_rules! vectorized {
    (
        $(#[$doc:meta])*
        $visible:vis fn $name:ident ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    ) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $visible fn $name  ($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn plain  ($($argument: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                #[allow(unsafe_code, clippy::too_many_arguments)]
                unsafe fn wide  ($($argument: $type),*) $(-> $result)? {
                    plain($($argument),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the instructions.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}
pub(crate) use vectorized;
