//! `barchan render`: a picture of a frame, or a video of all frames of a run, without a browser.

use crate::args::RenderArgs;
use crate::failure::{Failure, note, print_bytes};
use crate::interrupt;
use crate::readable_frames::{self, Lost, Trouble};
use crate::spare;
use barchan::output::{
    FrameError, Look, PictureOptions, StoredFrames, VideoError, VideoKind, VideoOptions, View, encode_image,
    write_image, write_video,
};
use barchan::world::Bodies;
use std::io::{IsTerminal, stdout};
use std::sync::Once;

/// Frames at which a video looks to find its place and its scale of colours.
const LOOKS: usize = 40;

/// Draws a frame, or all.
pub(crate) fn run(args: &RenderArgs) -> Result<(), Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    check_output(args, to_stdout)?;
    let frames = StoredFrames::open(&args.directory)?;
    let count = frames.len();
    if count == 0 {
        return Err(Failure::Input(format!("{} has no frames yet", args.directory.display())));
    }
    let [width, height] = args.size;
    let view = View { azimuth: args.azimuth, elevation: args.elevation, zoom: args.zoom };
    let options = PictureOptions { width, height, colour: args.colour.0, view };
    let index = args.frame.unwrap_or(count - 1);
    if to_stdout {
        let mut bytes = Vec::new();
        let encoded = encode_image(&mut bytes, &draw(&frames, index, &options)?, &options);
        encoded.map_err(|error| Failure::Failed(format!("cannot make a PNG: {error}")))?;
        return print_bytes(&bytes);
    }
    spare::files_of_run(&args.directory, &args.output, Some("picture.png"))?;
    interrupt::listen_for(&args.output)?;
    let made = if args.video { film(args, &frames, &options) } else { picture(args, &frames, index, &options) };
    let path = args.output.display();
    if interrupt::requested() && made.is_err() {
        note(format_args!("interrupted; {path} is not written"));
        return Err(Failure::Interrupted);
    }
    let lost = made?;
    note(format_args!("{path} is written"));
    lost.fail_if_any(path)
}

/// Whether the file can be what it is to be. Before anything is done.
fn check_output(args: &RenderArgs, to_stdout: bool) -> Result<(), Failure> {
    let path = args.output.display();
    if args.video {
        if to_stdout {
            let message = "a video cannot go to standard output: name a file, whose end tells its kind";
            return Err(Failure::Input(message.into()));
        }
        return VideoKind::of(&args.output).map(drop).map_err(|error| Failure::Input(error.to_string()));
    }
    if to_stdout {
        let message = "a picture is not for a terminal: send it to a file or a program";
        return if stdout().is_terminal() { Err(Failure::Input(message.into())) } else { Ok(()) };
    }
    if args.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("png")) {
        return Ok(());
    }
    let message = "a picture is a PNG, and its name must end in .png (other kinds are for --video)";
    Err(Failure::Input(format!("{path}: {message}")))
}

fn picture(args: &RenderArgs, frames: &StoredFrames, index: usize, options: &PictureOptions) -> Result<Lost, Failure> {
    let image = draw(frames, index, options)?;
    if interrupt::requested() {
        return Err(Failure::Interrupted);
    }
    write_image(&args.output, &image, options)?;
    Ok(Lost::of(1))
}

/// The picture of a frame.
fn draw(frames: &StoredFrames, index: usize, options: &PictureOptions) -> Result<Vec<u8>, Failure> {
    let bodies = bodies(frames, index)?;
    Ok(Look::of(&bodies, options.colour).render(&bodies, options))
}

/// What there is to be drawn. Walls that cannot be read do not keep bodies from that.
fn bodies(frames: &StoredFrames, index: usize) -> Result<Bodies, FrameError> {
    static TOLD: Once = Once::new();
    let frame = frames.read_solids(index).or_else(|error| {
        let frame = frames.read_bodies(index)?;
        TOLD.call_once(|| note(format_args!("WARNING: drawn without walls: {error}")));
        Ok(frame)
    })?;
    Ok(frame.to_bodies())
}

/// A video of the frames that can be read.
fn film(args: &RenderArgs, frames: &StoredFrames, options: &PictureOptions) -> Result<Lost, Failure> {
    let read = |frames: &StoredFrames, index| frames.read_bodies(index).map(drop);
    readable_frames::make(frames, read, |frames| {
        let last = frames.len() - 1;
        let mut look = Look::of(&bodies(frames, last)?, options.colour);
        for k in (0..last).step_by(last.div_ceil(LOOKS).max(1)) {
            if interrupt::requested() {
                return Err(Trouble::Other(Failure::Interrupted));
            }
            look = look.union(&Look::of(&bodies(frames, k)?, options.colour));
        }
        let video = VideoOptions {
            picture: *options,
            frames_per_second: args.fps,
            count: u32::try_from(frames.len()).unwrap_or(u32::MAX),
            stop: &interrupt::requested,
        };
        let picture = |k: u32| Ok(look.render(&bodies(frames, k as usize)?, options));
        write_video(&args.output, &video, picture).map_err(|error| match error {
            VideoError::Picture(error) => Trouble::Frame(error),
            VideoError::Output(error) => Trouble::Other(error.into()),
            VideoError::Stopped => Trouble::Other(Failure::Interrupted),
            missing @ (VideoError::NoFfmpeg { .. } | VideoError::Unknown(_)) => {
                Trouble::Other(Failure::Input(missing.to_string()))
            }
            failed @ VideoError::Ffmpeg { .. } => Trouble::Other(Failure::Failed(failed.to_string())),
        })
    })
}
