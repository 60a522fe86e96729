//! The messages of the Precision Time Protocol and the two ends of an exchange.
//!
//! References are to IEEE 1588-2019. An exchange between agents is three messages of the standard with one sequence id
//! (11.3), and a Follow_Up with t1 if its timestamp comes late:
//!
//! ```text
//! client                                   responder
//! t3 ──── Delay_Req ────────────────────►  t4
//! t2 ◄─── Sync (two-step) ───────────────  t1
//!    ◄─── Delay_Resp: t4, t1, rx report ─
//! ```
//!
//! If the client announces that another request follows soon, the exchange is compact and has two messages. The Sync
//! carries t4 and the reception report, and t1 of the Syncs before it:
//!
//! ```text
//! t3 ──── Delay_Req ────────────────────►  t4
//! t2 ◄─── Sync: t4, rx report, t1 before ─ t1
//! ```
//!
//! Both responses are longer than their request. A client gets them once its requests name the port identity that the
//! responder has for its address ([`Receipts`]); the first request gets a Sync of its own length, which tells that identity.
//!
//! This module is pure: bytes and times are arguments, and no function uses a socket.

mod client_address;
mod exchange;
mod exchange_table;
mod grants;
mod messages;
mod receipt;
mod responder;
mod served_client;
mod token_bucket;
mod unicast_session;

pub use client_address::ClientAddress;
pub use exchange::{Arrival, EcnSeen, Outcome, PendingRequest, Residence, ResponderNotes, Verdict};
pub use exchange_table::ExchangeTable;
pub use grants::{DueMessage, Grants, NoDelayResp, interval_ns};
pub use messages::{
    ANNOUNCE_LEN, Body, Correction, EcnField, HardwareClockTlv, MAX_LEN, Malformed, Message,
    PortIdentity, REQUEST_LEN, ResponseTlv, RxReportTlv, SYNC_LEN, Service, Tlv, Tlvs, VmTlv,
};
pub use receipt::{Receipt, Receipts, octets};
pub use responder::{Refusal, Responder, Response, ResponseForm};
pub use token_bucket::TokenBucket;
pub use unicast_session::{NoService, UnicastSession};
