//! Changes of files as accidents and people make them.

/// Makes inputs out of seeds, in an order that is always the same.
pub(crate) struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    words: &'a [&'a str],
    state: u64,
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seeds: &'a [Vec<u8>], words: &'a [&'a str]) -> Self {
        Self { seeds, words, state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// A number below `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) as usize).checked_rem(end).unwrap_or(0)
    }

    /// The next input: a seed with one to eight changes.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.seeds[self.below(self.seeds.len())].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(64)).min(bytes.len());
        match self.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.below(256) as u8,
            2 => bytes.truncate(at),
            3 if at < end => drop(bytes.drain(at..end)),
            4 if at < end => {
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            5 => {
                let other = &self.seeds[self.below(self.seeds.len())];
                let from = self.below(other.len());
                let to = (from + 1 + self.below(400)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            6 => {
                let word = self.words[self.below(self.words.len())];
                bytes.splice(at..at, word.bytes());
            }
            7 => self.replace_word(bytes, at),
            _ => {
                let number = self.below(usize::MAX).to_le_bytes();
                let width = 1 << self.below(4);
                let end = (at + width).min(bytes.len());
                bytes.splice(at..end, number[..width].iter().copied());
            }
        }
    }

    /// Puts a word in the place of the number or name at `at`.
    fn replace_word(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let part = |b: &u8| b.is_ascii_alphanumeric() || b"+-._".contains(b);
        let start = bytes[..at].iter().rposition(|b| !part(b)).map_or(0, |k| k + 1);
        let end = bytes[at..].iter().position(|b| !part(b)).map_or(bytes.len(), |k| at + k);
        let word = self.words[self.below(self.words.len())];
        bytes.splice(start..end, word.bytes());
    }
}
