//! From options to a partition.

use super::error::{AXES, PartitionError};
use super::{Cartesian, Curve, DomainOptions, Morton, Partition, PartitionName, Periods, bulk};
use crate::broad::Aabb;
use crate::comm::Communicator;
use glam::DVec3;

impl DomainOptions {
    /// The partition that is meant.
    pub fn chosen(&self) -> Result<PartitionName, PartitionError> {
        match (self.partition, self.blocks) {
            (PartitionName::Morton, Some(_)) => Err(PartitionError::BlocksOfMorton),
            (PartitionName::Auto, Some(_)) => Ok(PartitionName::Cartesian),
            (PartitionName::Auto, None) => Ok(PartitionName::Morton),
            (name, _) => Ok(name),
        }
    }

    /// How many blocks there are along each axis of a cell: as given, or else those with the least
    /// surface. A single rank has one, whatever is given for several.
    pub fn blocks_on(&self, ranks: usize, cell: &Aabb) -> [u32; 3] {
        let automatic = || Cartesian::automatic(ranks, cell.high - cell.low, self.periodic);
        if ranks == 1 { [1; 3] } else { self.blocks.unwrap_or_else(automatic) }
    }

    /// The periodic cell.
    pub fn periods(&self) -> Result<Periods, PartitionError> {
        let mut low = DVec3::ZERO;
        let mut high = DVec3::ZERO;
        for axis in (0..3).filter(|&axis| self.periodic[axis]) {
            let (Some(min), Some(max)) = (self.min, self.max) else {
                return Err(PartitionError::NoCell { axis: AXES[axis] });
            };
            (low[axis], high[axis]) = (min[axis], max[axis]);
            check(axis, low[axis], high[axis])?;
        }
        Ok(Periods::new(low, high, self.periodic))
    }

    /// The cell that is divided: as given, or else the extent of the scene. It has an inside even
    /// if the scene is flat or empty.
    pub fn cell(&self, extent: &Aabb) -> Result<Aabb, PartitionError> {
        let mut low = DVec3::ZERO;
        let mut high = DVec3::ZERO;
        let given = self.min.is_some() || self.max.is_some();
        for axis in 0..3 {
            // A scene with nothing along an axis is a point there.
            let known = extent.low[axis].is_finite() && extent.high[axis].is_finite();
            let of = |given: Option<DVec3>, scene: f64| match given {
                Some(given) => given[axis],
                None if known => scene,
                None => 0.0,
            };
            (low[axis], high[axis]) = (of(self.min, extent.low[axis]), of(self.max, extent.high[axis]));
            if given {
                check(axis, low[axis], high[axis])?;
            }
        }
        if given {
            return Ok(Aabb { low, high });
        }
        let longest = (high - low).max_element();
        let least = if longest > 0.0 { 1e-3 * longest } else { 1.0 };
        let missing = (DVec3::splat(least) - (high - low)).max(DVec3::ZERO);
        Ok(Aabb { low: low - 0.5 * missing, high: high + 0.5 * missing })
    }
}

/// Whether a cell has an inside along an axis.
fn check(axis: usize, low: f64, high: f64) -> Result<(), PartitionError> {
    if low.is_finite() && high.is_finite() && low < high {
        return Ok(());
    }
    Err(PartitionError::Cell { axis: AXES[axis], low, high })
}

