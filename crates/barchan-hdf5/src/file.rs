//! A file, and the way from a path to an object.

use crate::allowance::Allowance;
use crate::bytes::Source;
use crate::dataset::Dataset;
use crate::error::{Error, Fault};
use crate::group::{self, Found};
use crate::header::Header;
use crate::superblock::Superblock;

/// An HDF5 file in memory.
#[derive(Clone, Debug)]
pub struct File {
    bytes: Vec<u8>,
    superblock: Superblock,
    allowance: Allowance,
}

impl File {
    /// Takes the bytes of a whole file, and reads how it begins.
    ///
    /// # Errors
    /// If it is no HDF5 file, is cut off, or is of a version that cannot be read.
    pub fn new(bytes: Vec<u8>) -> Result<Self, Error> {
        let allowance = Allowance::new(bytes.len() as u64);
        let superblock = Superblock::read(&bytes, &allowance).map_err(|fault| Error::new("", fault))?;
        Ok(Self { bytes, superblock, allowance })
    }

    /// Whether there is an object at a path such as `group/dataset`.
    ///
    /// # Errors
    /// If a group on the way cannot be read, or is none.
    pub fn contains(&self, path: &str) -> Result<bool, Error> {
        self.find(path).map(|address| address.is_some())
    }

    /// The array at a path such as `group/dataset`.
    ///
    /// # Errors
    /// If there is none, or its description cannot be read.
    pub fn dataset(&self, path: &str) -> Result<Dataset<'_>, Error> {
        let Some(address) = self.find(path)? else {
            return Err(Error::new(path, Fault::new("there is no such dataset in the file")));
        };
        let header = Header::read(self.source(), address);
        header.and_then(|header| Dataset::of(path, self.source(), &header)).map_err(|fault| Error::new(path, fault))
    }

    fn source(&self) -> Source<'_> {
        let Superblock { base, offset_size, length_size, .. } = self.superblock;
        Source { bytes: &self.bytes, base, offset_size, length_size, allowance: &self.allowance }
    }

    /// The address of the header of an object.
    fn find(&self, path: &str) -> Result<Option<u64>, Error> {
        let mut address = self.superblock.root;
        let mut walked = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let at = if walked.is_empty() { "/" } else { walked.as_str() };
            let here =
                Header::read(self.source(), address).and_then(|header| group::find(self.source(), &header, name));
            let found = here.map_err(|fault| Error::new(at, fault))?;
            if !walked.is_empty() {
                walked.push('/');
            }
            walked += name;
            address = match found {
                Found::Object(address) => address,
                Found::Nothing => return Ok(None),
                Found::Elsewhere(kind) => {
                    let what = format!("this is {kind}, and links cannot be followed; expected the object itself");
                    return Err(Error::new(&walked, Fault::new(what)));
                }
            };
        }
        Ok(Some(address))
    }
}
