//! Fuzzes the reader of reports: any bytes are split or refused, and what is read of a window can be stored.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinemora_native::columns::DIRECTIONS;
use sinemora_native::frame::{self, SketchesRef, StatsMut, StatsRef};
use sinemora_native::report::{self, Table};

const FIELDS_MAX: usize = 4096;

fuzz_target!(|body: &[u8]| {
    let Ok(report) = report::split(body, FIELDS_MAX) else {
        return;
    };
    for window in report.windows {
        let read = report::read_window(window, 1);
        if let Some(Ok(table)) = read.and_then(|window| window.table) {
            stored(&table);
        }
    }
});

/// Write a window as the backend stores it, and read it back.
fn stored(table: &Table) {
    let n = table.targets.len();
    let stats = StatsRef {
        columns: &table.columns,
        quantiles: &table.quantiles,
        // The delays of single flows are none of the columns.
        flows: &vec![1; n],
        sources: &vec![0; n],
        by_flow: &[],
    };
    let sketches = SketchesRef::new(&table.lengths, &table.words).unwrap();
    let blocks = frame::encode(&stats, &sketches).unwrap();
    let (stats, sketches): (Vec<&[u8]>, Vec<&[u8]>) = blocks
        .iter()
        .map(|(stats, sketches)| (&stats[..], &sketches[..]))
        .unzip();
    let mut columns = vec![0; table.columns.len()];
    let mut quantiles = vec![0; table.quantiles.len()];
    let (mut flows, mut sources) = (vec![0; n], vec![0; n]);
    let room = StatsMut::new(&mut columns, &mut quantiles, &mut flows, &mut sources).unwrap();
    frame::stats_of(&stats, room).unwrap();
    assert_eq!(quantiles, table.quantiles, "quantiles are read back");
    let read = frame::sketches_of(&sketches, &columns, [true; DIRECTIONS], &[]).unwrap();
    assert_eq!(read.1, table.words, "sketches are read back");
}
