//! The TLV that makes a Sync the whole response to a request.

use super::field::{Malformed, PortIdentity, Writer, read_time, write_time};
use super::tlv;

/// Largest number of earlier departures in one TLV.
pub(super) const MOST_EARLIER: usize = 4;

/// The content of a Delay_Resp (13.8), carried in the Sync itself as an organization extension TLV (14.3) before the
/// reception report. The departure of that Sync is unknown when it is written: one of the next responses carries it.
///
///  0  2  TLV type, 0x0003
///  2  2  length of what follows, 26 and 6 for each earlier departure
///  4  3  organisation id, as in the reception report
///  7  3  organisation subtype, 3
/// 10 10  receive timestamp: t4; earlier versions subtracted the correction of the request
/// 20 10  requesting port identity
/// 30  2  (repeated) sequence id of an earlier Sync to the same requester
/// 32  4  (repeated) its t1 less the receive timestamp, ns
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseTlv {
    pub receive_ns: i64,
    pub requester: PortIdentity,
    pub earlier: EarlierDepartures,
}

/// Departures of earlier Syncs: t1 by sequence id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EarlierDepartures {
    departures: [(u16, i32); MOST_EARLIER],
    count: usize,
}

const SUBTYPE: [u8; 3] = [0, 0, 3];
const VALUE_LEN: usize = 26;
const EACH_LEN: usize = 6;
pub(super) const TLV_LEN: usize = 4 + VALUE_LEN + EACH_LEN * MOST_EARLIER;

impl ResponseTlv {
    /// Return the response to a request that arrived at `receive_ns`.
    pub fn new(receive_ns: i64, requester: PortIdentity) -> Self {
        Self {
            receive_ns,
            requester,
            earlier: EarlierDepartures::default(),
        }
    }

    /// Add t1 of an earlier Sync. Return false if there is no room. A time too far off for its field is skipped.
    pub(super) fn push(&mut self, sequence_id: u16, left_ns: i64) -> bool {
        let earlier = &mut self.earlier;
        let Some(place) = earlier.departures.get_mut(earlier.count) else {
            return false;
        };
        if let Ok(since_ns) = i32::try_from(left_ns.saturating_sub(self.receive_ns)) {
            *place = (sequence_id, since_ns);
            earlier.count += 1;
        }
        true
    }

    /// Return sequence ids and t1 of the earlier Syncs.
    pub fn earlier(&self) -> impl Iterator<Item = (u16, i64)> + use<> {
        let (EarlierDepartures { departures, count }, receive_ns) = (self.earlier, self.receive_ns);
        let known = departures.into_iter().take(count);
        known.map(move |(id, since_ns)| (id, receive_ns.saturating_add(since_ns.into())))
    }

    /// Read the value of an organization extension; `None` if it is another one.
    pub(super) fn read(value: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(mut from) = tlv::open(value, SUBTYPE) else {
            return Ok(None);
        };
        let mut response_tlv = Self::new(read_time(&mut from)?, PortIdentity::read(&mut from)?);
        let earlier = &mut response_tlv.earlier;
        while let (Some(place), false) =
            (earlier.departures.get_mut(earlier.count), from.0.is_empty())
        {
            *place = (from.u16()?, i32::from_be_bytes(from.take()?));
            earlier.count += 1;
        }
        Ok(Some(response_tlv))
    }

    pub(super) fn write(&self, to: &mut Writer<'_>) {
        let EarlierDepartures { departures, count } = self.earlier;
        let length = VALUE_LEN + EACH_LEN * count;
        tlv::begin(SUBTYPE, length as u16, to);
        write_time(self.receive_ns, to);
        self.requester.write(to);
        for (sequence_id, since_ns) in &departures[..count] {
            to.put(&sequence_id.to_be_bytes());
            to.put(&since_ns.to_be_bytes());
        }
    }
}

/// Times that each departure is sent: one fewer consecutive Syncs may be lost without losing a measurement.
const TIMES: u8 = 4;

/// Departures kept to be sent. A turn of the loop sends fewer Syncs to one requester.
const KEPT: usize = 64;

/// Departures of Syncs to one requester that the next responses carry.
#[derive(Debug, Default)]
pub(in crate::ptp) struct SyncDepartures {
    /// Sequence id, t1 and the times it was sent, in the order of sending.
    waiting: std::collections::VecDeque<(u16, i64, u8)>,
}

impl SyncDepartures {
    /// Add the departure of a Sync.
    pub fn add(&mut self, sequence_id: u16, left_ns: i64) {
        if self.waiting.len() == KEPT {
            self.waiting.pop_front();
        }
        self.waiting.push_back((sequence_id, left_ns, 0));
    }

    /// Append as many departures as `response_tlv` has room for.
    pub fn append_to(&mut self, response_tlv: &mut ResponseTlv) {
        for _ in 0..self.waiting.len() {
            let Some(&(sequence_id, left_ns, times)) = self.waiting.front() else {
                return;
            };
            if !response_tlv.push(sequence_id, left_ns) {
                return;
            }
            self.waiting.pop_front();
            if times + 1 < TIMES {
                self.waiting.push_back((sequence_id, left_ns, times + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departures_in_next(departures: &mut SyncDepartures) -> Vec<u16> {
        let mut response_tlv = ResponseTlv::new(1_000, PortIdentity::ANY);
        departures.append_to(&mut response_tlv);
        response_tlv.earlier().map(|(id, _)| id).collect()
    }

    #[test]
    fn each_departure_is_sent_in_four_responses_from_the_next_one_on() {
        let mut departures = SyncDepartures::default();
        let mut times = [0; 100];
        for id in 0..100 {
            let ids = departures_in_next(&mut departures);
            assert!(id == 0 || ids.contains(&(id - 1)), "{id}: {ids:?}");
            ids.iter().for_each(|id| times[usize::from(*id)] += 1);
            departures.add(id, id.into());
        }
        assert!(times[..96].iter().all(|times| *times == 4), "{times:?}");
    }

    #[test]
    fn all_departures_of_a_batch_are_sent() {
        let mut departures = SyncDepartures::default();
        (0..30).for_each(|id| departures.add(id, 5));
        let mut ids: Vec<u16> = (0..8)
            .flat_map(|_| departures_in_next(&mut departures))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids, (0..30).collect::<Vec<_>>());
        (0..1000).for_each(|id| departures.add(id, 5));
        assert_eq!(departures.waiting.len(), KEPT);
    }

    #[test]
    fn old_departures_are_not_sent() {
        let mut departures = SyncDepartures::default();
        departures.add(1, 1_000 - (1 << 32));
        departures.add(2, 900);
        assert_eq!(departures_in_next(&mut departures), [2]);
    }
}
