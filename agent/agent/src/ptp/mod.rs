//! The messages of the Precision Time Protocol and the two ends of an exchange.
//!
//! References are to IEEE 1588-2019. Our exchange is three messages of the standard with one sequence id
//! (11.3), and a Follow_Up with t1 when its stamp comes late:
//!
//! ```text
//! client                               responder
//! t3 ──── Delay_Req ────────────────►  t4
//! t2 ◄─── Sync (two-step) ───────────  t1
//!    ◄─── Delay_Resp: t4, t1, tally ─
//! ```
//!
//! Where the client says that it soon asks again, two: the Sync has t4 and the tally with it, and tells when the Syncs
//! before it left:
//!
//! ```text
//! t3 ──── Delay_Req ────────────────►  t4
//! t2 ◄─── Sync: t4, tally, t1 before ─ t1
//! ```
//!
//! Everything here is pure: bytes and times come in as arguments, nothing touches a socket.

mod budget;
mod claim;
mod exchange;
mod extension;
mod field;
mod grants;
mod ledger;
mod message;
mod reply;
mod responder;
mod subscription;
mod tally;
mod unicast;
mod way;

pub use budget::Budget;
pub use claim::Claim;
pub use exchange::{Arrival, Opening, Settled, Verdict};
pub use field::{Correction, Malformed, PortIdentity};
pub use grants::{Due, Grants, NoDelayResp, interval_ns};
pub use ledger::Ledger;
pub use message::{Body, MAX_LEN, Message};
pub use reply::Reply;
pub use responder::{Answer, Form, Refusal, Responder};
pub use subscription::Subscription;
pub use tally::Tally;
pub use unicast::{Service, Tlv, Tlvs};
pub use way::Way;
