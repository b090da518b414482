//! Bodies that are no spheres: what their contacts cost, beside peers on the same poses and the same scene.

mod clumps;
mod pairs;
#[cfg(feature = "rapier")]
mod rapier;
mod well;

use super::{Context, Figures, boulders, figures, memory};
use crate::failure::{Failure, note};
use serde_json::{Value, json};

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    note("  pairs");
    let pairs = pairs::run()?;
    note("  clumps");
    let clumps = clumps::run()?;
    note("  a million boxes");
    let memory = memory::measure(context, memory::BOXES_CHILD)?;
    note("  well");
    let well = well::run()?;
    note("  boulders");
    let boulders = Value::Object(boulders::run(context)?);
    Ok(figures(json!({
        "thousand_manifolds_a_second_one_thread": pairs,
        "clumps_of_four_against_loose_spheres": clumps,
        "settled_bed_of_a_million_boxes": memory,
        "well": well,
        "boulders": boulders,
    })))
}
