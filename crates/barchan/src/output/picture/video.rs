//! Moving pictures: an animated PNG, which every browser plays and needs nothing, or what ffmpeg makes of
//! the pictures, where it is installed.

use super::{PictureOptions, encoder};
use crate::output::atomic::ForeignFile;
use crate::output::{Attach, OutputError, write_whole};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How often it is looked whether ffmpeg is done, or the user wants to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// A kind of video, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoKind {
    /// An animated PNG.
    AnimatedPng,
    /// Made by ffmpeg, which knows it by this name.
    Ffmpeg(&'static str),
}

impl VideoKind {
    /// All kinds, by the ends of names.
    pub const ALL: [(&'static str, Self); 8] = [
        ("png", Self::AnimatedPng),
        ("apng", Self::AnimatedPng),
        ("mp4", Self::Ffmpeg("mp4")),
        ("webm", Self::Ffmpeg("webm")),
        ("gif", Self::Ffmpeg("gif")),
        ("mkv", Self::Ffmpeg("matroska")),
        ("mov", Self::Ffmpeg("mov")),
        ("avi", Self::Ffmpeg("avi")),
    ];

    /// The kind of a file.
    ///
    /// # Errors
    /// If its name does not end as one of them does.
    pub fn of(path: &Path) -> Result<Self, UnknownVideo> {
        let end = path.extension().unwrap_or_default();
        let known = Self::ALL.iter().find(|kind| end.eq_ignore_ascii_case(kind.0));
        known.map(|kind| kind.1).ok_or_else(|| UnknownVideo { path: path.to_path_buf() })
    }
}

/// A name that does not tell what kind of video is to be made.
#[derive(Debug, thiserror::Error)]
#[error("{}: unknown kind of video, expected a name that ends in {}", path.display(), ends())]
pub struct UnknownVideo {
    /// The name.
    pub path: PathBuf,
}

fn ends() -> String {
    let of = |wanted: fn(&VideoKind) -> bool| {
        let ends: Vec<_> = VideoKind::ALL.iter().filter(|kind| wanted(&kind.1)).map(|kind| kind.0).collect();
        format!(".{}", ends.join(", ."))
    };
    let own = of(|kind| *kind == VideoKind::AnimatedPng);
    let others = of(|kind| *kind != VideoKind::AnimatedPng);
    format!("{own} (animated PNG), or in {others} (by ffmpeg)")
}

/// What a video is made of.
#[derive(Clone, Copy)]
pub struct VideoOptions<'a> {
    /// Of every picture.
    pub picture: PictureOptions,
    /// Frames a second.
    pub frames_per_second: u16,
    /// How many pictures there are.
    pub count: u32,
    /// Whether the user wants to stop. It is asked again and again, and nothing is left of the video then.
    pub stop: &'a dyn Fn() -> bool,
}

