//! The two written forms of time the agent meets: RFC 3339 in JSON and IMF-fixdate in HTTP headers.

use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const NS_PER_S: i64 = 1_000_000_000;

/// `2026-11-20T23:19:05.250000000Z` for a Unix time in ns.
pub fn rfc3339(unix_ns: i64) -> String {
    let (seconds, nanos) = (unix_ns.div_euclid(NS_PER_S), unix_ns.rem_euclid(NS_PER_S));
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

/// Unix seconds of `Fri, 20 Nov 2026 23:19:05 GMT` (RFC 9110, 5.6.7); the obsolete forms are not read.
pub fn from_http_date(text: &str) -> Option<i64> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let mut word = || words.next();
    let day: i64 = word()?.parse().ok()?;
    let month_name = word()?;
    let month = MONTHS.iter().position(|m| *m == month_name)? as i64 + 1;
    let year: i64 = word()?.parse().ok()?;
    let mut clock = word()?.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range = (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && (1970..10_000).contains(&year);
    (in_range && word() == Some("GMT"))
        .then(|| days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// The local wall clock, Unix seconds; 0 if it stands before 1970.
pub fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

// Days since 1970-01-01 in the proleptic Gregorian calendar; years are counted from March so that the leap day
// comes last (H. Hinnant, "chrono-compatible low-level date algorithms").
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

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
    fn the_example_of_rfc_9110_reads_right() {
        assert_eq!(
            from_http_date("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(784_111_777)
        );
        for wrong in [
            "",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Xxx 1994 08:49:37 GMT",
        ] {
            assert_eq!(from_http_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_of_two_centuries_survives_the_round_trip() {
        for days in -36_524..36_525 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
    }
}
