//! The neighbourhood that holds up a solve, as a problem of its own.
//!
//! Where few contacts of a large problem are hard, as those of grains that a body of a million times their mass jams
//! against a wall, sweeps over all of it get no nearer. Solved by themselves, with the impulses of all others as they
//! stand, such contacts are a small problem, and small problems have better methods than sweeps. This is one step of
//! block Gauss–Seidel with a single large block.

use crate::problem::cone::project;
use crate::{
    BodyVec, ConeProblem, ContactScalars, ContactVec, Friction, Geometry, MatrixFree, Problem, ProblemRef, Workspace,
};
use glam::DVec3;
use std::cmp::Reverse;

/// The part of the squared residual that has to lie in a patch, for it to be worth a solve.
const LOCAL: f64 = 0.5;
/// The part of it that the contacts hold from which a patch grows.
const SEEDS: f64 = 0.9;
/// A body so many times as heavy as another that it touches is heavy.
const HEAVY: f64 = 1e3;

/// Which contacts a patch grows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Around {
    /// Those with most of the residual.
    Errors,
    /// Those of bodies that are much heavier than some that they touch, if around them the residual, in units of what it
    /// is there without impulses, is above this. Over the whole of a large problem it may be small all the same.
    Heavy(f64),
}

/// Some contacts of a problem, as a problem of its own.
pub(crate) struct Patch {
    /// The problem: what it calls bias has the impulses of all other contacts in it.
    pub(crate) problem: Problem,
    /// Which contacts they are, ascending.
    pub(crate) contacts: Vec<u32>,
    /// Their impulses.
    pub(crate) γ: ContactVec,
    /// ‖γ − Π(γ − ηg)‖/η at the tolerance 1, of the whole problem: the unit of speeds in which it is solved.
    pub(crate) unit: f64,
}

impl MatrixFree<'_> {
    /// The neighbourhood, of at most so many contacts, of those that hold up a solve which has come to γ with the response
    /// w; none if they are too many or too far apart, or if the problem is spread over ranks.
    pub(crate) fn patch(&mut self, γ: &ContactVec, w: &BodyVec, around: Around, most: usize) -> Option<Patch> {
        if self.comm.is_some() {
            return None;
        }
        let mut g = ContactVec::default();
        let contacts = match around {
            Around::Errors => {
                self.gradient_at(γ, w, &mut g);
                let errors: Vec<f64> = (0..γ.len()).map(|i| self.error(i, γ.get(i), g.get(i))).collect();
                let seeds = worst(&errors, most)?;
                self.problem.neighbourhood(seeds, most)
            }
            Around::Heavy(tolerance) => {
                let seeds = self.problem.contacts_of_heavy_bodies();
                if seeds.is_empty() || seeds.len() > most {
                    return None;
                }
                let contacts = self.problem.neighbourhood(seeds, most);
                self.gradient_at(γ, w, &mut g);
                if self.residual_of(&contacts, γ, &g) <= tolerance {
                    return None;
                }
                contacts
            }
        };
        let mut problem = self.problem.restrict(&contacts, &g);
        let γ = ContactVec::from_slice(&contacts.iter().map(|&i| γ.get(i as usize)).collect::<Vec<_>>());
        // The velocities have the impulses of the patch in them: these are taken out.
        let mut without = problem.bias.clone();
        let mut workspace = Workspace::default();
        let mut of_patch = MatrixFree::new(&problem, &mut workspace);
        of_patch.gradient(&γ, &mut g);
        for i in 0..contacts.len() {
            without.set(i, 2.0 * problem.bias.get(i) - g.get(i));
        }
        problem.bias = without;
        Some(Patch { problem, contacts, γ, unit: self.natural_unit / self.η })
    }

    /// The natural residual of some contacts, in units of what it is for them without impulses.
    fn residual_of(&self, contacts: &[u32], γ: &ContactVec, g: &ContactVec) -> f64 {
        let mut squares = [0.0; 2];
        for i in contacts.iter().map(|&i| i as usize) {
            squares[0] += self.error(i, γ.get(i), g.get(i));
            squares[1] += self.error(i, DVec3::ZERO, self.problem.bias.get(i));
        }
        let [error, unit] = squares.map(f64::sqrt);
        if error == 0.0 { 0.0 } else { error / unit }
    }

    /// What a contact with this impulse and velocity adds to the square of the natural residual.
    fn error(&self, contact: usize, γ: DVec3, mut g: DVec3) -> f64 {
        let (n, μ, ε) = (self.problem.normals.get(contact), self.problem.friction[contact], self.problem.slip_rounding);
        if self.law == Friction::Coulomb {
            let t = g - n * g.dot(n);
            g += n * (μ * ((t.length_squared() + ε * ε).sqrt() - ε));
        }
        (γ - project(γ - self.η * g, n, μ)).length_squared()
    }
}

