//! What to run: a scenario by its name, or a scene file.

use crate::failure::{Failure, note};
use barchan::scenario;
use barchan::scene::{Scene, SceneError};
use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

/// Warnings that are told before a run.
const MOST: usize = 10;

/// A scene and where it came from.
pub(crate) struct Target {
    /// The scene, with all overrides applied.
    pub(crate) scene: Scene,
    /// Name and text of the file, if it is one.
    file: Option<(String, String)>,
    overrides: Vec<(String, String)>,
}

impl Target {
    /// Reads a scene file, or makes the scene of a scenario.
    pub(crate) fn load(name: &str, overrides: Vec<(String, String)>) -> Result<Self, Failure> {
        if !is_file(name) {
            let scene = scenario::find(name)?.scene(&overrides)?;
            return Ok(Self { scene, file: None, overrides });
        }
        let text = fs::read_to_string(name).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
        let scene = Scene::from_toml_with(&text, name, &overrides)?;
        Ok(Self { scene, file: Some((name.into(), text)), overrides })
    }

    /// An error of building the scene, with the line of the file that is to blame.
    pub(crate) fn blame(&self, error: SceneError) -> Failure {
        match &self.file {
            Some((name, text)) => error.located(text, name, &self.overrides).into(),
            None => error.into(),
        }
    }

    /// What is probably not meant, with the lines of the file.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut found = SceneError { faults: self.scene.warnings() };
        if let Some((name, text)) = &self.file {
            found = found.located(text, name, &self.overrides);
        }
        found.faults.iter().map(ToString::to_string).collect()
    }

    /// Tells warnings on standard error; of very many only the first.
    pub(crate) fn warn(&self) {
        let warnings = self.warnings();
        warnings.iter().take(MOST).for_each(|warning| note(format_args!("WARNING: {warning}")));
        if warnings.len() > MOST {
            note(format_args!("WARNING: {} more such warnings; `barchan check` tells all", warnings.len() - MOST));
        }
    }
}

fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    path.is_file() || path.extension().is_some_and(|end| end == "toml") || name.contains(MAIN_SEPARATOR)
}
