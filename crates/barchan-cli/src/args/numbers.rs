//! Values of options that are numbers, with errors that say what is expected.

/// How many there are, or which one from 0.
pub(super) fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    whole::<T, 0, { u64::MAX }>(text)
}

/// Which one, from 1; or how many, but not none.
pub(super) fn ordinal<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    whole::<T, 1, { u64::MAX }>(text)
}

/// A whole number within bounds, both included.
pub(super) fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|n| (LEAST..=MOST).contains(n));
    number.and_then(|n: u64| n.try_into().ok()).ok_or_else(|| {
        if MOST < u64::MAX {
            format!("expected a whole number between {LEAST} and {MOST}")
        } else {
            format!("expected a whole number, {LEAST} or more")
        }
    })
}

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

/// Seconds of which 0 means never.
pub(super) fn interval(text: &str) -> Result<f64, String> {
    not_negative(text).ok_or_else(|| "expected a number of seconds, 0 or more, such as 600".into())
}

/// A simulated time.
pub(super) fn moment(text: &str) -> Result<f64, String> {
    not_negative(text).ok_or_else(|| "expected a simulated time in seconds, 0 or more, such as 2.5".into())
}

fn not_negative(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x| *x >= 0.0 && f64::is_finite(*x))
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
    fn seconds_are_plain_numbers() {
        assert_eq!([interval("0"), interval("1e3"), moment("2.5")], [Ok(0.0), Ok(1e3), Ok(2.5)]);
        for wrong in ["1h", "-1", "inf", "nan", "", "1_000"] {
            assert!(interval(wrong).unwrap_err().contains("such as 600"), "{wrong}");
            assert!(moment(wrong).unwrap_err().contains("such as 2.5"), "{wrong}");
        }
    }

    #[test]
    fn counts_are_whole_numbers() {
        assert_eq!([whole::<u32, 1, 4096>("1"), whole::<u32, 1, 4096>("4096")], [Ok(1), Ok(4096)]);
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["0", "4097", "two", "1.5", "-1", ""] {
            let said = whole::<u32, 1, 4096>(wrong).unwrap_err();
            assert_eq!(said, "expected a whole number between 1 and 4096", "{wrong}");
        }
        for wrong in ["18446744073709551616", "-1", "many"] {
            assert_eq!(count::<u64>(wrong), Err("expected a whole number, 0 or more".into()));
            assert_eq!(ordinal::<u32>(wrong), Err("expected a whole number, 1 or more".into()));
        }
        assert!(ordinal::<u32>("0").is_err() && count::<u32>("4294967296").is_err());
    }

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("640x480"), Ok([640, 480]));
        assert!(["640", "0x480", "640x", "640x480x3", "99999x1", "-1x5"].iter().all(|text| size(text).is_err()));
    }
}
