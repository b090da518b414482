//! `barchan render`: a picture of a frame, or a video of all frames of a run, without a browser.

use crate::args::RenderArgs;
use crate::failure::{Failure, note};
use barchan::output::{Look, PictureOptions, StoredFrames, VideoError, View, write_image, write_video};
use barchan::world::Bodies;

/// Frames at which a video looks to find its place and its scale of colours.
const LOOKS: usize = 40;

/// Draws a frame, or all.
pub(crate) fn run(args: &RenderArgs) -> Result<(), Failure> {
    let is_png = args.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
    if !args.video && !is_png {
        let message = "a picture is a PNG, and its name must end in .png (other kinds are for --video)";
        return Err(Failure::Input(format!("{}: {message}", args.output.display())));
    }
    let frames = StoredFrames::open(&args.directory)?;
    let count = frames.len();
    if count == 0 {
        return Err(Failure::Input(format!("{} has no frames yet", args.directory.display())));
    }
    let [width, height] = args.size;
    let view = View { azimuth: args.azimuth, elevation: args.elevation, zoom: args.zoom };
    let options = PictureOptions { width, height, colour: args.colour.0, view };
    if args.video {
        film(args, &frames, &options)?;
    } else {
        let bodies = frames.read(args.frame.unwrap_or(count - 1))?.to_bodies();
        let look = Look::of(&bodies, options.colour);
        write_image(&args.output, &look.render(&bodies, &options), &options)?;
    }
    note(format_args!("{} is written", args.output.display()));
    Ok(())
}

fn film(args: &RenderArgs, frames: &StoredFrames, options: &PictureOptions) -> Result<(), Failure> {
    let bodies = |k: usize| -> Result<Bodies, Failure> { Ok(frames.read(k)?.to_bodies()) };
    let last = frames.len() - 1;
    let mut look = Look::of(&bodies(last)?, options.colour);
    for k in (0..last).step_by(last.div_ceil(LOOKS).max(1)) {
        look = look.union(&Look::of(&bodies(k)?, options.colour));
    }
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
    let picture = |k: u32| Ok(look.render(&bodies(k as usize)?, options));
    write_video(&args.output, options, args.fps, count, picture).map_err(|error| match error {
        VideoError::Picture(failure) => failure,
        VideoError::Output(error) => error.into(),
        missing @ VideoError::NoFfmpeg { .. } => Failure::Input(missing.to_string()),
        failed @ VideoError::Ffmpeg { .. } => Failure::Failed(failed.to_string()),
    })
}
