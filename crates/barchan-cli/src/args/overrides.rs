//! `--set`, which several commands take.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Overrides {
    /// Sets a parameter of the scenario or a key of the scene, such as bodies=1000, solver.tolerance=1e-4 or
    /// material.sand.friction=0.3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
}

impl Overrides {
    /// What is set, on so many ranks: what grows with the number of ranks grows with theirs.
    pub(crate) fn on_ranks(&self, ranks: usize) -> Vec<(String, String)> {
        let mut set = self.set.clone();
        let has = |name: &str| set.iter().any(|(key, _)| key == name);
        if has("per_rank") && !has("ranks") {
            set.push(("ranks".into(), ranks.to_string()));
        }
        set
    }
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("expected a key, an equals sign and a value, such as bodies=1000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_split_at_the_first_equals_sign() {
        assert_eq!(key_value("a.b = c=d"), Ok(("a.b".into(), "c=d".into())));
        assert!(key_value("bodies").is_err() && key_value("=3").is_err());
    }
}
