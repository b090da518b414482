//! A picture of the bodies, drawn in software: a look at a run without any viewer.
//!
//! Five passes, each in its file: [`camera`] looks down from a corner and fits the scene;
//! [`spheres`] finds for every sample the nearest sphere, and [`solids`] what is nearer still of
//! the triangles of other shapes; [`shade`] lights what was found,
//! with walls and half-spaces of [`backdrop`] behind it; [`lines`] draws the edges of containers.
//! Every pixel averages 2×2 samples. Work is cut by rows, no row depends on another, so the
//! picture is the same on any number of threads.
//!
//! Ranks look through the same camera and use the same scale of colours: extents and percentiles are
//! those of all bodies ([`select`]). Each draws its own bodies, and rank 0 the union of what they see
//! ([`union`]).
//!
//! Deliberately absent: shadows, labels, a legend. ParaView does all that on the frames.

mod backdrop;
mod camera;
mod colour;
mod lines;
mod select;
mod shade;
mod solids;
mod spheres;
mod union;
mod video;

pub use camera::View;
pub use colour::Colouring;
pub use video::{UnknownVideo, VideoError, VideoKind, VideoOptions, write_video};

use super::{OutputError, write_whole};
use crate::comm::{Communicator, Reduction, Solo};
use crate::world::Bodies;
use camera::{Camera, Extent};
use glam::Vec3;
use std::io::{self, Write};
use std::path::Path;

/// Samples a pixel along each axis.
const SUPER: usize = 2;

/// How much of a vessel is seen before what it holds.
const GLASS: f32 = 0.25;

/// Size and colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureOptions {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// What the colour of a sphere shows.
    pub colour: Colouring,
    /// Where it is taken from.
    pub view: View,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { width: 1200, height: 900, colour: Colouring::Speed, view: View::default() }
    }
}

/// Draws the bodies: three bytes a pixel (red, green, blue), row by row from the top.
///
/// Bodies with a state that is not finite are left out.
pub fn render(bodies: &Bodies, options: &PictureOptions) -> Vec<u8> {
    render_on(&mut Solo, bodies, options).unwrap_or_default()
}

/// As [`render`], with the bodies of all ranks, which all call it. Rank 0 gets the picture.
pub fn render_on(comm: &mut dyn Communicator, bodies: &Bodies, options: &PictureOptions) -> Option<Vec<u8>> {
    let look = Look::on(comm, bodies, options.colour);
    draw(comm, bodies, &look, options)
}

/// What a picture shows and what its colours mean. Pictures of a moving scene share one, or they
/// would jump and flicker.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    extent: Extent,
    scale: [f64; 2],
}

impl Look {
    /// What suits these bodies.
    pub fn of(bodies: &Bodies, colour: Colouring) -> Self {
        Self::on(&mut Solo, bodies, colour)
    }

    /// What suits the bodies of all ranks.
    fn on(comm: &mut dyn Communicator, bodies: &Bodies, colour: Colouring) -> Self {
        let extent = Extent::of(bodies, comm);
        Self { extent, scale: colour.scale(bodies, &camera::visible(bodies), comm) }
    }

    /// What suits two moments.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let scale = [self.scale[0].min(other.scale[0]), self.scale[1].max(other.scale[1])];
        Self { extent: self.extent.union(&other.extent), scale }
    }

    /// Draws bodies: three bytes a pixel (red, green, blue), row by row from the top.
    pub fn render(&self, bodies: &Bodies, options: &PictureOptions) -> Vec<u8> {
        draw(&mut Solo, bodies, self, options).unwrap_or_default()
    }
}

fn draw(comm: &mut dyn Communicator, bodies: &Bodies, look: &Look, options: &PictureOptions) -> Option<Vec<u8>> {
    let width = options.width.max(1) as usize;
    let height = options.height.max(1) as usize;
    let camera = Camera::fit(&look.extent, &options.view, width * SUPER, height * SUPER);
    let vessels = (0..bodies.len()).any(|i| camera::is_vessel(bodies, i));
    let mut vessels = [f64::from(u8::from(vessels))];
    comm.all_reduce(Reduction::Max, &mut vessels);
    let within = layer(comm, bodies, (look, options, &camera), &|i| !camera::is_vessel(bodies, i));
    // Vessels are glass, through which all else is seen.
    let glass = if vessels[0] > 0.0 { layer(comm, bodies, (look, options, &camera), &|_| true) } else { None };
    let (mut pixels, hits) = within?;
    for (pixel, glass) in pixels.iter_mut().zip(glass.map(|glass| glass.0).unwrap_or_default()) {
        *pixel = pixel.lerp(glass, GLASS);
    }
    lines::draw_containers(bodies, &camera, &hits, &mut pixels);
    Some(pixels.iter().flat_map(|p| colour::encode(*p)).collect())
}