/// Why a video could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VideoError<E> {
    /// It could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The program for this kind of file is missing.
    #[error(
        "{}: ffmpeg makes this kind of video, and it is not installed (or not on the path); a name that ends in .png \
         gives an animated PNG, which needs nothing",
        path.display()
    )]
    NoFfmpeg {
        /// The video.
        path: PathBuf,
    },
    /// Nobody knows what to make.
    #[error(transparent)]
    Unknown(#[from] UnknownVideo),
    /// The user wants to stop.
    #[error("stopped")]
    Stopped,
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

/// Writes pictures of one size as a video, whole or not at all. The end of the name tells the kind.
///
/// # Errors
/// If the kind is unknown, a picture cannot be made, the video cannot be written, or the user wants to stop.
pub fn write_video<E>(
    path: &Path,
    options: &VideoOptions<'_>,
    mut picture: impl FnMut(u32) -> Result<Vec<u8>, E>,
) -> Result<(), VideoError<E>> {
    let kind = VideoKind::of(path)?;
    let mut next =
        |k: u32| if (options.stop)() { Err(VideoError::Stopped) } else { picture(k).map_err(VideoError::Picture) };
    match kind {
        VideoKind::AnimatedPng => animated_png(path, options, &mut next),
        VideoKind::Ffmpeg(name) => by_ffmpeg(path, name, options, &mut next),
    }
}

type Next<'a, E> = dyn FnMut(u32) -> Result<Vec<u8>, VideoError<E>> + 'a;

fn animated_png<E>(path: &Path, options: &VideoOptions<'_>, next: &mut Next<'_, E>) -> Result<(), VideoError<E>> {
    let mut failed = None;
    let written = write_whole(path, |file| {
        let mut encoder = encoder(file, &options.picture);
        encoder.set_animated(options.count, 0)?;
        encoder.set_frame_delay(1, options.frames_per_second)?;
        let mut writer = encoder.write_header()?;
        for k in 0..options.count {
            match next(k) {
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
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

/// ffmpeg at work, ended when it is no longer wanted.
struct Encoder(Child);

impl Drop for Encoder {
    fn drop(&mut self) {
        // After its end neither does anything.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn by_ffmpeg<E>(
    path: &Path,
    name: &str,
    options: &VideoOptions<'_>,
    next: &mut Next<'_, E>,
) -> Result<(), VideoError<E>> {
    // Goes after the encoder, which may still write it.
    let file = ForeignFile::create(path)?;
    let mut encoder = match command(&file, name, options).spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(VideoError::NoFfmpeg { path: path.to_path_buf() });
        }
        spawned => Encoder(spawned.attach("make by ffmpeg", path)?),
    };
    // Read while it works: a full pipe would hold it.
    let errors = encoder.0.stderr.take();
    let errors = thread::spawn(move || {
        let mut said = Vec::new();
        errors.map(|mut pipe| pipe.read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    });
    if let Some(mut pipe) = encoder.0.stdin.take() {
        for k in 0..options.count {
            // It has ended early: below it says why.
            if pipe.write_all(&next(k)?).is_err() {
                break;
            }
        }
    }
    let status = loop {
        match encoder.0.try_wait().attach("make by ffmpeg", path)? {
            Some(status) => break status,
            None if (options.stop)() => return Err(VideoError::Stopped),
            None => thread::sleep(GLANCE),
        }
    };
    if !status.success() {
        let said = errors.join().unwrap_or_default();
        let last = said.trim().lines().last().unwrap_or("it gave no reason").to_string();
        return Err(VideoError::Ffmpeg { path: path.to_path_buf(), message: last });
    }
    Ok(file.finish()?)
}

/// ffmpeg, with pictures on its standard input.
fn command(file: &ForeignFile, name: &str, options: &VideoOptions<'_>) -> Command {
    let size = format!("{}x{}", options.picture.width.max(1), options.picture.height.max(1));
    let mut command = Command::new("ffmpeg");
    command.args(["-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", &size]);
    command.args(["-framerate", &options.frames_per_second.to_string(), "-i", "-"]);
    // Most codecs want even sizes, and most players this form of colours.
    if name != "gif" {
        command.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
    }
    // A name with a colon or a leading dash is a file all the same.
    let mut target = OsString::from("file:");
    target.push(file.partial());
    command.args(["-f", name]).arg(target).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C is for whoever gives it the pictures: that one ends it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;
    use std::fs;

    const SMALL: PictureOptions = PictureOptions {
        width: 7,
        height: 5,
        colour: super::super::Colouring::Speed,
        view: super::super::View { azimuth: 0.0, elevation: 0.0, zoom: 1.0 },
    };

    const FOUR: VideoOptions<'static> =
        VideoOptions { picture: SMALL, frames_per_second: 25, count: 4, stop: &|| false };

    #[test]
    fn an_animated_png_holds_every_picture() {
        let scratch = Scratch::new();
        let path = scratch.path().join("run.png");
        let pictures = |k: u32| Ok::<_, OutputError>(vec![40 * k as u8; 7 * 5 * 3]);
        write_video(&path, &FOUR, pictures).unwrap();
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
            let error = write_video(&path, &FOUR, pictures).unwrap_err();
            assert!(matches!(error, VideoError::Picture(_) | VideoError::NoFfmpeg { .. }), "{error}");
            assert!(scratch.names().is_empty(), "{:?}", scratch.names());
        }
    }

    #[test]
    fn a_stop_leaves_nothing() {
        let scratch = Scratch::new();
        for name in ["run.png", "run.gif"] {
            let asked = std::cell::Cell::new(0);
            // Before the third picture, and after the last.
            for patience in [2, 4] {
                asked.set(0);
                let stop = || asked.replace(asked.get() + 1) >= patience;
                let pictures = |_| Ok::<_, OutputError>(vec![0; 7 * 5 * 3]);
                let path = scratch.path().join(name);
                match write_video(&path, &VideoOptions { stop: &stop, ..FOUR }, pictures) {
                    // All that was asked for is there.
                    Ok(()) if patience == 4 => fs::remove_file(&path).unwrap(),
                    Ok(()) => panic!("{name} was not stopped"),
                    Err(error) => {
                        assert!(matches!(error, VideoError::Stopped | VideoError::NoFfmpeg { .. }), "{error}");
                    }
                }
                assert!(scratch.names().is_empty(), "{:?}", scratch.names());
            }
        }
    }

    #[test]
    fn kinds_are_known_by_the_ends_of_names() {
        assert_eq!(VideoKind::of(Path::new("a/b.PNG")).unwrap(), VideoKind::AnimatedPng);
        assert_eq!(VideoKind::of(Path::new("b.mkv")).unwrap(), VideoKind::Ffmpeg("matroska"));
        for name in ["b.foo", "b", "-", "mp4"] {
            let error = VideoKind::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains("in .png, .apng (animated PNG), or in .mp4"), "{error}");
        }
    }
}
