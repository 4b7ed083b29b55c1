//! What a weight is worth at one instant: the configured value, ramped up while its provider is
//! young. Pure arithmetic on milliseconds since the epoch; no clock, no state.
//!
//! # Rule
//!
//! A weight of 0 is 0. Without a start time, or once the warmup is over, the weight counts in
//! full. Before that it is `uptime / (warmup / weight)` in IEEE single precision, truncated, never
//! under 1. A start time in the future gives 1.
//!
//! # Dubbo
//!
//! `AbstractLoadBalance.getWeight` and `calculateWarmupWeight` (3.3), single precision included:
//! weight 28 halfway through ten minutes is 13 there and here, not 14. One difference: at an uptime
//! of exactly 0 Dubbo gives the full weight for one millisecond, here it is 1.

/// Weight of a provider that names none.
pub const DEFAULT_WEIGHT: u32 = 100;

/// Warmup of a provider that names none, in ms.
pub const DEFAULT_WARMUP_MS: i64 = 600_000;

/// The largest weight that [`parse`] gives; Dubbo keeps weights in a Java `int`.
pub const MAX_WEIGHT: u32 = i32::MAX as u32;

/// The weight at `now_ms` of a provider started at `start_ms`.
///
/// Both are ms since the epoch; a start of 0 or less is unknown. A warmup of 0 or less is none. For
/// fixed other arguments the result never falls as `now_ms` grows.
pub fn effective(weight: u32, start_ms: i64, warmup_ms: i64, now_ms: i64) -> u32 {
    if weight == 0 || start_ms <= 0 {
        return weight;
    }
    // The start is positive, so this saturates only at an uptime that is negative anyway.
    let uptime_ms = now_ms.saturating_sub(start_ms);
    if uptime_ms < 0 {
        1
    } else if uptime_ms >= warmup_ms {
        weight
    } else {
        ramp(weight, warmup_ms, uptime_ms)
    }
}

/// The earliest instant after `now_ms` at which [`effective`] is no longer what it is at `now_ms`;
/// `None` if that never happens. At most 64 evaluations, whatever the arguments.
pub fn next_change(weight: u32, start_ms: i64, warmup_ms: i64, now_ms: i64) -> Option<i64> {
    let at = |instant_ms| effective(weight, start_ms, warmup_ms, instant_ms);
    let current = at(now_ms);
    // Nothing moves before the start; from here on `before` is not negative.
    let mut before = now_ms.max(start_ms.saturating_sub(1)).max(0);
    let mut changed = start_ms.saturating_add(warmup_ms.max(0));
    if changed <= before || at(changed) == current {
        return None;
    }
    while changed - before > 1 {
        let middle = before + (changed - before) / 2;
        if at(middle) == current {
            before = middle;
        } else {
            changed = middle;
        }
    }
    Some(changed)
}

/// A provider's `timestamp` as ms since the epoch: ten digits are seconds (dubbo-go writes them), 0
/// or less is unknown and becomes 0.
pub fn normal_start(timestamp: i64) -> i64 {
    match timestamp {
        ..=0 => 0,
        1_000_000_000..=9_999_999_999 => timestamp * 1000,
        _ => timestamp,
    }
}

/// Reads a weight as a provider writes it: a decimal integer with an optional sign. Negative values
/// become 0, those above [`MAX_WEIGHT`] become that. `None` if it is none, the empty text included.
pub fn parse(text: &str) -> Option<u32> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if text.starts_with('-') {
        return Some(0);
    }
    // Digits alone fail to parse only by being too many.
    Some(digits.parse().unwrap_or(MAX_WEIGHT).min(MAX_WEIGHT))
}

/// The inner formula. Conversion to `f32`, division by a positive number and truncation all keep
/// order, so the ramp never falls; [`next_change`] rests on that.
fn ramp(weight: u32, warmup_ms: i64, uptime_ms: i64) -> u32 {
    let ms_per_unit = warmup_ms as f32 / weight as f32;
    let reached = (uptime_ms as f32 / ms_per_unit) as u32;
    reached.clamp(1, weight)
}

#[cfg(test)]
mod tests;
