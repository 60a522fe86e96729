//! Counts as words: the canonical form that writers emit, and the reading of any form.

const CODE_BITS: u32 = 5;
const CODE_MASK: u16 = (1 << CODE_BITS) - 1;

/// Largest count one word holds, 2^20.
const LARGEST: u64 = 1 << 20;

/// Return the bin of a word and the number of values it represents.
pub(crate) fn read(word: u16) -> (u16, u64) {
    let code = word & CODE_MASK;
    let count = if code < 16 {
        u64::from(code) + 1
    } else {
        1 << (code - 11)
    };
    (word >> CODE_BITS, count)
}

/// Append the canonical words of `count` values in `bin`: largest codes first, none for a count of 0.
pub(crate) fn write(bin: u16, mut count: u64, words: &mut Vec<u16>) {
    let word = |code: u16| bin << CODE_BITS | code;
    // Leaves less than 2^21, so that each of the codes below is needed at most once.
    while count >= 2 * LARGEST {
        words.push(word(31));
        count -= LARGEST;
    }
    for code in (16..32).rev() {
        let size = 1u64 << (code - 11);
        if count > 16 && count >= size {
            words.push(word(code));
            count -= size;
        }
    }
    if count > 16 {
        words.push(word(15));
        count -= 16;
    }
    if count > 0 {
        words.push(word(count as u16 - 1));
    }
}
