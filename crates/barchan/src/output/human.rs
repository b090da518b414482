//! Numbers as people like to read them, and paths as they can type them.

use std::path::Path;

/// 1234567 as "1 234 567".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

/// A number of things: "1 body", "1 000 bodies".
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Four digits, with an exponent only where it is shorter.
pub fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-3..6).contains(&magnitude) {
        let text = format!("{x:.3e}");
        return text.split_once('e').map_or(text.clone(), |(digits, power)| format!("{}e{power}", trimmed(digits)));
    }
    trimmed(&format!("{x:.*}", usize::try_from(3 - magnitude).unwrap_or(0))).into()
}

/// Without zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Seconds in the unit that suits them.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:02.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

/// Bytes in kB, MB, GB or TB.
pub fn bytes(n: u64) -> String {
    match n as f64 {
        n if n < 1e6 => format!("{:.0} kB", (n / 1e3).ceil()),
        n if n < 1e9 => format!("{:.0} MB", n / 1e6),
        n if n < 1e12 => format!("{:.2} GB", n / 1e9),
        n => format!("{:.2} TB", n / 1e12),
    }
}

/// A path as it can be typed into a shell.
pub fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "-_./+:@%=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_can_be_typed() {
        assert_eq!(typed(Path::new("runs/bed-2")), "runs/bed-2");
        assert_eq!(typed(Path::new("my run")), "'my run'");
        assert_eq!(typed(Path::new("it's")), "'it'\\''s'");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(grouped(12), "12");
        let bodies = [0, 1, 1000].map(|n| counted(n, "body", "bodies"));
        assert_eq!(bodies, ["0 bodies", "1 body", "1 000 bodies"]);
        assert_eq!([short(0.6), short(1234.56), short(-1.25e-5), short(0.0)], ["0.6", "1235", "-1.25e-5", "0"]);
        assert_eq!([short(1e-4), short(3.14159e7), short(100.0)], ["1e-4", "3.142e7", "100"]);
        assert_eq!([duration(2e-5), duration(3.25), duration(125.0)], ["20 µs", "3.2 s", "2 min 05 s"]);
        assert_eq!([bytes(2_100), bytes(3_000_000), bytes(1_500_000_000)], ["3 kB", "3 MB", "1.50 GB"]);
        assert_eq!(bytes(2_250_000_000_000), "2.25 TB");
    }
}
