//! Names in messages: the nearest one, and lists of them.

/// The candidate most like `word`, if one is like it at all.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let score = |candidate: &str| {
        let a = word.replace('-', "_");
        let b = candidate.to_lowercase().replace('-', "_");
        if a == b {
            1.0
        } else {
            strsim::normalized_damerau_levenshtein(&a, &b).max(0.8 * strsim::jaro_winkler(&a, &b))
        }
    };
    let best = candidates.into_iter().map(|c| (score(c), c)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= 0.6).then_some(best.1)
}

/// The names in quotes, separated by commas.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_near_or_nothing() {
        let keys = ["tolerance", "max_iterations", "warm_start"];
        assert_eq!(nearest("tolernce", keys), Some("tolerance"));
        assert_eq!(nearest("max-iterations", keys), Some("max_iterations"));
        assert_eq!(nearest("iterations", keys), Some("max_iterations"));
        assert_eq!(nearest("colour", keys), None);
    }
}
