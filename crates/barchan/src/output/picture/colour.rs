//! Colours: what a sphere's colour shows, the map from numbers to colours, and the encoding.

use super::select::nth;
use crate::comm::{Communicator, Reduction};
use crate::world::Bodies;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// What the colour of a sphere shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Colouring {
    /// How fast it moves.
    #[default]
    Speed,
    /// How large it is.
    Radius,
    /// Which one it is.
    Id,
    /// How high it lies.
    Height,
    /// What it is made of.
    Material,
    /// The group that the scene has put it into.
    Group,
}

impl Colouring {
    /// All of them.
    pub const ALL: [Colouring; 6] =
        [Colouring::Speed, Colouring::Radius, Colouring::Id, Colouring::Height, Colouring::Material, Colouring::Group];

    /// The name by which commands know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Radius => "radius",
            Self::Id => "id",
            Self::Height => "height",
            Self::Material => "material",
            Self::Group => "group",
        }
    }

    /// The number that the colour of a body shows.
    fn raw(self, bodies: &Bodies, i: usize) -> f64 {
        match self {
            Self::Speed => bodies.velocity[i].length(),
            Self::Radius => bodies.shape[i].bounding_radius().unwrap_or(0.0),
            Self::Id => apart(bodies.id[i]),
            Self::Height => bodies.position[i].z,
            Self::Material => apart(bodies.material[i].into()),
            Self::Group => apart(bodies.group[i].into()),
        }
    }

    /// The numbers at both ends of the scale of colours, for the visible bodies of all ranks.
    pub(super) fn scale(self, bodies: &Bodies, visible: &[usize], comm: &mut dyn Communicator) -> [f64; 2] {
        let raw: Vec<f64> = visible.iter().map(|&i| self.raw(bodies, i)).collect();
        match self {
            Self::Speed => {
                // What creeps less than a tenth of its radius a second is at rest.
                let radii = visible.iter().map(|&i| Self::Radius.raw(bodies, i));
                let mut sums = [radii.sum::<f64>(), visible.len() as f64];
                comm.all_reduce(Reduction::Sum, &mut sums);
                let least = 0.1 * sums[0] / sums[1].max(1.0);
                [0.0, percentile(&raw, 99, comm).max(least)]
            }
            Self::Radius => [percentile(&raw, 0, comm), percentile(&raw, 100, comm)],
            Self::Id | Self::Material | Self::Group => [0.0, 1.0],
            Self::Height => [percentile(&raw, 1, comm), percentile(&raw, 99, comm)],
        }
    }

    /// A number from 0 to 1 for each body of `visible`.
    pub(super) fn values(self, bodies: &Bodies, visible: &[usize], scale: [f64; 2]) -> Vec<f32> {
        let raw: Vec<f64> = visible.iter().map(|&i| self.raw(bodies, i)).collect();
        scaled(&raw, scale[0], scale[1])
    }
}

/// Steps of the golden ratio: neighbours in number are far apart in colour.
fn apart(number: u64) -> f64 {
    (number as f64 * 0.618_033_988_749_895).fract()
}

/// The value below which `percent` of the finite values of all ranks lie.
fn percentile(values: &[f64], percent: u64, comm: &mut dyn Communicator) -> f64 {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let mut count = [finite().count() as f64];
    comm.all_reduce(Reduction::Sum, &mut count);
    let count = count[0] as u64;
    if count == 0 { 0.0 } else { nth(comm, finite(), (count - 1) * percent / 100) }
}

/// From `low..high` to `0..1`; the middle where all are alike.
fn scaled(values: &[f64], low: f64, high: f64) -> Vec<f32> {
    let span = high - low;
    let scale = |x: &f64| if span > 0.0 { ((x - low) / span).clamp(0.0, 1.0) as f32 } else { 0.5 };
    values.iter().map(scale).collect()
}

/// The map: from slate blue through teal and green to a warm yellow, ever lighter, so that it
/// reads in grey and to eyes that see few colours.
const MAP: [[u8; 3]; 9] = [
    [74, 72, 142],
    [62, 91, 158],
    [47, 112, 163],
    [38, 134, 158],
    [40, 156, 144],
    [70, 177, 122],
    [128, 197, 98],
    [192, 212, 78],
    [250, 224, 82],
];

/// The colour at `t` in 0..1, in linear light.
pub(super) fn map(t: f32) -> Vec3 {
    let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 1.0 } * (MAP.len() - 1) as f32;
    let k = (t as usize).min(MAP.len() - 2);
    let entry = |k: usize| Vec3::from_array(MAP[k].map(f32::from)) / 255.0;
    let c = entry(k).lerp(entry(k + 1), t - k as f32);
    Vec3::new(decode(c.x), decode(c.y), decode(c.z))
}

/// From the display's scale (sRGB) to linear light.
pub(super) fn decode(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// From linear light to the display's bytes.
pub(super) fn encode(c: Vec3) -> [u8; 3] {
    c.to_array().map(|c| {
        let c = c.clamp(0.0, 1.0);
        let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (255.0 * c + 0.5) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_grows_lighter_and_keeps_its_ends() {
        let light = |t: f32| map(t).dot(Vec3::new(0.2126, 0.7152, 0.0722));
        assert!((0..100).all(|k| light(k as f32 / 100.0) < light((k + 1) as f32 / 100.0)));
        assert_eq!([encode(map(0.0)), encode(map(1.0))], [MAP[0], MAP[8]]);
        assert_eq!(encode(map(f32::NAN)), MAP[8]);
    }

    #[test]
    fn equal_values_are_in_the_middle() {
        assert_eq!(scaled(&[2.0, 2.0], 2.0, 2.0), [0.5, 0.5]);
        assert_eq!(percentile(&[f64::NAN, 3.0, 1.0, 2.0], 100, &mut crate::comm::Solo), 3.0);
    }
}
