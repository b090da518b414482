//! What `barchan render` takes.

use super::names::Colours;
use super::numbers::{angle, count, factor, size, whole};
use barchan::output::View;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    /// The directory of a run, which may be under way.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The picture, a PNG, or - for standard output; with --video an animated PNG (.png, .apng), or another
    /// kind if ffmpeg is installed (by the end of the name: .mp4, .webm, .gif, .mkv, .mov, .avi).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Which frame, from 0. [default: the last]
    #[arg(long, value_name = "N", conflicts_with = "video", value_parser = count::<usize>, allow_negative_numbers = true)]
    pub(crate) frame: Option<usize>,
    /// Draws all frames, from the same place and with the same scale of colours.
    #[arg(long)]
    pub(crate) video: bool,
    /// Frames a second of the video.
    #[arg(long, value_name = "N", default_value_t = 25, requires = "video", value_parser = whole::<u16, 1, 240>, allow_negative_numbers = true)]
    pub(crate) fps: u16,
    /// Pixels across and down.
    #[arg(long, value_name = "WxH", default_value = "1200x900", value_parser = size)]
    pub(crate) size: [u32; 2],
    /// What colours show.
    #[arg(long, value_name = "WHAT", default_value = "speed")]
    pub(crate) colour: Colours,
    /// Where it is seen from: an angle about z in degrees, from x towards y.
    #[arg(long, value_name = "DEGREES", default_value_t = View::default().azimuth, value_parser = angle::<360>, allow_negative_numbers = true)]
    pub(crate) azimuth: f64,
    /// Angle above the horizon in degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = View::default().elevation, value_parser = angle::<89>, allow_negative_numbers = true)]
    pub(crate) elevation: f64,
    /// How much larger the scene is than when it fills the picture.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = factor, allow_negative_numbers = true)]
    pub(crate) zoom: f64,
}
