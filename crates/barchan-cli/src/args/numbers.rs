//! Values of options that are numbers, with errors that say what is expected.

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("expected a number greater than 0, such as 1e-4".into()),
    }
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("expected a number of seconds greater than 0, such as 60".into()),
    }
}

/// Sides of a picture of which memory and file formats can hold.
pub(super) fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|n| (1..=16384).contains(n));
    let sides = text.split_once(['x', 'X']).and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| "expected pixels across and down, up to 16384 each, such as 1200x900".into())
}

pub(super) fn angle<const MOST: u16>(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::abs(x) <= f64::from(MOST) => Ok(x),
        _ => Err(format!("expected a number of degrees between -{MOST} and {MOST}")),
    }
}

pub(super) fn factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.01..=1000.0).contains(&x) => Ok(x),
        _ => Err("expected a number between 0.01 and 1000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("640x480"), Ok([640, 480]));
        assert!(["640", "0x480", "640x", "640x480x3", "99999x1", "-1x5"].iter().all(|text| size(text).is_err()));
    }
}
