//! Scenes with a name: set-ups of the papers and cases with a known answer.
//!
//! A scenario is a function from a few numbers to a [`Scene`]. To add one: write its file, with
//! a description that cites the source and the known answer, and add a line to [`SCENARIOS`].

mod arch;
mod bounce;
mod box_stack;
mod boxed;
mod chute;
mod column_collapse;
mod conveyor;
mod cradle;
mod dominoes;
mod drum;
mod empty;
mod excavator;
mod free_gas;
mod gas;
mod grains;
mod granular_gas;
mod head_on;
mod hexagonal_packing;
mod incline;
mod kapla_tower;
mod linkage;
mod mesh_funnel;
mod offers;
mod packing;
mod parameters;
mod pebbles;
mod rods;
mod rover;
mod scaling;
mod sedimentation;
mod shaken_box;
mod silo;
mod slide_to_roll;
mod slope;
mod soil;
mod vibrating_plate;
mod well;

pub use parameters::{Parameter, ParameterRange, Parameters};

use crate::scene::{Fault, Location, Scene, SceneError, top_level_keys};
use crate::util::words::{nearest, quoted};

/// A family of scenes with a name.
#[derive(Debug)]
pub struct Scenario {
    /// The name on the command line.
    pub name: &'static str,
    /// One line on what it shows.
    pub summary: &'static str,
    /// The numbers that may be chosen.
    pub parameters: &'static [Parameter],
    /// Makes the scene.
    pub build: fn(&Parameters) -> Scene,
}

/// Every scenario.
pub static SCENARIOS: &[&Scenario] = &[
    &sedimentation::SEDIMENTATION,
    &sedimentation::SHALLOW,
    &packing::SCENARIO,
    &shaken_box::SCENARIO,
    &hexagonal_packing::SCENARIO,
    &granular_gas::SCENARIO,
    &free_gas::SCENARIO,
    &column_collapse::SCENARIO,
    &silo::SCENARIO,
    &slope::SCENARIO,
    &chute::SCENARIO,
    &drum::SCENARIO,
    &vibrating_plate::SCENARIO,
    &conveyor::SCENARIO,
    &well::SCENARIO,
    &pebbles::SCENARIO,
    &rods::SCENARIO,
    &mesh_funnel::SCENARIO,
    &box_stack::SCENARIO,
    &kapla_tower::SCENARIO,
    &arch::SCENARIO,
    &dominoes::SCENARIO,
    &incline::SCENARIO,
    &slide_to_roll::SCENARIO,
    &bounce::SCENARIO,
    &head_on::SCENARIO,
    &cradle::SCENARIO,
    &linkage::PENDULUM_SCENARIO,
    &linkage::SLIDER_CRANK_SCENARIO,
    &linkage::FOUR_BAR_SCENARIO,
    &linkage::CHAIN_SCENARIO,
    &excavator::SCENARIO,
    &rover::SCENARIO,
    &empty::SCENARIO,
];

/// The scenario with this name.
///
/// # Errors
/// If there is none; the message names the nearest and all others.
pub fn find(name: &str) -> Result<&'static Scenario, SceneError> {
    SCENARIOS.iter().copied().find(|scenario| scenario.name == name).ok_or_else(|| {
        let names = || SCENARIOS.iter().map(|scenario| scenario.name);
        let hint = nearest(name, names()).map_or(".".into(), |best| format!("; did you mean \"{best}\"?"));
        let message = format!("there is no such scenario{hint} Known are {}", quoted(names()));
        SceneError::new(Location::Whole(format!("scenario \"{name}\"")), "", message)
    })
}

impl Scenario {
    /// The scene with some numbers chosen. A key that names a parameter sets it; any other is a
    /// dotted path into the resulting scene, as for [`Scene::from_toml_with`].
    ///
    /// # Errors
    /// If a key is unknown, or a value cannot be used.
    pub fn scene(&self, overrides: &[(String, String)]) -> Result<Scene, SceneError> {
        let mut parameters = Parameters::defaults(self.parameters);
        let mut rest = Vec::new();
        let mut faults = Vec::new();
        for (key, value) in overrides {
            let wrong = |message| Fault { place: Location::Override(key.clone()), path: String::new(), message };
            if let Some(parameter) = self.parameters.iter().find(|p| p.name == key) {
                match parameter.parse(value) {
                    Ok(number) => parameters.set(parameter.name, number),
                    Err(message) => faults.push(wrong(message)),
                }
            } else {
                faults.extend(self.known(key).err().map(wrong));
                rest.push((key.clone(), value.clone()));
            }
        }
        if !faults.is_empty() {
            return Err(SceneError { faults });
        }
        let mut scene = (self.build)(&parameters);
        let origin = format!("scenario \"{}\"", self.name);
        // What a scenario offers for adjustment follows what is set by hand, unless that is set too.
        let own = rest.iter().any(|(key, _)| key.starts_with("adjustable"));
        let offers = if own { Vec::new() } else { std::mem::take(&mut scene.adjustable) };
        if !rest.is_empty() {
            scene = Scene::from_toml_with(&scene.to_toml(), &origin, &rest)?;
        }
        offers.into_iter().for_each(|offer| scene.offer(offer));
        let fault = |p: crate::scene::InvalidValue| {
            let place = Location::Whole(origin.clone());
            Fault { place, path: p.path, message: p.message }
        };
        let faults: Vec<Fault> = scene.validate().into_iter().map(fault).collect();
        if faults.is_empty() { Ok(scene) } else { Err(SceneError { faults }) }
    }

