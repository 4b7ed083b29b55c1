//! What a candidate is owed, and what of it survives a change. Pure.
//!
//! A credit is a number of turns: those its share would have given so far, less those it had. It is
//! kept as a fixed-point number so that many changes in a row add up without drift.

/// One turn. A change loses less than one unit of each credit.
pub(super) const TURN: i64 = 1 << 32;

/// The credit after `turns` turns, of which `served` were its own.
pub(super) fn owed(turns: u64, weight: u32, total: u64, served: u64) -> i64 {
    let ahead = i128::from(turns) * i128::from(weight) - i128::from(served) * i128::from(total);
    ratio(ahead, total)
}

/// `amount / total` turns, rounded down, limited to what fits.
pub(super) fn ratio(amount: i128, total: u64) -> i64 {
    // Divisions of 128 bits are slow, and ten thousand of them are a good part of a rebuild.
    if let (Ok(amount), Ok(total)) = (i32::try_from(amount), i64::try_from(total)) {
        return (i64::from(amount) * TURN).div_euclid(total);
    }
    let turns = (amount * i128::from(TURN)).div_euclid(i128::from(total));
    turns.clamp(i128::from(i64::MIN / 4), i128::from(i64::MAX / 4)) as i64
}

/// Fits the credits that survived a change to their new company: they sum to 0 and none exceeds
/// `limit` either way. `None` is a newcomer, which starts with 0. Empty when all are 0.
///
/// What those who left were owed is shared equally by those who stayed: an equal amount changes
/// nothing in their order, and a newcomer owes and is owed nothing.
pub(super) fn settle(mut carried: Vec<Option<i64>>, limit: i64, total: u64) -> Box<[i64]> {
    let stayed = carried.iter().flatten().count() as i128;
    if stayed == 0 || carried.iter().flatten().all(|credit| *credit == 0) {
        return Box::default();
    }
    // Clamping unbalances the sum and balancing may exceed the limits; it converges at once or
    // nearly so, and a rest below a turn does no harm.
    for _ in 0..3 {
        let sum: i128 = carried.iter().flatten().map(|credit| i128::from(*credit)).sum();
        let mean = (sum / stayed) as i64;
        for credit in carried.iter_mut().flatten() {
            *credit = credit.saturating_sub(mean).clamp(-limit, limit);
        }
    }
    let exact = |credit: i64| match weights(credit, total) {
        Some(weights) => ratio(i128::from(weights), total),
        None => credit,
    };
    carried.into_iter().map(|credit| credit.map_or(0, exact)).collect()
}

/// A credit as a number of weights out of `total`, if it is a whole number but for what rounding
/// took: so it is when the total did not change. Put right, ties stay ties, and a change that
/// changes nothing goes unnoticed.
pub(super) fn weights(credit: i64, total: u64) -> Option<i64> {
    let exact = i128::from(credit) * i128::from(total);
    let turn = i128::from(TURN);
    let whole = (exact + turn / 2).div_euclid(turn);
    let lost = (exact - whole * turn).unsigned_abs();
    // Four roundings at most: in what was owed, in the mean, and in both last time. With a large
    // total everything would seem whole, and nobody would notice either way.
    (lost <= 4 * u128::from(total) && total < 1 << 24).then_some(whole as i64)
}
