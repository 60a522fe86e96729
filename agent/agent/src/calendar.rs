//! Times that are believed, and their written forms: RFC 3339 in JSON and HTTP dates in headers.

use std::time::{SystemTime, UNIX_EPOCH};

const NS_PER_S: i64 = 1_000_000_000;

/// Latest time that is believed, Unix ns (2116): sums with it do not overflow.
pub const LATEST_NS: i64 = i64::MAX / 2;

/// Format a Unix time in ns, for example `2026-11-20T23:19:05.250000000Z`.
pub fn rfc3339(unix_ns: i64) -> String {
    let (seconds, nanos) = (unix_ns.div_euclid(NS_PER_S), unix_ns.rem_euclid(NS_PER_S));
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

/// Return the Unix seconds of an HTTP date, in any of the three forms of RFC 9110, 5.6.7.
pub fn from_http_date(text: &str) -> Option<i64> {
    let since_1970 = httpdate::parse_http_date(text)
        .ok()?
        .duration_since(UNIX_EPOCH)
        .ok()?;
    i64::try_from(since_1970.as_secs()).ok()
}

/// Return the local wall clock in Unix seconds; 0 if it shows a time before 1970.
pub fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

/// Return year, month and day of a day since 1970-01-01, in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that the leap day comes last (H. Hinnant, "chrono-compatible low-level date
/// algorithms").
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let (day, month) = (
        day_of_year - (153 * from_march + 2) / 5 + 1,
        (from_march + 2) % 12 + 1,
    );
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_right() {
        // Independent: `date -u -d @…`.
        let cases = [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (1_709_164_800_000_000_001, "2024-02-29T00:00:00.000000001Z"),
            (4_107_542_399_999_999_999, "2100-02-28T23:59:59.999999999Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
        ];
        for (unix_ns, text) in cases {
            assert_eq!(rfc3339(unix_ns), text);
        }
    }

    #[test]
    fn the_examples_of_rfc_9110_read_right() {
        for right in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(from_http_date(right), Some(784_111_777), "{right}");
        }
        for wrong in [
            "",
            "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Xxx 1994 08:49:37 GMT",
            "Sun, 06 Nov 1894 08:49:37 GMT",
        ] {
            assert_eq!(from_http_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_of_two_centuries_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1870, 1, 1);
        for days in -36_524..36_525 {
            assert_eq!(civil_from_days(days), (year, month, day));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 => 28 + i64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (year, month, day) = match (month, day == last) {
                (_, false) => (year, month, day + 1),
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
            };
        }
    }
}
