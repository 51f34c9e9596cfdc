//! The rarity of a word, as BM25 counts it.

/// Returns the rarity of a word: `having` of `all` documents have it.
pub(super) fn idf(all: u32, having: u32) -> f32 {
    let (all, having) = (f64::from(all.max(having)), f64::from(having));
    ln(1.0 + (all - having + 0.5) / (having + 0.5)) as f32
}

/// Returns the natural logarithm of a positive, normal number, to about 15 digits. The standard library's is missing
/// without `std`, and not the same on every machine.
pub(super) fn ln(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let bits = x.to_bits();
    let mut exponent = ((bits & EXPONENT) >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & !EXPONENT | 1023 << 52);
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 (s + s³/3 + s⁵/5 + …) for s = (m − 1) / (m + 1), which is below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    2.0 * s * series + exponent as f64 * core::f64::consts::LN_2
}