/// Draws those bodies of all ranks that are asked for, as colours and what every sample sees. Rank 0 gets it.
fn layer(
    comm: &mut dyn Communicator,
    bodies: &Bodies,
    (look, options, camera): (&Look, &PictureOptions, &Camera),
    is_asked_for: &dyn Fn(usize) -> bool,
) -> Option<(Vec<Vec3>, spheres::Hits)> {
    let (mut balls, mut solids) = spheres::project(bodies, camera, (options.colour, look.scale), is_asked_for);
    let typical = spheres::Typical::of(&balls, &solids, camera, comm);
    let rasterise = |balls: &[spheres::Ball], solids: &solids::Solids| {
        let mut hits = spheres::rasterise(balls, camera);
        solids::rasterise(solids, &mut hits, camera);
        hits
    };
    let mut hits = rasterise(&balls, &solids);
    if comm.size() > 1 {
        (balls, solids) = union::gather(comm, &balls, &solids, &hits)?;
        hits = rasterise(&balls, &solids);
    }
    let backdrop = backdrop::Backdrop::new(bodies, camera, &look.extent);
    let pixels = shade::shade((&balls, &solids), &hits, &typical, &backdrop, camera);
    Some((pixels, hits))
}

/// Draws the bodies into a PNG file, whole or not at all.
pub fn write_png(path: &Path, bodies: &Bodies, options: &PictureOptions) -> Result<(), OutputError> {
    write_image(path, &render(bodies, options), options)
}

/// Writes a picture that is drawn, whole or not at all.
pub fn write_image(path: &Path, image: &[u8], options: &PictureOptions) -> Result<(), OutputError> {
    write_whole(path, |file| encode_image(file, image, options))
}

/// Writes a picture that is drawn as PNG.
pub fn encode_image(out: impl Write, image: &[u8], options: &PictureOptions) -> io::Result<()> {
    let mut writer = encoder(out, options).write_header()?;
    writer.write_image_data(image)?;
    Ok(writer.finish()?)
}

