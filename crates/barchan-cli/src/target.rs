//! What to run: a scenario by its name, or a scene file.

use crate::failure::Failure;
use barchan::scenario;
use barchan::scene::{Scene, SceneError};
use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

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
}

fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    path.is_file() || path.extension().is_some_and(|end| end == "toml") || name.contains(MAIN_SEPARATOR)
}
