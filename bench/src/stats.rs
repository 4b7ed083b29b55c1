//! Order statistics, and the test that traffic went where it should. Pure.

/// The `q`-quantile (0 to 1) by nearest rank; not a number without samples.
pub(crate) fn quantile(samples: &[f64], q: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * q).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The middle one.
pub(crate) fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// Groups that a comparison of counts is folded into, so that each expects enough picks.
const GROUPS: usize = 64;

/// Distance of counts from the shares they should have, in standard deviations of the chi-square
/// statistic: about 0 for a fair draw, below it for something more even, above 6 for other shares.
pub(crate) fn distance(counts: &[u64], shares: &[f64]) -> f64 {
    let (picks, whole) = (counts.iter().sum::<u64>() as f64, shares.iter().sum::<f64>());
    let groups = GROUPS.min(counts.len()).min((picks / 20.0) as usize).max(1);
    let mut folded = vec![(0.0, 0.0); groups];
    for (i, (count, share)) in counts.iter().zip(shares).enumerate() {
        let (seen, due) = &mut folded[i % groups];
        *seen += *count as f64;
        *due += share / whole * picks;
    }
    let used: Vec<_> = folded.into_iter().filter(|(_, due)| *due > 1e-9).collect();
    let freedom = used.len().saturating_sub(1).max(1) as f64;
    let chi: f64 = used.iter().map(|(seen, due)| (seen - due).powi(2) / due).sum();
    (chi - freedom) / (2.0 * freedom).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn wrong_shares_are_far_off() {
        assert!(distance(&[500, 500], &[1.0, 1.0]) < 0.0);
        assert!(distance(&[600, 400], &[1.0, 1.0]) > 6.0);
        assert!(distance(&[250, 750], &[1.0, 3.0]) < 0.0);
    }
}
