use super::*;
use std::f64::consts::{E, PI};

fn value(text: &str, t: f64) -> f64 {
    text.parse::<Formula>().unwrap_or_else(|error| panic!("{text}: {error}")).at(t)
}

fn error(text: &str) -> String {
    text.parse::<Formula>().expect_err(text).to_string()
}

#[test]
fn values_are_those_of_rust() {
    for k in -20..=20 {
        let t = 0.37 * f64::from(k);
        let pairs = [
            ("0.01*sin(2*pi*50*t)", 0.01 * (2.0 * PI * 50.0 * t).sin()),
            ("1 - t - 2", 1.0 - t - 2.0),
            ("12/t/3", 12.0 / t / 3.0),
            ("-t^2", -t.powf(2.0)),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("(1 + t)*3e-1", (1.0 + t) * 3e-1),
            ("- - t + +1", t + 1.0),
            ("cos(t) + tan(t)*e", t.cos() + t.tan() * E),
            ("asin(t) + acos(t)", t.asin() + t.acos()),
            ("atan(t) - atan2(t, 2)", t.atan() - t.atan2(2.0)),
            ("exp(-t)*ln(abs(t))", (-t).exp() * t.abs().ln()),
            ("sqrt(t)", t.sqrt()),
            ("min(t, 1) + max(t, .5)", t.min(1.0) + t.max(0.5)),
            ("floor(t)", t.floor()),
            ("sign(t)", if t == 0.0 { 0.0 } else { t.signum() }),
            ("step(t - 0.37)", if t - 0.37 >= 0.0 { 1.0 } else { 0.0 }),
            ("clamp(t, -1, 1.)", t.clamp(-1.0, 1.0)),
            ("smooth(t/2)", (t / 2.0).clamp(0.0, 1.0).powi(2) * (3.0 - 2.0 * (t / 2.0).clamp(0.0, 1.0))),
            ("if(t < 1, sqrt(1 - t), -t)", if t < 1.0 { (1.0 - t).sqrt() } else { -t }),
            ("(0 <= t)*(t < 2) + (t == 0) - (t != 0)", {
                f64::from(u8::from((0.0..2.0).contains(&t))) + if t == 0.0 { 1.0 } else { -1.0 }
            }),
            ("2*e", 2.0 * E),
            (" \t1\n+ 1 ", 2.0),
        ];
        for (text, expected) in pairs {
            let found = value(text, t);
            assert!(found == expected || found.is_nan() && expected.is_nan(), "{text} at {t}: {found}, {expected}");
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let starts = [
        ("", "column 1: found the end, expected a number, a name, a sign or \"(\""),
        ("1 +", "column 4: found the end, expected a number"),
        ("2pi", "column 2: found \"pi\", expected an operator or the end"),
        ("2*(t + 1", "column 9: found the end, expected \")\" for the \"(\" of column 3"),
        ("sin(t))", "column 7: found \")\", expected an operator or the end"),
        ("0.01*sine(t)", "column 6: unknown function \"sine\"; did you mean \"sin\"? Known are \"sin\", "),
        ("x + 1", "column 1: unknown name \"x\". Known are \"t\", \"pi\", \"e\""),
        ("time", "column 1: unknown name \"time\""),
        ("sin", "column 4: found the end, expected \"(\" after the function \"sin\""),
        ("min(1)", "column 1: \"min\" takes 2 values, found 1"),
        ("1 + abs(1, t)", "column 5: \"abs\" takes 1 value, found more"),
        ("max()", "column 5: found \")\", expected a number"),
        ("0 < t < 1", "column 7: found \"<\", expected no second comparison"),
        ("1e999", "column 1: \"1e999\" is not a finite number"),
        (".", "column 1: \".\" is not a finite number"),
        ("µ·t", "column 1: unknown name \"µ\""),
        ("t·2", "column 2: found \"·\", expected an operator or the end"),
        ("π", "column 1: unknown name \"π\""),
    ];
    for (text, start) in starts {
        assert!(error(text).starts_with(start), "{text}: {}", error(text));
    }
    for deep in ["(", "-(", "2^", "if(1,", "1+(2*3^"] {
        let text = deep.repeat(5000);
        assert!(error(&text).contains("more than 64 brackets"), "{deep}");
    }
    // Long is not deep.
    assert_eq!(value(&format!("{}1", "1+".repeat(5000)), 0.0), 5001.0);
    assert_eq!(value(&format!("{}1", "-".repeat(5001)), 0.0), -1.0);
}

/// Random texts of the words of formulas, and random bytes: an error or a value, and never a panic.
#[test]
fn no_text_is_too_strange() {
    let words: Vec<&str> = FUNCTIONS.iter().map(|entry| entry.0).collect();
    let signs = [
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "^",
        "<",
        "<=",
        "==",
        "!=",
        "t",
        "pi",
        "e",
        "1",
        "2.5",
        "1e-3",
        ".",
        " ",
        "é",
        "=",
        "\"",
        "\u{1F600}",
        "0",
        "_",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut sound = 0;
    for _ in 0..200_000 {
        let length = 1 + random(12);
        let text: String = (0..length)
            .map(|_| if random(3) == 0 { words[random(words.len())] } else { signs[random(signs.len())] })
            .collect();
        match text.parse::<Formula>() {
            Ok(formula) => {
                sound += 1;
                for t in [-1.0, 0.0, 0.3, 1e300, f64::NAN, f64::INFINITY] {
                    let _ = formula.at(t);
                }
                assert_eq!(formula.text(), text);
            }
            Err(error) => assert!((1..=1 + text.chars().count()).contains(&error.column), "{text}: {error}"),
        }
    }
    assert!(sound > 1000, "only {sound} formulas");
}

#[test]
fn what_is_written_reads_back() {
    let texts = ["\"sin(t)\"", "0.25", "-0.0", "\"0\"", "\"-.5\"", "1e300", "\" t \""];
    for text in texts {
        let formula: Formula = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&formula).unwrap().replace("1e+300", "1e300"), text);
        let mut bytes = Vec::new();
        formula.pack(&mut bytes);
        let back = Unpacker::new(&bytes).take::<Formula>().unwrap();
        assert_eq!(back, formula);
        assert_eq!(back.at(0.3).to_bits(), formula.at(0.3).to_bits());
        for length in 0..bytes.len() {
            assert!(Unpacker::new(&bytes[..length]).take::<Formula>().is_none());
        }
    }
    assert_eq!(serde_json::from_str::<Formula>("3").unwrap(), Formula::from(3.0));
    let vector: VectorFormula = serde_json::from_str("[\"t\", 1, \"2*t\"]").unwrap();
    assert_eq!(vector.at(2.0), DVec3::new(2.0, 1.0, 4.0));
    assert_eq!(VectorFormula::from(DVec3::X).at(9.0), DVec3::X);
}
