//! The head of a checkpoint: what belongs together.

use super::seal::{self, Damage, Kind, senseless};
use crate::scene::Scene;
use crate::util::pack::{Pack, Unpacker};

/// This engine: its version, and the machine that it was built for. Others may round in other ways: sines
/// and powers come from the mathematics library of the system. The instructions of the processor do not
/// matter.
pub fn engine() -> String {
    let library = [(cfg!(target_env = "gnu"), "-gnu"), (cfg!(target_env = "musl"), "-musl")];
    let library = library.iter().find(|known| known.0).map_or("", |known| known.1);
    format!("{} ({}-{}{library})", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS)
}

/// What makes parts a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckpointHead {
    /// Steps done.
    pub step: u64,
    /// Simulated time.
    pub time: f64,
    /// The length of the last step.
    pub length: f64,
    /// Frames that were due so far,
    pub frames: u64,
    /// and the step of the last of them.
    pub last_frame: Option<u64>,
    /// Whether the run had come to its end, with the last frame and the picture.
    pub is_end: bool,
    /// The scene as it was run.
    pub scene: String,
    /// What has written it, see [`engine`].
    pub engine: String,
    /// A part a rank.
    pub parts: Vec<PartNote>,
}

/// What the head knows of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartNote {
    /// Bytes of the file.
    pub length: u64,
    /// The checksum of its contents.
    pub checksum: u64,
    /// The first key of the rank's range, where the Morton curve is cut anew now and then.
    pub first_key: Option<u64>,
}

impl Pack for PartNote {
    fn pack(&self, out: &mut Vec<u8>) {
        [self.length, self.checksum].pack(out);
        self.first_key.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [length, checksum] = from.take()?;
        Some(Self { length, checksum, first_key: from.take()? })
    }
}

impl CheckpointHead {
    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { step, time, length, frames, last_frame, is_end, scene, engine, parts } = self;
        let mut bytes = seal::begin();
        [*step, *frames].pack(&mut bytes);
        [*time, *length].pack(&mut bytes);
        last_frame.pack(&mut bytes);
        is_end.pack(&mut bytes);
        engine.pack(&mut bytes);
        scene.pack(&mut bytes);
        (parts.len() as u64).pack(&mut bytes);
        parts.iter().for_each(|part| part.pack(&mut bytes));
        seal::seal(Kind::Head, &mut bytes);
        bytes
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If they are not those of a valid head.
    pub fn read(bytes: &[u8]) -> Result<Self, Damage> {
        Self::parse(seal::open(Kind::Head, bytes)?.0)
    }

    pub(super) fn parse(contents: &[u8]) -> Result<Self, Damage> {
        let mut from = Unpacker::new(contents);
        let head = Self::unpack(&mut from).filter(|_| from.is_empty()).ok_or_else(|| senseless("content"))?;
        if head.parts.is_empty() { Err(senseless("number of parts")) } else { Ok(head) }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [step, frames] = from.take()?;
        let [time, length]: [f64; 2] = from.take()?;
        let last_frame = from.take()?;
        let is_end = from.take()?;
        let engine = from.take()?;
        let scene = from.take()?;
        let mut parts = Vec::new();
        for _ in 0..from.take::<u64>()? {
            parts.push(from.take()?);
        }
        let is_valid = time.is_finite() && length.is_finite();
        is_valid.then_some(Self { step, time, length, frames, last_frame, is_end, scene, engine, parts })
    }

    /// The cuts between the ranges of ranks, where there are any.
    pub(crate) fn cuts(&self) -> Vec<u64> {
        self.parts.iter().skip(1).filter_map(|part| part.first_key).collect()
    }

    /// Whether it was written for this scene, whatever that says about its end, and about checkpoints.
    pub(crate) fn is_of(&self, scene: &Scene) -> Result<bool, Damage> {
        let own = Scene::from_toml(&self.scene, "checkpoint").map_err(|_| senseless("scene"))?;
        let plain = |scene: &Scene| {
            let mut scene = scene.clone();
            scene.time.end = 0.0;
            scene.checkpoint = Default::default();
            scene
        };
        Ok(plain(&own) == plain(scene))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> CheckpointHead {
        let note = |length| PartNote { length, checksum: !length, first_key: Some(length << 7) };
        CheckpointHead {
            step: 500,
            time: 0.1 + 0.2,
            length: 1e-3,
            frames: 7,
            last_frame: Some(490),
            is_end: true,
            scene: Scene::default().to_toml(),
            engine: engine(),
            parts: vec![note(0), note(7), note(9)],
        }
    }

    #[test]
    fn it_comes_back() {
        let head = head();
        assert_eq!(CheckpointHead::read(&head.to_bytes()).unwrap(), head);
        assert_eq!(head.cuts(), [7 << 7, 9 << 7]);
    }

    #[test]
    fn contents_that_make_no_sense_are_found() {
        let bytes = head().to_bytes();
        let contents = &bytes[seal::LENGTH..];
        for length in 0..contents.len() {
            assert!(CheckpointHead::parse(&contents[..length]).is_err());
        }
        assert!(CheckpointHead::parse(&[contents, &[0]].concat()).is_err());
        let empty = CheckpointHead { parts: Vec::new(), ..head() };
        assert_eq!(
            CheckpointHead::read(&empty.to_bytes()).unwrap_err().to_string(),
            "its number of parts makes no sense"
        );
    }

    #[test]
    fn it_knows_its_scene() {
        let mut scene = Scene::default();
        scene.time.end = 7.0;
        scene.checkpoint.keep = 5;
        assert!(head().is_of(&scene).unwrap());
        scene.gravity.z = -1.62;
        assert!(!head().is_of(&scene).unwrap());
    }
}
