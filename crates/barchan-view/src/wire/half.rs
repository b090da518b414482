//! Numbers of 16 bits: eleven significant bits, from 6·10⁻⁸ to 65 504 (IEEE binary16).
//!
//! Enough for what becomes a colour or is read to three digits, at half the size.

/// The largest number there is.
pub(super) const MAX: f64 = 65504.0;

/// The nearest number of 16 bits to a number that is not negative; what is too large becomes [`MAX`].
pub(super) fn from_f64(x: f64) -> u16 {
    let x = x.min(MAX);
    if x < 2f64.powi(-14) {
        // Evenly spaced below the smallest number with all its bits. Rounding up to it gives its bits.
        return (x * 2f64.powi(24)).round() as u16;
    }
    let bits = x.to_bits();
    // Ten bits of the mantissa stay; a carry goes on into the exponent, as it should.
    let kept = (bits + (1 << 41)) >> 42;
    (kept - ((1023 - 15) << 10)) as u16
}

/// The number that these bits mean.
#[cfg(test)]
pub(super) fn to_f64(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 10);
    let mantissa = f64::from(bits & 1023);
    match exponent {
        0 => mantissa * 2f64.powi(-24),
        _ => (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let mut x = 1e-9;
        while x < MAX {
            let error = (to_f64(from_f64(x)) - x).abs();
            assert!(error <= (x / 2048.0).max(2f64.powi(-25)), "{x}: {error}");
            x *= 1.0137;
        }
    }

    #[test]
    fn the_ends_are_right() {
        assert_eq!((from_f64(0.0), from_f64(1.0), from_f64(2.0)), (0, 0x3c00, 0x4000));
        assert_eq!((from_f64(MAX), from_f64(1e300)), (0x7bff, 0x7bff));
        assert_eq!(from_f64(65503.0), 0x7bff);
        // Every number comes back as itself.
        assert!((0..0x7c00).all(|bits| from_f64(to_f64(bits)) == bits));
    }
}
