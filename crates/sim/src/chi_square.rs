//! Whether counts fit shares: Pearson's chi-square test. Pure arithmetic.
//!
//! A test at [`ALPHA`] refuses a generator that is right once in a million seeds. It refuses one
//! that sends the part `d` of `n` calls to the wrong place with near certainty when `4 n d^2` is
//! well above the critical value: with `d` = 2 %, 100 000 calls give 160, and the critical values
//! are 24 for 1 degree of freedom, 46 for 9 and 178 for 99.

/// How often a test may refuse what is right.
pub const ALPHA: f64 = 1e-6;

/// How well counts fit shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Sum of (observed - expected)^2 / expected.
    pub statistic: f64,
    /// Places that something is expected of, less one.
    pub degrees: u32,
    /// How likely a sum at least this large is when the shares are right, 0 to 1.
    pub p: f64,
}

impl Fit {
    /// Whether the counts are no reason to doubt the shares, at [`ALPHA`].
    pub fn is_good(&self) -> bool {
        self.p >= ALPHA
    }
}

/// Compares counts with the shares (not negative, summing to 1) they should have. A count where the
/// share is 0 fits nothing.
pub fn fit(observed: &[u64], shares: &[f64]) -> Fit {
    let total: u64 = observed.iter().sum();
    let mut statistic = 0.0;
    let mut places = 0_u32;
    for (place, count) in observed.iter().enumerate() {
        let expected = shares.get(place).copied().unwrap_or(0.0) * total as f64;
        if expected > 0.0 {
            statistic += (*count as f64 - expected).powi(2) / expected;
            places += 1;
        } else if *count > 0 {
            statistic = f64::INFINITY;
        }
    }
    let degrees = places.saturating_sub(1);
    Fit { statistic, degrees, p: survival(statistic, degrees) }
}

/// The shares that are in proportion to `weights`; equal ones when all are 0.
pub fn shares_of(weights: &[u32]) -> Vec<f64> {
    let total: u64 = weights.iter().copied().map(u64::from).sum();
    let share = |weight: &u32| match total {
        0 => 1.0 / weights.len() as f64,
        _ => f64::from(*weight) / total as f64,
    };
    weights.iter().map(share).collect()
}

/// The probability that a chi-square variable with `degrees` degrees of freedom exceeds `x`: the
/// regularized upper incomplete gamma function Q(degrees / 2, x / 2). Without freedom everything
/// above 0 is impossible.
///
/// Source: the series and the continued fraction of Abramowitz and Stegun, 6.5.29 and 6.5.31.
pub fn survival(x: f64, degrees: u32) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if degrees == 0 || x.is_infinite() {
        return 0.0;
    }
    let (a, x) = (f64::from(degrees) / 2.0, x / 2.0);
    // x^a e^-x / gamma(a), by logarithms: its factors overflow long before it does.
    let front = (a * x.ln() - x - ln_gamma_of_half(degrees)).exp();
    if x < a + 1.0 { 1.0 - front * lower_series(a, x) } else { front * upper_fraction(a, x) }
}

/// ln gamma(n / 2), from gamma(1/2) = sqrt(pi), gamma(1) = 1 and gamma(z + 1) = z gamma(z).
fn ln_gamma_of_half(n: u32) -> f64 {
    let odd = n % 2 == 1;
    let start = if odd { std::f64::consts::PI.sqrt().ln() } else { 0.0 };
    let first = if odd { 0.5 } else { 1.0 };
    let steps = if odd { n / 2 } else { (n / 2).saturating_sub(1) };
    (0..steps).fold(start, |sum, step| sum + (first + f64::from(step)).ln())
}

/// Sum of x^k / (a (a + 1) .. (a + k)) over k from 0.
fn lower_series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut k = 1.0;
    while term > sum * f64::EPSILON {
        term *= x / (a + k);
        sum += term;
        k += 1.0;
    }
    sum
}

/// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ..))), from the inside out:
/// 200 steps settle every x >= a + 1 that tests of up to some hundred places give.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let inner = (1..=200).rev().fold(0.0, |inner, step| {
        let k = f64::from(step);
        k * (k - a) / (x + 2.0 * k + 1.0 - a - inner)
    });
    1.0 / (x + 1.0 - a - inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_critical_values() {
        for (x, degrees, p) in [
            (3.841_458_820_694_124, 1, 0.05),
            (6.634_896_601_021_214, 1, 0.01),
            (18.307_038_053_275_146, 10, 0.05),
            (29.588_298_445_074_407, 10, 0.001),
            (124.342_113_404_004_1, 100, 0.05),
        ] {
            let got = survival(x, degrees);
            assert!((got - p).abs() < 1e-9, "{x} at {degrees}: {got}");
        }
    }

    /// With an even number of degrees the tail is a finite sum: e^-x/2 (x/2)^i / i!.
    #[test]
    fn even_degrees_have_a_closed_form() {
        for degrees in [2_u32, 4, 8, 20, 60, 98] {
            for x in [0.1, 1.0, 5.0, 20.0, 50.0, 120.0, 200.0] {
                let mut term = (-x / 2.0_f64).exp();
                let mut sum = 0.0;
                for i in 1..=degrees / 2 {
                    sum += term;
                    term *= x / 2.0 / f64::from(i);
                }
                let got = survival(x, degrees);
                assert!(
                    (got - sum).abs() <= 1e-10 * sum.max(1e-3),
                    "{x} at {degrees}: {got} {sum}"
                );
            }
        }
    }

    #[test]
    fn small_tails_keep_their_digits() {
        // Two-sided tail of the normal distribution beyond 5 standard deviations.
        assert!((survival(25.0, 1) / 5.733_031_437_583_88e-7 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn two_percent_astray_among_a_hundred_thousand_is_refused_and_chance_is_not() {
        assert!(fit(&[50_200, 49_800], &[0.5, 0.5]).is_good());
        assert!(!fit(&[52_000, 48_000], &[0.5, 0.5]).is_good());
        let even = [10_200, 9_800, 10_200, 9_800, 10_200, 9_800, 10_200, 9_800, 10_200, 9_800];
        assert!(fit(&even, &[0.1; 10]).p > 1e-6);
        let astray = [10_400, 9_600, 10_400, 9_600, 10_400, 9_600, 10_400, 9_600, 10_400, 9_600];
        assert!(!fit(&astray, &[0.1; 10]).is_good());
    }

    #[test]
    fn a_count_where_none_may_be_fits_nothing() {
        assert_eq!(fit(&[99_999, 1], &[1.0, 0.0]).p, 0.0);
        assert_eq!(fit(&[100_000, 0], &[1.0, 0.0]).p, 1.0);
    }

    #[test]
    fn shares_follow_weights() {
        assert_eq!(shares_of(&[1, 3]), [0.25, 0.75]);
        assert_eq!(shares_of(&[0, 0]), [0.5, 0.5]);
    }
}
