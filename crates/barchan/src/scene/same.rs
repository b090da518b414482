//! Whether all ranks have the same scene.
//!
//! Each rank reads its scene by itself, and files of one name may differ between machines. Ranks with
//! different scenes would misunderstand each other, or run on with a world that nobody has described.
//! So they compare a hash of the scene as it would be written; only where that differs do they look
//! for the line.

use super::{Location, Scene, SceneError};
use crate::comm::{Communicator, Reduction, named};
use xxhash_rust::xxh3::xxh3_64;

impl Scene {
    /// Checks that all ranks have this scene. All call it, and rank 0 says what differs where.
    ///
    /// # Errors
    /// If a rank has another one; on all ranks then.
    pub fn check_same(&self, comm: &mut dyn Communicator) -> Result<(), SceneError> {
        comm.stage("comparison of scenes");
        let text = self.to_toml();
        let own = xxh3_64(text.as_bytes()).to_le_bytes();
        let mut first = own.to_vec();
        comm.broadcast(&mut first);
        let mut differ = [f64::from(u8::from(first != own))];
        comm.all_reduce(Reduction::Max, &mut differ);
        if differ[0] == 0.0 {
            return Ok(());
        }
        let mut first = text.clone().into_bytes();
        comm.broadcast(&mut first);
        let difference = difference(&text, &String::from_utf8_lossy(&first));
        let Some(told) = comm.gather(difference.as_bytes()) else { return Err(SceneError::elsewhere()) };
        let message = format!("the ranks have different scenes: {}", together(&told));
        Err(SceneError::new(Location::Whole(format!("scene \"{}\"", self.name)), "", message))
    }
}

/// The first line that differs from that of rank 0; nothing if all are the same.
fn difference(own: &str, first: &str) -> String {
    let mut here = Lines::new(own);
    let mut there = Lines::new(first);
    loop {
        match (here.next(), there.next()) {
            (None, None) => return String::new(),
            (a, b) if a != b => {
                let show = |line: Option<String>| line.unwrap_or_else(|| "nothing more".into());
                return format!("{}, but rank 0 with {}", show(a), show(b));
            }
            _ => {}
        }
    }
}

/// The lines of a written scene that say something, each with its section and without its comment.
struct Lines<'a> {
    lines: std::str::Lines<'a>,
    section: &'a str,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.lines(), section: "" }
    }
}

impl Iterator for Lines<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let line = self.lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let line = line.split("  #").next().unwrap_or_default().trim_end();
        if line.starts_with('[') {
            self.section = line;
            return Some(line.into());
        }
        Some(if self.section.is_empty() { line.into() } else { format!("{} {line}", self.section) })
    }
}

/// What ranks have told, each difference once.
fn together(told: &[Vec<u8>]) -> String {
    let mut kinds: Vec<(&[u8], Vec<usize>)> = Vec::new();
    for (rank, difference) in told.iter().enumerate().filter(|(_, difference)| !difference.is_empty()) {
        match kinds.iter_mut().find(|kind| kind.0 == difference.as_slice()) {
            Some(kind) => kind.1.push(rank),
            None => kinds.push((difference, vec![rank])),
        }
    }
    let tell = |(difference, ranks): &(&[u8], Vec<usize>)| {
        format!("{} with {}", named(ranks), String::from_utf8_lossy(difference))
    };
    kinds.iter().map(tell).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Solo, threads};
    use crate::dynamics::StepLength;
    use crate::scene::BodySpec;
    use crate::shape::Shape;
    use glam::DVec3;

    /// What each of five ranks is told, if some have changed their scene.
    fn told(change: impl Fn(usize, &mut Scene) + Sync) -> Vec<Result<(), SceneError>> {
        let check = |mut comm: Box<dyn Communicator>| {
            let mut scene = Scene { name: "bed".into(), ..Scene::default() };
            change(comm.rank(), &mut scene);
            let result = scene.check_same(&mut *comm);
            // The line is as good as before.
            comm.barrier();
            result
        };
        threads::run(5, 1, check).unwrap()
    }

    #[test]
    fn equal_scenes_pass() {
        assert_eq!(Scene::default().check_same(&mut Solo), Ok(()));
        assert_eq!(told(|_, _| ()), vec![Ok(()); 5]);
    }

    #[test]
    fn rank_0_tells_which_ranks_differ_and_where() {
        let results = told(|rank, scene| match rank {
            1 | 3 => scene.time.step = 0.002.into(),
            4 => scene.body.push(BodySpec::new(Shape::sphere(0.5), DVec3::ZERO)),
            _ => {}
        });
        let error = results[0].as_ref().unwrap_err().to_string();
        let step = StepLength::AUTO;
        assert!(
            error.starts_with(&format!(
                "scene \"bed\": the ranks have different scenes: ranks 1 and 3 with [time] step = 0.002, but rank 0 with \
                 [time] step = {step:?}; rank 4 with [[body]], but rank 0 with "
            )),
            "{error}"
        );
        assert!(results[1..].iter().all(|result| result.as_ref().unwrap_err().is_elsewhere()), "{results:?}");
    }

    #[test]
    fn the_last_bit_counts() {
        let results = told(|rank, scene| {
            if rank == 2 {
                scene.gravity.z = scene.gravity.z.next_up();
            }
        });
        assert!(results.iter().all(Result::is_err), "{results:?}");
    }
}