/// The partition that options ask for, as this rank sees it.
///
/// Every rank calls it with the same options and the same `extent` of the whole scene. Morton
/// ranges need the rest: how far bodies reach from their centres at most, and the positions of
/// this rank's own bodies with what each of them costs.
pub fn build(
    options: &DomainOptions,
    extent: &Aabb,
    reach: f64,
    work: impl IntoIterator<Item = (DVec3, f64)>,
    comm: &mut dyn Communicator,
) -> Result<Box<dyn Partition>, PartitionError> {
    let periods = options.periods()?;
    let cell = options.cell(extent)?;
    let ranks = comm.size();
    let rank = comm.rank() as u32;
    if options.chosen()? == PartitionName::Morton {
        let work: Vec<(DVec3, f64)> = work.into_iter().collect();
        let places: Vec<DVec3> = work.iter().map(|body| body.0).collect();
        let cell = bulk(comm, &places, cell);
        return Ok(Box::new(Morton::balanced(comm, Curve::around(&cell, &periods), reach, work)?));
    }
    let blocks = options.blocks_on(ranks, &cell);
    Ok(Box::new(Cartesian::new(ranks, rank, blocks, cell.low, cell.high, options.periodic)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::crowd;
    use super::*;
    use crate::comm::Solo;

    fn nothing() -> [(DVec3, f64); 0] {
        []
    }

    #[test]
    fn options_choose_a_partition() {
        let auto = DomainOptions::default();
        assert_eq!(auto.chosen(), Ok(PartitionName::Morton));
        let blocks = DomainOptions { blocks: Some([1, 1, 1]), ..auto };
        assert_eq!(blocks.chosen(), Ok(PartitionName::Cartesian));
        let both = DomainOptions { partition: PartitionName::Morton, ..blocks };
        assert_eq!(both.chosen(), Err(PartitionError::BlocksOfMorton));
        assert_eq!((auto.imbalance, auto.balance_interval), (1.05, 20));
    }

    #[test]
    fn any_scene_can_be_divided() {
        let flat = Aabb { low: DVec3::ZERO, high: DVec3::new(4.0, 4.0, 0.0) };
        let point = Aabb { low: DVec3::ONE, high: DVec3::ONE };
        for extent in [flat, point, Aabb::EMPTY] {
            for partition in [PartitionName::Cartesian, PartitionName::Morton] {
                for ranks in [1, 4, 7] {
                    let options = DomainOptions { partition, ..DomainOptions::default() };
                    let owners = crowd(ranks, |comm| {
                        let partition = build(&options, &extent, 0.1, nothing(), comm).unwrap();
                        partition.owner(DVec3::new(0.1, 3.9, 0.0)) == Some(partition.rank())
                    });
                    assert_eq!(owners.iter().filter(|own| **own).count(), 1);
                }
            }
        }
        // A monolayer is not cut along its plane.
        let cell = DomainOptions::default().cell(&flat).unwrap();
        assert_eq!(Cartesian::automatic(16, cell.high - cell.low, [false; 3]), [4, 4, 1]);
    }

    #[test]
    fn faults_are_told_with_their_numbers() {
        let extent = Aabb { low: DVec3::ZERO, high: DVec3::ONE };
        let fault = |options: DomainOptions| {
            let faults = crowd(2, |comm| build(&options, &extent, 0.1, nothing(), comm).err().map(|e| e.to_string()));
            assert_eq!(faults[0], faults[1]);
            faults[0].clone().expect("a fault")
        };
        let blocks = fault(DomainOptions { blocks: Some([4, 2, 1]), ..DomainOptions::default() });
        assert!(blocks.contains("4 x 2 x 1 blocks are 8") && blocks.contains("2 ranks"), "{blocks}");
        let overflow = fault(DomainOptions { blocks: Some([u32::MAX; 3]), ..DomainOptions::default() });
        assert!(overflow.contains("79228162458924105385300197375"), "{overflow}");
        let missing = fault(DomainOptions { periodic: [false, true, false], ..DomainOptions::default() });
        assert!(missing.contains("along y") && missing.contains("min and max"), "{missing}");
        let min = Some(DVec3::ZERO);
        let max = Some(DVec3::new(1.0, 1.0, -1.0));
        let turned = fault(DomainOptions { min, max, ..DomainOptions::default() });
        assert!(turned.contains("along z") && turned.contains("from 0 to -1"), "{turned}");
        let reach = build(&DomainOptions::default(), &extent, f64::NAN, nothing(), &mut Solo).err();
        assert!(matches!(reach, Some(PartitionError::Reach { .. })));
    }

    #[test]
    fn options_are_read_and_unknown_keys_refused() {
        let text = "min = [0, 0, 0]\nmax = [1, 2, 3]\nperiodic = [true, true, false]\npartition = \"cartesian\"\nblocks = [2, 1, 1]";
        let options: DomainOptions = toml::from_str(text).unwrap();
        let [low, high] = [DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)];
        assert_eq!(options.periods(), Ok(Periods::new(low, high, [true, true, false])));
        assert_eq!(options.cell(&Aabb::EMPTY), Ok(Aabb { low, high }));
        let again: DomainOptions = toml::from_str(&toml::to_string(&options).unwrap()).unwrap();
        assert_eq!(options, again);
        assert!(toml::from_str::<DomainOptions>("block = [2, 1, 1]").is_err());
    }
}