    /// The scene as text for a user to start from. An empty one comes with examples behind comments.
    ///
    /// # Errors
    /// As for [`Scenario::scene`].
    pub fn to_toml(&self, overrides: &[(String, String)]) -> Result<String, SceneError> {
        let text = self.scene(overrides)?.to_toml();
        Ok(if self.name == empty::SCENARIO.name { text + empty::EXAMPLES } else { text })
    }

    /// A key must start with one of the scene's.
    fn known(&self, key: &str) -> Result<(), String> {
        let first = key.split(['.', '[']).next().unwrap_or(key);
        if top_level_keys().any(|known| known == first) {
            return Ok(());
        }
        let parameters = || self.parameters.iter().map(|p| p.name);
        let hint = nearest(first, parameters().chain(top_level_keys()));
        let hint = hint.map_or(".".into(), |best| format!("; did you mean \"{best}\"?"));
        Err(format!(
            "neither a parameter of {} nor a key of a scene{hint} Parameters are {}; keys of a scene start with {}",
            self.name,
            quoted(parameters()),
            quoted(top_level_keys()),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn every_scenario_reads_back_and_builds() {
        for scenario in SCENARIOS {
            let scene = scenario.scene(&[]).unwrap();
            let text = scene.to_toml();
            assert_eq!(Scene::from_toml(&text, "text").unwrap(), scene, "{text}");
            assert_eq!(scene.name, scenario.name);
            assert!(scene.description.len() > 60, "{} says what it shows", scenario.name);
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
            assert_eq!(scene.build().unwrap().bodies.len() as u64, scene.body_count());
        }
    }

    #[test]
    fn names_are_unique_and_parameters_hide_no_key() {
        for (i, scenario) in SCENARIOS.iter().enumerate() {
            assert!(SCENARIOS[..i].iter().all(|other| other.name != scenario.name));
            for p in scenario.parameters {
                assert!(top_level_keys().all(|key| key != p.name), "{} hides a key of the scene", p.name);
                assert!(p.parse(&format!("{:?}", p.default)).is_ok(), "{} has a default out of range", p.name);
            }
        }
    }

    #[test]
    fn overrides_reach_parameters_and_keys() {
        let scenario = find("sedimentation").unwrap();
        let scene = scenario.scene(&set(&[("bodies", "100"), ("solver.tolerance", "1e-4"), ("seed", "7")])).unwrap();
        assert_eq!((scene.body_count(), scene.solver.tolerance, scene.seed), (101, 1e-4, 7));
    }

    #[test]
    fn errors_name_the_override() {
        let scenario = find("sedimentation").unwrap();
        let error = |key, value| scenario.scene(&set(&[(key, value)])).unwrap_err().to_string();
        let unknown = error("bodeis", "100");
        assert!(unknown.starts_with("--set bodeis: ") && unknown.contains("did you mean \"bodies\"?"), "{unknown}");
        assert!(unknown.contains("\"radius\", \"friction\""), "{unknown}");
        assert_eq!(error("bodies", "many"), "--set bodies: must be a number, but is \"many\"");
        assert_eq!(error("bodies", "0"), "--set bodies: must be a whole number from 1 on, but is 0.0");
        assert_eq!(error("radius", "nan"), "--set radius: must be a finite number, but is NaN");
        assert_eq!(error("radius", "-1"), "--set radius: must be greater than 0, but is -1.0");
        assert_eq!(error("time.step", "0"), "--set time.step: must be greater than 0, but is 0.0");
        let find = find("sedimentaton").unwrap_err().to_string();
        assert!(find.contains("did you mean \"sedimentation\"?"), "{find}");
    }

    #[test]
    fn what_is_set_by_hand_keeps_what_is_offered_sound() {
        let scenario = find("shaken-box").unwrap();
        let of = |pairs: &[(&str, &str)]| scenario.scene(&set(&[&[("bodies", "5")], pairs].concat())).unwrap();
        let range = |scene: &Scene, key: &str| {
            scene.adjustable.iter().find(|entry| entry.key == key).map(|entry| [entry.min, entry.max])
        };
        assert_eq!(range(&of(&[]), "gravity.2"), Some([-20.0, 10.0]));
        assert_eq!(range(&of(&[("gravity", "[0, 0, -100]")]), "gravity.2"), Some([-100.0, 10.0]));
        assert_eq!(range(&of(&[("friction", "3")]), "material.0.friction"), Some([0.0, 3.0]));
        let fixed = of(&[("body.0", "{ shape = { half-space = {} } }")]);
        assert_eq!(range(&fixed, "body.0.oscillation.frequency"), None);
        assert_eq!(of(&[("adjustable", "[]")]).adjustable, []);
        let own = of(&[("adjustable.0.max", "50")]);
        assert_eq!(range(&own, "body.0.oscillation.frequency"), Some([0.0, 50.0]));
    }
}
