use super::*;

const MIB: u64 = 1 << 20;

fn report(sequence: u64) -> Vec<u8> {
    vec![u8::try_from(sequence).unwrap(); 100]
}

fn filled(folder: &Path, cap_bytes: u64, sequences: std::ops::RangeInclusive<u64>) -> (Spool, u64) {
    let spool = Spool::open(folder, cap_bytes).unwrap();
    let dropped = sequences.map(|s| spool.push(s, report(s)).dropped).sum();
    (spool, dropped)
}

/// Make a folder unwritable, even for root, by putting a file in its place.
fn break_disk(folder: &Path) -> PathBuf {
    let aside = folder.with_extension("aside");
    std::fs::rename(folder, &aside).unwrap();
    std::fs::write(folder, "").unwrap();
    aside
}

fn mend_disk(folder: &Path, aside: &Path) {
    std::fs::remove_file(folder).unwrap();
    std::fs::rename(aside, folder).unwrap();
}

#[test]
fn reports_outlive_the_process_and_partial_files_do_not() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), MIB, 1..=3)); // as after kill -9
    std::fs::write(folder.path().join("00000000000000000004.tmp"), "half").unwrap();
    std::fs::write(folder.path().join("README"), "of another program").unwrap();
    let spool = Spool::open(folder.path(), MIB).unwrap();
    assert_eq!(spool.size(), (3 * BLOCK_BYTES, 3));
    assert_eq!(spool.newest(), 3);
    assert_eq!(spool.oldest(), Some((1, report(1))));
    assert!(!folder.path().join("00000000000000000004.tmp").exists());
    assert!(folder.path().join("README").exists());
}

#[test]
fn beyond_the_cap_the_oldest_are_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, dropped) = filled(folder.path(), 5 * BLOCK_BYTES, 1..=8);
    assert_eq!(dropped, 3);
    assert_eq!(spool.size(), (5 * BLOCK_BYTES, 5));
    assert_eq!(spool.oldest(), Some((4, report(4))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
}

#[test]
fn a_smaller_cap_after_a_restart_holds() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), MIB, 1..=8));
    let (spool, dropped) = filled(folder.path(), 3 * BLOCK_BYTES, 9..=9);
    assert_eq!((dropped, spool.size().1), (6, 3));
}

#[test]
fn when_the_disk_refuses_reports_wait_in_memory_and_return_to_disk() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("spool");
    let (spool, _) = filled(&folder, MIB, 1..=1);
    let aside = break_disk(&folder);
    assert!(spool.push(2, report(2)).disk_failed.is_some());
    assert!(
        spool.push(3, report(3)).disk_failed.is_none(),
        "reported once"
    );
    assert_eq!(spool.size(), (BLOCK_BYTES + 200, 3));
    assert_eq!(spool.flush(), 2, "what would be lost now");

    mend_disk(&folder, &aside);
    let pushed = spool.push(4, report(4));
    assert!(pushed.disk_recovered);
    assert_eq!(spool.flush(), 0);
    drop(spool);
    let spool = Spool::open(&folder, MIB).unwrap();
    for sequence in 1..=4 {
        assert_eq!(spool.oldest(), Some((sequence, report(sequence))));
        spool.remove(sequence);
    }
    assert_eq!(spool.size(), (0, 0));
}

#[test]
fn memory_is_bounded_too() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("spool");
    let mut spool = Spool::open(&folder, MIB).unwrap();
    spool.memory_cap_bytes = 300;
    break_disk(&folder);
    let dropped: u64 = (1..=10).map(|s| spool.push(s, report(s)).dropped).sum();
    assert_eq!(dropped, 7);
    assert_eq!(spool.oldest(), Some((8, report(8))));
}

#[test]
fn a_missing_file_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, _) = filled(folder.path(), MIB, 1..=2);
    std::fs::remove_file(folder.path().join("00000000000000000001.report")).unwrap();
    assert_eq!(spool.oldest(), Some((2, report(2))));
    assert_eq!(spool.size().1, 1);
}

#[test]
fn waiting_ends_with_an_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(folder.path(), MIB).unwrap();
    assert!(!spool.wait(Duration::ZERO));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| spool.wait(Duration::from_secs(3600)));
        spool.push(1, report(1));
        assert!(waiting.join().unwrap());
    });
}
