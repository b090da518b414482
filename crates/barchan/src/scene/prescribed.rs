//! Checks of prescribed motions and of surfaces that move: who may have them, and whether they can be followed.

use super::BodySpec;
use super::validate::Check;
use crate::util::formula::{Formula, VectorFormula};
use crate::world::{Motion, Waypoints};
use glam::DVec3;

/// Times between the start and the end of a run at which formulas are tried.
const TRIALS: u32 = 256;
/// What lies beyond it is not tried, s.
const LATEST: f64 = 1e6;

impl Check<'_> {
    /// The motion of a body that is prescribed, and that of its surface.
    pub(super) fn prescribed(&mut self, path: &str, body: &BodySpec) {
        let at = |key: &str| format!("{path}.{key}");
        let only_kinematic = [
            ("oscillation", body.oscillation.is_some(), "can be shaken"),
            ("path", body.path.is_some(), "has a path"),
            ("waypoints", body.waypoints.is_some(), "has waypoints"),
            ("turn", body.turn.is_some(), "is turned by a formula"),
        ];
        for (key, is_there, what) in only_kinematic {
            self.report_if(is_there && body.motion != Motion::Kinematic, &at(key), || {
                format!("only a kinematic body {what}; use motion = \"kinematic\"")
            });
        }
        body.oscillation.iter().for_each(|o| self.not_negative(&at("oscillation.frequency"), o.frequency));
        body.path.iter().for_each(|formulas| self.formulas(&at("path"), formulas));
        body.waypoints.iter().for_each(|waypoints| self.waypoints(&at("waypoints"), waypoints));
        if let Some(turn) = &body.turn {
            self.report_if(body.angular_velocity != DVec3::ZERO, &at("turn"), || {
                "give a turn or an angular_velocity, not both".into()
            });
            self.report_if(
                turn.axis.normalize_or_zero() == DVec3::ZERO && turn.axis.is_finite(),
                &at("turn.axis"),
                || "must not be zero".into(),
            );
            self.formula(&at("turn.angle"), &turn.angle);
        }
        if let Some(velocity) = &body.surface_velocity {
            self.report_if(body.motion == Motion::Dynamic, &at("surface_velocity"), || {
                "the surface of a dynamic body does not move by itself; use motion = \"fixed\" or \"kinematic\"".into()
            });
            self.formulas(&at("surface_velocity"), velocity);
        }
    }

    /// Times must ascend, and each has its place.
    fn waypoints(&mut self, path: &str, waypoints: &Waypoints) {
        let Waypoints { times, positions, repeat, .. } = waypoints;
        self.report_if(times.len() < 2, &format!("{path}.times"), || {
            format!("at least two times are needed, found {}", times.len())
        });
        self.report_if(times.len() != positions.len(), &format!("{path}.positions"), || {
            format!("found {} positions for {} times", positions.len(), times.len())
        });
        for (k, pair) in times.windows(2).enumerate() {
            self.report_if(pair[1] <= pair[0], &format!("{path}.times[{}]", k + 1), || {
                format!("must be later than the time before, {:?}, but is {:?}", pair[0], pair[1])
            });
        }
        self.report_if(*repeat && positions.first() != positions.last(), &format!("{path}.positions"), || {
            "what repeats must end where it begins: the last position must be the first".into()
        });
    }

    fn formulas(&mut self, path: &str, formulas: &VectorFormula) {
        for (axis, formula) in formulas.0.iter().enumerate() {
            self.formula(&format!("{path}[{axis}]"), formula);
        }
    }

    /// A formula must have a value throughout the run, as far as can be seen.
    fn formula(&mut self, path: &str, formula: &Formula) {
        let end = self.scene.time.end;
        let end = if end > 0.0 { end.min(LATEST) } else { 0.0 };
        let times = (0..=TRIALS).map(|k| end * f64::from(k) / f64::from(TRIALS));
        let wrong = times.map(|t| (t, formula.at(t))).find(|(_, value)| !value.is_finite());
        // Numbers that are not finite have been found by the walk over all of them.
        if let Some((t, value)) = wrong.filter(|_| self.is_clean(path)) {
            self.report_if(true, path, || format!("must be finite throughout the run, but is {value} at t = {t:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::Scene;
    use glam::DVec3;

    /// The faults of a ball with these lines, on line 2 and below.
    fn faults(lines: &str) -> String {
        let text = format!("[[body]]\n{lines}\nshape = {{ sphere = {{ radius = 0.1 }} }}\n");
        Scene::from_toml(&text, "a.toml").err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn faults_have_their_line_and_key() {
        let moving = "motion = \"kinematic\"\n";
        let starts = [
            ("path = [\"t\", 0, 0]", "a.toml:2: body[0].path: only a kinematic body has a path"),
            (
                "waypoints = { times = [0, 1], positions = [[0, 0, 0], [1, 0, 0]] }",
                "a.toml:2: body[0].waypoints: only a",
            ),
            ("turn = { axis = [0, 0, 1], angle = \"t\" }", "a.toml:2: body[0].turn: only a kinematic body is turned"),
            ("surface_velocity = [1, 0, 0]", "a.toml:2: body[0].surface_velocity: the surface of a dynamic body"),
        ];
        for (lines, start) in starts {
            assert!(faults(lines).starts_with(start) && !faults(lines).contains('\n'), "{}", faults(lines));
            assert_eq!(faults(&format!("{moving}{lines}")), "");
        }
        let starts = [
            (
                "path = [\"0.1*sine(t)\", 0, 0]",
                "body[0].path[0]: column 5: unknown function \"sine\"; did you mean \"sin\"?",
            ),
            (
                "path = [0, \"(1 + t\", 0]",
                "body[0].path[1]: column 7: found the end, expected \")\" for the \"(\" of column 1",
            ),
            (
                "path = [0, 0, true]",
                "body[0].path[2]: found the value true, expected a number or a formula of the time t",
            ),
            ("path = [0, 0]", "body[0].path: found an array of 2"),
            ("path = [0, 0, 0, 0]", "body[0].path: found an array of 4, expected an array of 3"),
            (
                "path = [0, \"1/(t - 0.5)\", 0]",
                "body[0].path[1]: must be finite throughout the run, but is inf at t = 0.5",
            ),
            ("path = [0, inf, 0]", "body[0].path[1]: must be a finite number"),
            ("turn = { axis = [0, 0, 0], angle = 1 }", "body[0].turn.axis: must not be zero"),
            ("turn = { axis = [0, 0, 1], angle = \"sqrt(-t)\" }", "body[0].turn.angle: must be finite"),
            ("waypoints = { times = [0], positions = [[0, 0, 0]] }", "body[0].waypoints.times: at least two times"),
            (
                "waypoints = { times = [0, 1], positions = [[0, 0, 0]] }",
                "body[0].waypoints.positions: found 1 positions for 2",
            ),
            (
                "waypoints = { times = [0, 2, 2], positions = [[0, 0, 0], [1, 0, 0], [0, 0, 0]] }",
                "body[0].waypoints.times[2]: must be later than the time before, 2.0, but is 2.0",
            ),
            (
                "waypoints = { times = [0, 1], positions = [[0, 0, 0], [1, 0, 0]], repeat = true }",
                "body[0].waypoints.positions: what repeats must end where it begins",
            ),
            ("surface_velocity = [\"speed\", 0, 0]", "body[0].surface_velocity[0]: column 1: unknown name \"speed\""),
        ];
        for (lines, start) in starts {
            let found = faults(&format!("{moving}{lines}"));
            assert!(found.starts_with(&format!("a.toml:3: {start}")) && !found.contains('\n'), "{found}\n{start}");
        }
        let both =
            faults(&format!("{moving}turn = {{ axis = [0, 0, 1], angle = \"t\" }}\nangular_velocity = [0, 0, 1]"));
        assert!(both.starts_with("a.toml:3: body[0].turn: give a turn or an angular_velocity"), "{both}");
    }

    #[test]
    fn bodies_start_where_their_motion_has_them() {
        let text = "[[body]]\nshape = { box = { half_extents = [1, 1, 1] } }\nmotion = \"kinematic\"\n\
                    position = [1, 2, 3]\npath = [\"cos(t)\", 0, 0]\nturn = { axis = [0, 0, 2], angle = \"1 + t\" }\n\
                    waypoints = { times = [1, 2], positions = [[0, 0, 1], [0, 0, 2]] }\n";
        let world = Scene::from_toml(text, "a.toml").unwrap().build().unwrap();
        assert_eq!(world.bodies.position[0], DVec3::new(2.0, 2.0, 4.0));
        let turned = world.bodies.orientation[0] * DVec3::X;
        assert!((turned - DVec3::new(1f64.cos(), 1f64.sin(), 0.0)).length() < 1e-15, "{turned}");
    }
}
