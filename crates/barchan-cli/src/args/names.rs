//! Names that the library knows, as values of options.

use barchan::cone::Friction;
use barchan::cone::solver::SolverName;
use barchan::output::Colouring;
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// What colours can show, as values of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colours(pub(crate) Colouring);

impl ValueEnum for Colours {
    fn value_variants<'a>() -> &'a [Self] {
        const COUNT: usize = Colouring::ALL.len();
        const LIST: [Colours; COUNT] = {
            let mut list = [Colours(Colouring::ALL[0]); COUNT];
            let mut i = 0;
            while i < COUNT {
                list[i] = Colours(Colouring::ALL[i]);
                i += 1;
            }
            list
        };
        &LIST
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// The friction laws of the library as values of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law(pub(crate) Friction);

impl ValueEnum for Law {
    fn value_variants<'a>() -> &'a [Self] {
        const COUNT: usize = Friction::ALL.len();
        const LIST: [Law; COUNT] = {
            let mut list = [Law(Friction::ALL[0].0); COUNT];
            let mut i = 0;
            while i < COUNT {
                list[i] = Law(Friction::ALL[i].0);
                i += 1;
            }
            list
        };
        &LIST
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let entry = Friction::ALL.iter().find(|entry| entry.0 == self.0)?;
        Some(PossibleValue::new(entry.1).help(entry.2))
    }
}

/// The solvers of the library as values of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolverArg(pub(crate) SolverName);

impl ValueEnum for SolverArg {
    fn value_variants<'a>() -> &'a [Self] {
        const COUNT: usize = SolverName::ALL.len();
        const LIST: [SolverArg; COUNT] = {
            let mut list = [SolverArg(SolverName::ALL[0].0); COUNT];
            let mut i = 0;
            while i < COUNT {
                list[i] = SolverArg(SolverName::ALL[i].0);
                i += 1;
            }
            list
        };
        &LIST
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let entry = SolverName::ALL.iter().find(|entry| entry.0 == self.0)?;
        Some(PossibleValue::new(entry.1).help(entry.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_given() {
        assert_eq!(Colours::value_variants().len(), Colouring::ALL.len());
        assert_eq!(SolverArg::value_variants().len(), SolverName::ALL.len());
    }
}
