//! From contacts to motion: the contact problem of a step, and the time integration.
//!
//! The problem itself and its solvers are a crate of their own, [`crate::cone`], which knows nothing of
//! bodies, shapes and scenes.

pub mod arms;
pub mod assemble;
pub mod impact;
pub mod integrate;
pub mod joints;
pub mod options;
pub mod recover;
pub mod step_length;
pub mod surface;

pub use arms::ContactArms;
pub use assemble::{Assembly, AssemblyInput, FreeMotion};
pub use impact::{ImpactInput, Impacts};
pub use joints::{JointInput, JointRows};
pub use options::{ContactOptions, Integrator};
pub use recover::Recovery;
pub use step_length::StepLength;
pub use surface::SurfaceMotion;
