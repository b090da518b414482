//! The stage of impacts: passes until nothing closes fast any more, agreed on by all ranks.

use super::Simulation;
use crate::comm::Reduction;
use crate::dynamics::impact::{self, BodyState};
use crate::dynamics::{ContactArms, ImpactInput};

/// Memory of what ranks agree on, kept between steps.
#[derive(Default)]
pub(super) struct SharedImpacts {
    before: Vec<BodyState>,
    values: Vec<[f64; 6]>,
    places: Vec<[f64; 6]>,
}

impl Simulation {
    /// After it: no contact closes in this step faster than the threshold of restitution; bodies are where they
    /// would have started from with the velocities that they have now.
    pub(super) fn bounce(&mut self) {
        self.impacts.clear();
        if !self.world.materials.any_bounce() {
            return;
        }
        self.announce("impacts");
        self.impacts.start(&self.world.bodies, &self.free);
        let mut has_any = false;
        for _ in 0..impact::PASSES {
            if !self.find_impacts() {
                break;
            }
            has_any = true;
            self.collide();
        }
        if has_any {
            self.impacts.finish(&mut self.world.bodies, &mut self.free);
        } else {
            self.impacts.clear();
        }
    }

    /// Whether any contact of any rank closes.
    fn find_impacts(&mut self) -> bool {
        let arms = ContactArms { bodies: &self.world.bodies, contacts: &self.contacts };
        let (world, surfaces, options) = (&self.world, &self.surfaces, &self.options.contact);
        let input = ImpactInput { world, arms, surfaces, options, h: self.h };
        let mut closing = [self.impacts.find(&input) as f64];
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Sum, &mut closing);
        }
        closing[0] > 0.0
    }

    /// One pass over those that come first for both of their bodies, on whichever rank.
    fn collide(&mut self) {
        let SharedImpacts { before, values, places } = &mut self.shared_impacts;
        if let Some(domain) = &mut self.domain {
            let earliest = |&j: &u32| [self.impacts.earliest(j as usize), 0.0, 0.0, 0.0, 0.0, 0.0];
            values.clear();
            values.extend(domain.copied_bodies().iter().map(earliest));
            domain.combine_copies(Reduction::Min, values);
            before.clear();
            for (&j, value) in domain.copied_bodies().iter().zip(&*values) {
                self.impacts.set_earliest(j as usize, value[0]);
                before.push(self.impacts.state(j as usize));
            }
        }
        let arms = ContactArms { bodies: &self.world.bodies, contacts: &self.contacts };
        let (world, surfaces, options) = (&self.world, &self.surfaces, &self.options.contact);
        let input = ImpactInput { world, arms, surfaces, options, h: self.h };
        self.impacts.collide(&input);
        if let Some(domain) = &mut self.domain {
            values.clear();
            places.clear();
            for (&j, before) in domain.copied_bodies().iter().zip(&*before) {
                let [velocity, place] = self.impacts.change(j as usize, before);
                values.push(velocity);
                places.push(place);
            }
            domain.combine_copies(Reduction::Sum, values);
            domain.combine_copies(Reduction::Sum, places);
            let shared = domain.copied_bodies().iter().zip(&*before).zip(values.iter().zip(&*places));
            for ((&j, before), (&velocity, &place)) in shared {
                self.impacts.set_change(j as usize, before, &[velocity, place]);
            }
        }
    }
}
