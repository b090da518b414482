//! A rank's part of a checkpoint: the state, and the run's record up to there.

use super::seal::{self, Damage, Kind, senseless};
use crate::scene::Scene;
use crate::step::{Simulation, Snapshot};
use crate::util::pack::{Pack, Unpacker};
use crate::world::Bodies;

/// A part, read back.
#[derive(Clone)]
pub struct Part {
    /// The rank that wrote it, of how many.
    pub place: [u32; 2],
    /// What the run knows of itself, for the run to read.
    pub record: Vec<u8>,
    /// The state.
    pub state: Snapshot,
    /// The checksum of its contents.
    pub checksum: u64,
}

/// The columns of bodies that are in it: those of another list cannot be read.
fn layout() -> String {
    Bodies::COLUMNS.iter().map(|column| format!("{} {};", column.name, column.bytes)).collect()
}

impl Part {
    /// The bytes of a part, without a seal yet.
    pub fn gather(simulation: &mut Simulation, place: [u32; 2], record: &[u8]) -> Vec<u8> {
        let mut bytes = seal::begin();
        place.pack(&mut bytes);
        layout().pack(&mut bytes);
        (record.len() as u64).pack(&mut bytes);
        bytes.extend_from_slice(record);
        simulation.write_snapshot(&mut bytes);
        bytes
    }

    /// Seals what [`Part::gather`] gave, and returns its checksum.
    pub fn seal(bytes: &mut [u8]) -> u64 {
        seal::seal(Kind::Part, bytes)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If they are not those of a valid part.
    pub fn read(bytes: &[u8]) -> Result<Self, Damage> {
        let (contents, checksum) = seal::open(Kind::Part, bytes)?;
        Ok(Self { checksum, ..Self::parse(contents)? })
    }

    pub(super) fn parse(contents: &[u8]) -> Result<Self, Damage> {
        let mut from = Unpacker::new(contents);
        let head = (from.take::<[u32; 2]>(), from.take::<String>());
        let (Some(place), Some(columns)) = head else { return Err(senseless("beginning")) };
        if columns != layout() {
            return Err(Damage::Contents("its bodies have other properties than those of this program".into()));
        }
        let record = from.take::<u64>().and_then(|length| from.slice(usize::try_from(length).ok()?));
        let record = record.ok_or_else(|| senseless("record"))?.to_vec();
        let state = Snapshot::read(&mut from).filter(|_| from.is_empty()).ok_or_else(|| senseless("state"))?;
        Ok(Self { place, record, state, checksum: 0 })
    }

    /// Whether it can be one of so many of a run of this scene.
    ///
    /// # Errors
    /// If not: why.
    pub(crate) fn fit(&self, scene: &Scene, parts: usize) -> Result<(), Damage> {
        let [rank, ranks] = self.place;
        if ranks as usize != parts || rank >= ranks {
            return Err(Damage::Contents(format!("it is part {rank} of {ranks}, where there are {parts}")));
        }
        self.state.mismatch(scene, self.place).map_or(Ok(()), |mismatch| Err(Damage::Contents(mismatch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    /// A part of a small periodic run, so that everything is in it.
    fn part() -> Vec<u8> {
        let set = [("nx", "4"), ("ny", "4"), ("nz", "4"), ("periodic", "1"), ("speed", "2")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let scene = scenario::find("granular-gas").unwrap().scene(&set).unwrap();
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        (0..20).for_each(|_| drop(simulation.step().unwrap()));
        let mut bytes = Part::gather(&mut simulation, [0, 1], b"record");
        Part::seal(&mut bytes);
        bytes
    }

    #[test]
    fn it_comes_back() {
        let part = Part::read(&part()).unwrap();
        assert_eq!((part.place, &part.record[..], part.state.steps()), ([0, 1], &b"record"[..], 20));
    }

    #[test]
    fn damage_behind_a_right_checksum_is_found_too() {
        let bytes = part();
        let contents = &bytes[seal::LENGTH..];
        for length in (0..contents.len()).step_by(7) {
            assert!(Part::parse(&contents[..length]).is_err(), "{length}");
        }
        assert!(Part::parse(&[contents, &[0]].concat()).is_err());
        // Lengths beyond all memory ask for none, wherever they stand.
        for at in 0..contents.len() - 8 {
            let mut bad = contents.to_vec();
            bad[at..at + 8].fill(0xff);
            let _ = Part::parse(&bad);
        }
    }
}
