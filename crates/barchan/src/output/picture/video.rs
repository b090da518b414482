//! Moving pictures: an animated PNG, which every browser plays and needs nothing, or whatever ffmpeg
//! makes of the pictures, where it is installed.

use super::{PictureOptions, encoder};
use crate::output::{Attach, OutputError, write_whole};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a video could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VideoError<E> {
    /// It could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// There is no program for this kind of file.
    #[error(
        "{}: ffmpeg makes this kind of video, and it is not installed (or not on the path); a name that ends in .png \
         gives an animated PNG, which needs nothing",
        path.display()
    )]
    NoFfmpeg {
        /// The video.
        path: PathBuf,
    },
    /// It has run and failed.
    #[error("{}: ffmpeg could not make the video: {message}", path.display())]
    Ffmpeg {
        /// The video.
        path: PathBuf,
        /// What it said last.
        message: String,
    },
    /// A picture could not be made.
    #[error("a picture could not be made")]
    Picture(E),
}

/// Writes `count` pictures of one size as a video, whole or not at all. The end of the name tells the
/// kind: `.png` and `.apng` are animated PNG, and anything else is left to ffmpeg.
///
/// # Errors
/// If a picture cannot be made, or the video cannot be written.
pub fn write_video<E>(
    path: &Path,
    options: &PictureOptions,
    frames_per_second: u16,
    count: u32,
    mut picture: impl FnMut(u32) -> Result<Vec<u8>, E>,
) -> Result<(), VideoError<E>> {
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    if matches!(end.as_deref(), Some("png" | "apng")) {
        animated_png(path, options, frames_per_second, count, &mut picture)
    } else {
        by_ffmpeg(path, options, frames_per_second, count, &mut picture)
    }
}

fn animated_png<E>(
    path: &Path,
    options: &PictureOptions,
    frames_per_second: u16,
    count: u32,
    picture: &mut dyn FnMut(u32) -> Result<Vec<u8>, E>,
) -> Result<(), VideoError<E>> {
    let mut failed = None;
    let written = write_whole(path, |file| {
        let mut encoder = encoder(file, options);
        encoder.set_animated(count, 0)?;
        encoder.set_frame_delay(1, frames_per_second)?;
        let mut writer = encoder.write_header()?;
        for k in 0..count {
            match picture(k) {
                Ok(image) => writer.write_image_data(&image)?,
                Err(error) => {
                    failed = Some(error);
                    return Err(io::Error::other("a picture is missing"));
                }
            }
        }
        Ok(writer.finish()?)
    });
    match failed {
        Some(error) => Err(VideoError::Picture(error)),
        None => Ok(written?),
    }
}

/// A partial file of another program, removed unless it gets its name.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn by_ffmpeg<E>(
    path: &Path,
    options: &PictureOptions,
    frames_per_second: u16,
    count: u32,
    picture: &mut dyn FnMut(u32) -> Result<Vec<u8>, E>,
) -> Result<(), VideoError<E>> {
    // The end of the name tells ffmpeg what to make, so it stays.
    let mut name = OsString::from(".partial-");
    name.push(path.file_name().unwrap_or_default());
    let partial = Partial(path.with_file_name(name));
    let size = format!("{}x{}", options.width.max(1), options.height.max(1));
    let mut command = Command::new("ffmpeg");
    command.args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", &size]);
    command.args(["-framerate", &frames_per_second.to_string(), "-i", "-"]);
    // Most codecs want even sizes, and most players this form of colours.
    if path.extension().is_none_or(|end| !end.eq_ignore_ascii_case("gif")) {
        command.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
    }
    // A name with a colon or a leading dash is a file all the same.
    let mut target = OsString::from("file:");
    target.push(&partial.0);
    command.arg(target).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(VideoError::NoFfmpeg { path: path.to_path_buf() });
        }
        spawned => spawned.attach("make by ffmpeg", path)?,
    };
    let mut pictures = Ok(());
    if let Some(mut pipe) = child.stdin.take() {
        for k in 0..count {
            match picture(k) {
                // It has ended early: below it says why.
                Ok(image) if pipe.write_all(&image).is_err() => break,
                Ok(_) => {}
                Err(error) => {
                    pictures = Err(VideoError::Picture(error));
                    break;
                }
            }
        }
    }
    let mut said = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        let _ = pipe.read_to_string(&mut said);
    }
    let status = child.wait().attach("make by ffmpeg", path)?;
    pictures?;
    if !status.success() {
        let last = said.trim().lines().last().unwrap_or("it gave no reason").to_string();
        return Err(VideoError::Ffmpeg { path: path.to_path_buf(), message: last });
    }
    Ok(fs::rename(&partial.0, path).attach("write", path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;

    const SMALL: PictureOptions = PictureOptions {
        width: 7,
        height: 5,
        colour: super::super::Colouring::Speed,
        view: super::super::View { azimuth: 0.0, elevation: 0.0, zoom: 1.0 },
    };

    #[test]
    fn an_animated_png_holds_every_picture() {
        let scratch = Scratch::new();
        let path = scratch.path().join("run.png");
        let pictures = |k: u32| Ok::<_, OutputError>(vec![40 * k as u8; 7 * 5 * 3]);
        write_video(&path, &SMALL, 25, 4, pictures).unwrap();
        let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        assert_eq!(reader.info().animation_control().unwrap().num_frames, 4);
        let mut image = vec![0; 7 * 5 * 3];
        for k in 0..4 {
            reader.next_frame(&mut image).unwrap();
            assert!(image.iter().all(|&x| x == 40 * k), "picture {k}");
            assert_eq!(reader.info().frame_control().unwrap().delay_den, 25);
        }
        assert_eq!(scratch.names(), ["run.png"]);
    }

    #[test]
    fn a_picture_that_fails_leaves_nothing() {
        let scratch = Scratch::new();
        for name in ["run.png", "run.mp4"] {
            let path = scratch.path().join(name);
            let pictures = |k: u32| if k < 2 { Ok(vec![0; 7 * 5 * 3]) } else { Err("no third picture") };
            let error = write_video(&path, &SMALL, 25, 4, pictures).unwrap_err();
            assert!(matches!(error, VideoError::Picture(_) | VideoError::NoFfmpeg { .. }), "{error}");
            assert!(scratch.names().is_empty(), "{:?}", scratch.names());
        }
    }
}