/// The contacts that hold most of the squared residual; none if even the worst `most` hold too little of it.
fn worst(errors: &[f64], most: usize) -> Option<Vec<u32>> {
    let total: f64 = errors.iter().sum();
    let mut order: Vec<u32> = (0..errors.len() as u32).collect();
    // By size, and by place among equals. Errors are not negative, so that their bits are ordered as they are.
    order.sort_by_key(|&i| (Reverse(errors[i as usize].to_bits()), i));
    let mut held = 0.0;
    let is_needed = |i: &u32| {
        let is_needed = held < SEEDS * total;
        held += errors[*i as usize];
        is_needed
    };
    order = order.into_iter().take(most).take_while(is_needed).collect();
    let held: f64 = order.iter().map(|&i| errors[i as usize]).sum();
    (held >= LOCAL * total).then_some(order)
}

impl ProblemRef<'_> {
    /// The contacts of bodies that are much heavier than some that they touch.
    fn contacts_of_heavy_bodies(&self) -> Vec<u32> {
        let is_lighter = |w: f64, than: f64| than > 0.0 && w > HEAVY * than;
        let mut is_heavy = Vec::new();
        for &[a, b] in self.pairs {
            let [of_a, of_b] = [a, b].map(|j| self.inverse_mass[j as usize]);
            for (heavy, _) in [(a, is_lighter(of_b, of_a)), (b, is_lighter(of_a, of_b))].iter().filter(|x| x.1) {
                is_heavy.resize(self.bodies(), false);
                is_heavy[*heavy as usize] = true;
            }
        }
        if is_heavy.is_empty() {
            return Vec::new();
        }
        let touches = |i: &u32| self.pairs[*i as usize].iter().any(|&j| is_heavy[j as usize]);
        (0..self.contacts() as u32).filter(touches).collect()
    }

    /// These contacts and those around them, layer by layer until they are `most`; ascending.
    fn neighbourhood(&self, seeds: Vec<u32>, most: usize) -> Vec<u32> {
        let mut is_in = vec![false; self.contacts()];
        seeds.iter().for_each(|&i| is_in[i as usize] = true);
        let mut found = seeds;
        let (first, of_body) = self.contacts_of_bodies();
        let mut next = 0;
        while next < found.len() && found.len() < most {
            for j in self.pairs[found[next] as usize].into_iter().filter(|&j| self.moves(j)) {
                for &i in &of_body[first[j as usize]..first[j as usize + 1]] {
                    if found.len() < most && !std::mem::replace(&mut is_in[i as usize], true) {
                        found.push(i);
                    }
                }
            }
            next += 1;
        }
        found.sort_unstable();
        found
    }

    /// The contacts of every body that can move, one after the other, and where each body's begin.
    fn contacts_of_bodies(&self) -> (Vec<usize>, Vec<u32>) {
        let mut first = vec![0; self.bodies() + 2];
        for &j in self.pairs.iter().flatten() {
            first[j as usize + 2] += 1;
        }
        for j in 2..first.len() {
            first[j] += first[j - 1];
        }
        let mut contacts = vec![0; 2 * self.contacts()];
        for (i, pair) in self.pairs.iter().enumerate() {
            for &j in pair {
                contacts[first[j as usize + 1]] = i as u32;
                first[j as usize + 1] += 1;
            }
        }
        (first, contacts)
    }

    /// The problem of some of the contacts, ascending, and of their bodies, with this bias.
    fn restrict(&self, contacts: &[u32], bias: &ContactVec) -> Problem {
        let at = |i: &u32| *i as usize;
        let mut bodies: Vec<u32> = contacts.iter().flat_map(|i| self.pairs[at(i)]).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let place = |j: u32| bodies.partition_point(|&k| k < j) as u32;
        let vectors =
            |v: &ContactVec| ContactVec::from_slice(&contacts.iter().map(|i| v.get(at(i))).collect::<Vec<_>>());
        let column = |v: &[f64]| bodies.iter().map(|j| v[at(j)]).collect::<Vec<_>>();
        let mut problem = Problem {
            inverse_mass: column(self.inverse_mass),
            geometry: Geometry::round(column(&self.geometry.radius), column(&self.geometry.inverse_inertia)),
            pairs: contacts.iter().map(|i| self.pairs[at(i)].map(place)).collect(),
            normals: vectors(self.normals),
            friction: ContactScalars::from_slice(&contacts.iter().map(|i| self.friction[at(i)]).collect::<Vec<_>>()),
            rows: Vec::new(),
            bias: vectors(bias),
            slip_rounding: self.slip_rounding,
        };
        for (k, j) in bodies.iter().enumerate() {
            if let Some(tensor) = self.geometry.tensors.of(at(j)) {
                problem.geometry.tensors.push(k as u32, *tensor);
            }
        }
        let round = contacts.partition_point(|i| at(i) < self.round());
        let arms: Vec<[DVec3; 2]> = contacts[round..].iter().map(|i| self.scaled_arms(at(i))).collect();
        problem.set_arms(&arms);
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of bodies on the floor and in contact with the next, some with a tensor; one is heavy.
    fn row() -> Problem {
        let n = 40;
        let mass = |j: usize| match j {
            0 => 0.0,
            20 => 1e-5,
            _ => 1.0 + 0.1 * (j % 7) as f64,
        };
        let mut pairs: Vec<[u32; 2]> = (1..n).map(|j| [j, 0]).chain((2..n).map(|j| [j, j - 1])).collect();
        pairs.sort_unstable();
        let turned = |i: usize| DVec3::new((i as f64).sin(), 0.3 * (2.0 * i as f64).cos(), 1.0).normalize();
        let m = pairs.len();
        let problem = Problem {
            inverse_mass: (0..n as usize).map(mass).collect(),
            geometry: Geometry::round(vec![0.1; n as usize], (0..n as usize).map(|j| 200.0 * mass(j)).collect()),
            pairs,
            normals: ContactVec::from_slice(&(0..m).map(turned).collect::<Vec<_>>()),
            friction: ContactScalars::from_slice(&vec![0.4; m]),
            rows: Vec::new(),
            bias: ContactVec::from_slice(&(0..m).map(|i| -0.1 * turned(i + 3)).collect::<Vec<_>>()),
            slip_rounding: 1e-3,
        };
        let (problem, _) = problem.with_tensors(|j| j % 5 == 2);
        assert_eq!(problem.check(), Ok(()));
        problem
    }

    /// In a patch contacts have the velocities that they have in the whole problem.
    #[test]
    fn a_patch_has_the_impulses_of_all_others_in_its_bias() {
        let problem = row();
        let (mut workspace, mut of_patch) = (Workspace::default(), Workspace::default());
        let mut whole = MatrixFree::new(&problem, &mut workspace);
        whole.set_law(Friction::Coulomb);
        let (mut γ, mut w, mut g) = (problem.bias.clone(), BodyVec::default(), ContactVec::default());
        whole.project(&mut γ);
        whole.respond_to(&γ, &mut w);
        whole.gradient_at(&γ, &w, &mut g);
        for around in [Around::Errors, Around::Heavy(1e-3)] {
            let patch = whole.patch(&γ, &w, around, 60).expect("a patch");
            assert!(patch.contacts.len() == 60 && patch.contacts.is_sorted(), "{around:?}");
            assert_eq!(patch.problem.check(), Ok(()));
            let mut velocities = ContactVec::default();
            MatrixFree::new(&patch.problem, &mut of_patch).gradient(&patch.γ, &mut velocities);
            for (k, &i) in patch.contacts.iter().enumerate() {
                assert_eq!(patch.γ.get(k), γ.get(i as usize));
                let difference = (velocities.get(k) - g.get(i as usize)).length();
                assert!(difference < 1e-12, "{around:?}: contact {i} is off by {difference}");
            }
        }
    }

    #[test]
    fn patches_grow_around_errors_that_are_near_and_bodies_that_are_heavy() {
        let problem = row();
        let p = problem.view();
        // One contact in a hundred has all, or all have the same.
        assert_eq!(worst(&[0.0, 3.0, 0.0, 4.0], 4), Some(vec![3, 1]));
        assert_eq!(worst(&[1.0; 100], 10), None);
        let heavy = p.contacts_of_heavy_bodies();
        assert!(heavy.len() == 3 && heavy.iter().all(|&i| p.pairs[i as usize].contains(&20)));
        // Layer by layer, and not through the floor.
        let near = p.neighbourhood(heavy, 9);
        assert!(near.iter().all(|&i| p.pairs[i as usize].iter().all(|j| [0, 17, 18, 19, 20, 21, 22, 23].contains(j))));
    }
}
