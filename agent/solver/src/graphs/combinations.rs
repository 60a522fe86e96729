//! Sets of numbers in ascending order.

/// Call `take` with sets of `size` numbers below `end`, in ascending order, until it returns `None`.
///
/// Numbers come best first: after a set of no use (false), those with a later number in its place are left out.
pub(super) fn combinations(
    end: usize,
    size: usize,
    take: &mut impl FnMut(&[usize]) -> Option<bool>,
) {
    if size > end {
        return;
    }
    let mut set: Vec<usize> = (0..size).collect();
    let mut raised = 0;
    while let Some(useful) = take(&set) {
        let mut place = if useful { size } else { raised };
        while place > 0 && set[place - 1] >= end - (size - place) - 1 {
            place -= 1;
        }
        let Some(last) = place.checked_sub(1) else {
            return;
        };
        set[last] += 1;
        for next in last + 1..size {
            set[next] = set[next - 1] + 1;
        }
        raised = last;
    }
}

#[cfg(test)]
mod tests {
    use super::combinations;

    #[test]
    fn sets_that_cannot_be_of_use_are_left_out() {
        let mut all = Vec::new();
        combinations(4, 2, &mut |set| {
            all.push(set.to_vec());
            Some(true)
        });
        assert_eq!(all.len(), 6);
        let gains = [9, 5, 4, 1];
        let mut useful = Vec::new();
        let mut asked = 0;
        combinations(4, 2, &mut |set| {
            asked += 1;
            let gain: i32 = set.iter().map(|place| gains[*place]).sum();
            if gain >= 9 {
                useful.push(set.to_vec());
            }
            Some(gain >= 9)
        });
        assert_eq!(useful, [[0, 1], [0, 2], [0, 3], [1, 2]]);
        assert_eq!(asked, 6);
        combinations(30, 15, &mut |_| None);
    }
}