/// Writes pictures of these options as PNG.
fn encoder<W: Write>(file: W, options: &PictureOptions) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(file, options.width.max(1), options.height.max(1));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::threads;
    use crate::output::scratch::Scratch;
    use crate::shape::{HalfSpace, Shape, Surface};
    use crate::world::{Body, Ownership};
    use glam::DVec3;

    const SMALL: PictureOptions = PictureOptions {
        width: 120,
        height: 90,
        colour: Colouring::Height,
        view: View { azimuth: -62.0, elevation: 27.0, zoom: 1.0 },
    };

    fn pile() -> Bodies {
        let mut bodies = Bodies::default();
        bodies.push(Body::fixed(Shape::container(DVec3::ONE), DVec3::ZERO), 1.0);
        for k in 0..200 {
            let x = k % 7;
            let y = k / 7 % 7;
            let z = k / 49;
            let place = DVec3::new(f64::from(x), f64::from(y), f64::from(z)) * 0.28 - 0.85;
            bodies.push(Body::dynamic(Shape::sphere(0.14), place), 1.0);
        }
        bodies
    }

    /// How many pixels are clearly coloured, as spheres are and nothing else.
    fn coloured(image: &[u8]) -> usize {
        image.chunks(3).filter(|p| p.iter().max().unwrap() - p.iter().min().unwrap() > 60).count()
    }

    #[test]
    fn it_shows_the_spheres() {
        let image = render(&pile(), &SMALL);
        assert_eq!(image.len(), 120 * 90 * 3);
        assert!(coloured(&image) > 1500, "{}", coloured(&image));
    }

    #[test]
    fn what_is_in_a_vessel_is_seen_through_it_and_all_of_it_is_in_the_picture() {
        let mut bodies = pile();
        let open = coloured(&render(&bodies, &SMALL));
        let wall = Surface::cuboid(DVec3::new(1.1, 1.1, 1.6));
        bodies.push(Body::fixed(Shape::mesh(wall.clone()), DVec3::ZERO), 1.0);
        let seen = coloured(&render(&bodies, &SMALL));
        assert!(seen > open / 3, "{seen} of {open}");
        let extent = Extent::of(&bodies, &mut Solo);
        assert!(extent.high.z > 1.59 && extent.low.z < -1.59, "{extent:?}");
        // Ground is no vessel, but a tall tube is.
        let tube = wall.mapped(|p| DVec3::new(0.2 * p.x, 0.2 * p.y, 5.0 * p.z));
        bodies.push(Body::fixed(Shape::mesh(tube), DVec3::ZERO), 1.0);
        assert!(camera::is_vessel(&bodies, bodies.len() - 1));
        let ground = wall.mapped(|p| DVec3::new(10.0 * p.x, 10.0 * p.y, 0.1 * p.z));
        bodies.push(Body::fixed(Shape::mesh(ground), DVec3::ZERO), 1.0);
        assert!(!camera::is_vessel(&bodies, bodies.len() - 1));
    }

    #[test]
    fn it_is_the_same_on_any_number_of_threads() {
        let bodies = pile();
        let draw = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| render(&bodies, &SMALL))
        };
        assert!(draw(1) == draw(3));
    }

    #[test]
    fn ranks_draw_the_picture_of_one() {
        let bodies = pile();
        let options = PictureOptions { colour: Colouring::Radius, ..SMALL };
        let whole = render(&bodies, &options);
        let parts = threads::run(3, 1, |mut comm| {
            let mut own = bodies.clone();
            // Every third sphere; the wall stands on all ranks, and belongs to rank 0.
            for i in (1..own.len()).filter(|i| i % 3 != comm.rank()) {
                own.ownership[i] = Ownership::Ghost;
            }
            render_on(&mut *comm, &own, &options)
        });
        let parts = parts.unwrap();
        assert!(parts[1].is_none() && parts[2].is_none());
        assert!(parts[0].as_ref() == Some(&whole));
    }

    /// As the pile, with every second sphere another shape.
    fn mixture() -> Bodies {
        let mut bodies = Bodies::default();
        let pile = pile();
        for i in 0..pile.len() {
            let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, i as f64, 0.3, 0.1 * i as f64);
            let shape = match i % 4 {
                _ if i == 0 => pile.shape[0].clone(),
                1 => Shape::cuboid(DVec3::new(0.1, 0.08, 0.12)),
                2 => Shape::capsule(0.06, 0.08 + 1e-4 * i as f64),
                _ => Shape::sphere(0.14),
            };
            let body = Body::fixed(shape, pile.position[i]);
            bodies.push(if i == 0 { body } else { body.with_orientation(turn) }, 1.0);
        }
        bodies
    }

    #[test]
    fn shapes_are_drawn_the_same_on_threads_and_ranks() {
        let bodies = mixture();
        let options = PictureOptions { colour: Colouring::Id, ..SMALL };
        let whole = render(&bodies, &options);
        assert!(whole != render(&pile(), &options) && coloured(&whole) > 1000, "{}", coloured(&whole));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert!(pool.install(|| render(&bodies, &options)) == whole);
        let parts = threads::run(3, 1, |mut comm| {
            let mut own = bodies.clone();
            for i in (1..own.len()).filter(|i| i % 3 != comm.rank()) {
                own.ownership[i] = Ownership::Ghost;
            }
            render_on(&mut *comm, &own, &options)
        });
        assert!(parts.unwrap()[0].as_ref() == Some(&whole));
    }

    #[test]
    fn odd_worlds_are_drawn_all_the_same() {
        let options = |colour| PictureOptions { colour, ..SMALL };
        assert_eq!(coloured(&render(&Bodies::default(), &SMALL)), 0);
        let mut bodies = Bodies::default();
        bodies.push(Body::fixed(Shape::half_space(), DVec3::ZERO), 1.0);
        render(&bodies, &SMALL);
        for k in 0..3 {
            bodies.push(Body::dynamic(Shape::sphere(0.5), DVec3::new(f64::from(k), 0.0, 0.5)), 1.0);
        }
        bodies.position[1].x = f64::NAN;
        bodies.velocity[2].x = f64::INFINITY;
        for colour in Colouring::ALL {
            assert!(coloured(&render(&bodies, &options(colour))) > 100, "{colour:?}");
        }
    }

    #[test]
    fn half_spaces_are_drawn_beside_containers() {
        let plain = render(&pile(), &SMALL);
        let changed = |height: f64, normal: DVec3| {
            let mut bodies = pile();
            let mut plane = Body::fixed(Shape::half_space(), DVec3::new(0.0, 0.0, height));
            plane.orientation = HalfSpace::orientation_for(normal.normalize());
            bodies.push(plane, 1.0);
            let image = render(&bodies, &SMALL);
            image.chunks(3).zip(plain.chunks(3)).filter(|(a, b)| a != b).count()
        };
        // A ground below the box, a slope through it, and a lid, which faces away from the eye.
        let below = changed(-1.5, DVec3::Z);
        assert!((300..4000).contains(&below), "{below}");
        let slope = changed(0.3, DVec3::new(1.0, 0.0, 1.0));
        assert!((300..6000).contains(&slope), "{slope}");
        assert_eq!(changed(1.0, DVec3::NEG_Z), 0);
        // Where it lies in a floor, the floor is seen: what is new is a rim about it.
        let rim = changed(-1.0, DVec3::Z);
        assert!((50..1000).contains(&rim), "{rim}");
    }

    #[test]
    fn a_stray_sphere_does_not_shrink_the_rest() {
        let mut bodies = pile();
        let before = coloured(&render(&bodies, &SMALL));
        bodies.push(Body::dynamic(Shape::sphere(0.14), DVec3::new(0.0, 0.0, -1e6)), 1.0);
        assert!(coloured(&render(&bodies, &SMALL)) > before / 3);
    }

    #[test]
    fn the_file_is_a_png_of_that_size() {
        let scratch = Scratch::new();
        let path = scratch.path().join("picture.png");
        write_png(&path, &pile(), &SMALL).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut image = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut image).unwrap();
        assert_eq!((info.width, info.height), (120, 90));
        assert!(image == render(&pile(), &SMALL));
    }
}
