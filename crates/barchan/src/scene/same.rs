//! Whether all ranks have the same scene.
//!
//! Each rank reads its scene by itself, and files of one name may differ between machines. Ranks with
//! different scenes would misunderstand each other, or run on with a world that nobody has described.
//! So they compare a hash of the scene as it would be written, with what is in the files of shapes in place of
//! the folders that they are in; only where that differs do they look for the line.

use super::{Location, Scene, SceneError};
use crate::comm::{Communicator, Reduction, named};
use crate::util::pack::Pack;
use std::path::Path;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

impl Scene {
    /// Checks that all ranks have this scene. All call it, and rank 0 says what differs where.
    ///
    /// # Errors
    /// If a rank has another one; on all ranks then.
    pub fn check_same(&self, comm: &mut dyn Communicator) -> Result<(), SceneError> {
        comm.stage("comparison of scenes");
        let text = self.with_contents().to_toml();
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

impl Scene {
    /// The same with files of shapes called by their names without folders, and by what was read from them.
    fn with_contents(&self) -> Self {
        let mut scene = self.clone();
        scene.rename_files(&|shape, file| {
            let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
            let mut bytes = Vec::new();
            if shape.faults().is_empty() {
                shape.pack(&mut bytes);
            }
            format!("{name}, content {:032x}", xxh3_128(&bytes))
        });
        scene
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

    /// Each rank has its files in a folder of its own.
    #[test]
    fn what_is_in_files_counts_and_not_where_they_are() {
        let place = std::env::temp_dir().join(format!("barchan-same-{}", std::process::id()));
        let told = |others: f64, name: &'static str| {
            let check = |mut comm: Box<dyn Communicator>| {
                let folder = place.join(comm.rank().to_string());
                std::fs::create_dir_all(&folder).unwrap();
                let height = if comm.rank() == 2 { others } else { 1.0 };
                let text = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {height}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
                let file = if comm.rank() == 2 { name } else { "wedge.obj" };
                std::fs::write(folder.join(file), text).unwrap();
                let scene = format!(
                    "[[body]]\nshape = {{ mesh = {{ file = \"{file}\" }} }}\n\n[[body]]\nposition = [0, 0, 5]\n\
                     shape = {{ composite = {{ parts = [{{ shape = {{ polyhedron = {{ file = \"{file}\" }} }} }}] }} }}\n"
                );
                let scene = Scene::from_toml(&scene, &folder.join("scene.toml").to_string_lossy()).unwrap();
                let result = scene.check_same(&mut *comm);
                comm.barrier();
                result
            };
            threads::run(4, 1, check).unwrap()
        };
        assert_eq!(told(1.0, "wedge.obj"), vec![Ok(()); 4]);
        for (height, name) in [(1.0f64.next_up(), "wedge.obj"), (1.0, "peg.obj")] {
            let error = told(height, name)[0].as_ref().unwrap_err().to_string();
            assert!(error.contains("rank 2 with") && error.contains(name) && error.contains("content "), "{error}");
            assert!(!error.contains(&*place.to_string_lossy()), "{error}");
        }
        std::fs::remove_dir_all(&place).unwrap();
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
