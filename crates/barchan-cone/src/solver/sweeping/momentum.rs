//! Nesterov's momentum between sweeps, and how much of it Coulomb's law bears.
//!
//! Under the associated law a sweep never raises the objective, and momentum is dropped when it points
//! uphill. Coulomb's law has no objective: the residual has to tell there whether momentum has led
//! astray, and how much of it is safe is found by trying.

use crate::solver::stopping::Stopping;
use crate::{Friction, Rule, Swept};

/// Momentum after k sweeps without restart is β = k/(k + r), where r goes from 2 to 5 in the first
/// hundred sweeps. A small r is best for few digits, and makes the residual swing later. To S1's
/// residual of 1e-3, 3 throughout took 15 to 52 % more sweeps on three settled beds of 25 000.
const EAGER: f64 = 2.0;
const DAMPED: f64 = 5.0;
const EAGER_SWEEPS: f64 = 100.0;
/// After so many sweeps momentum grows with their root. All of it needs up to a fifth more sweeps to
/// 1e-4, and a limit of 0.98 twice as many to 1e-6.
const SWINGING: f64 = 200.0;
/// A residual so many times the best under Coulomb's law means that momentum has led astray.
const ASTRAY: f64 = 4.0;
/// So do so many sweeps without a better one: too much momentum may keep the residual swinging just
/// above the best. Half as many are too few where it swings and still falls.
const SWINGS: u32 = 200;
/// The largest momentum under Coulomb's law, to begin with. A sweep is not a gradient's there, and
/// all of it may be too much: on settled beds 0.9 is best, and 0.95 leads astray. It grows when
/// the residual has halved in not too few sweeps, and shrinks when it has led astray.
const CAUTIOUS: f64 = 0.9;
/// The same where De Saxcé's term lags behind and is rounded off.
const LAGGED: f64 = 0.95;
const BOLDER: f64 = 0.8;
const HUMBLER: f64 = 4.0;
/// Sweeps of progress after which momentum may grow.
const PROGRESS: u32 = 50;

/// Which momentum a method has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acceleration {
    /// None at all.
    None,
    /// Nesterov's, dropped when it points uphill if `restart` says so.
    Nesterov { restart: bool },
}

/// The momentum of a solve.
pub(super) struct Momentum {
    acceleration: Acceleration,
    /// Whether the residual has to watch it.
    is_watched: bool,
    β: f64,
    /// Sweeps since the last restart.
    age: f64,
    /// The largest β.
    limit: f64,
    /// The sweep from which progress is counted, and the residual there.
    since: u32,
    residual_then: f64,
}

impl Momentum {
    /// No momentum yet, after so many sweeps.
    pub(super) fn new(acceleration: Acceleration, rule: &Rule, sweeps: u32) -> Self {
        let limit = match (rule.law, rule.lag) {
            (Friction::Associated, _) => 1.0,
            (Friction::Coulomb, Some(_)) => LAGGED,
            (Friction::Coulomb, None) => CAUTIOUS,
        };
        let is_watched = rule.law == Friction::Coulomb && acceleration != Acceleration::None;
        Self { acceleration, is_watched, β: 0.0, age: 0.0, limit, since: sweeps, residual_then: 0.0 }
    }

    /// The β of the next sweep.
    pub(super) fn β(&self) -> f64 {
        self.β
    }

    /// After a sweep: the β of the next.
    pub(super) fn advance(&mut self, swept: &Swept) {
        if let Acceleration::Nesterov { restart } = self.acceleration {
            self.age = if restart && swept.uphill > 0.0 { 0.0 } else { self.age + 1.0 };
            self.β = self.limit.min(after(self.age));
        }
    }

    /// After a residual that is the best so far: the limit grows with progress.
    pub(super) fn reward(&mut self, residual: f64, sweep: u32) {
        let sweeps = sweep - self.since;
        if self.is_watched && sweeps >= PROGRESS {
            if sweeps < 2 * PROGRESS && residual <= 0.5 * self.residual_then {
                self.limit = 1.0 - BOLDER * (1.0 - self.limit);
            }
            self.since = sweep;
            self.residual_then = residual;
        }
    }

    /// Whether the residual says that momentum has led astray. It is dropped then, and the limit lower.
    pub(super) fn drop_if_astray(&mut self, residual: f64, sweep: u32, stopping: &Stopping) -> bool {
        let is_watched = self.is_watched && self.limit > 0.0;
        let swings = sweep - stopping.best_iteration().max(self.since) > SWINGS;
        let is_astray = residual > ASTRAY * stopping.best_residual() || swings;
        if !is_watched || !is_astray {
            return false;
        }
        self.β = 0.0;
        self.age = 0.0;
        self.limit = (1.0 - HUMBLER * (1.0 - self.limit)).max(0.0);
        self.since = sweep;
        self.residual_then = residual;
        true
    }
}

/// The momentum of a sweep that follows `age` others without restart.
fn after(age: f64) -> f64 {
    let r = EAGER + (DAMPED - EAGER) * (age / EAGER_SWEEPS).min(1.0);
    let k = if age <= SWINGING { age } else { (SWINGING * age).sqrt() };
    k / (k + r)
}
