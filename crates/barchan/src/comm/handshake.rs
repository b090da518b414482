//! The first word between ranks: whether they are the same program.
//!
//! Ranks of different builds would misread each other's messages. So each shows a card with the
//! version, the layout of messages and what the platform is like; rank 0 compares, and all learn
//! the verdict.

use super::Communicator;
use crate::util::pack::LAYOUT;
use std::fmt::Write;
use thiserror::Error;

/// Ranks that are not the same program. Every rank gets the same one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the ranks are not the same program: {differences}")]
pub struct HandshakeError {
    /// What differs, and on which ranks.
    pub differences: String,
}

/// How many ranks are named one by one.
const NAMED: usize = 8;

/// Checks that all ranks run the same version on the same kind of machine. To be called first, by
/// all of them.
pub fn handshake(communicator: &mut dyn Communicator) -> Result<(), HandshakeError> {
    show(communicator, &own_card())
}

/// What a rank tells: lines of plain text, which every version on every platform can read.
fn own_card() -> String {
    format!(
        "barchan {}\nmessages of layout {}\n{}-endian\n{} bytes an index",
        env!("CARGO_PKG_VERSION"),
        LAYOUT,
        if cfg!(target_endian = "little") { "little" } else { "big" },
        size_of::<usize>(),
    )
}

fn show(communicator: &mut dyn Communicator, card: &str) -> Result<(), HandshakeError> {
    communicator.stage("handshake");
    let cards = communicator.gather(card.as_bytes());
    let mut verdict = cards.map_or_else(Vec::new, |cards| differences(&cards).into_bytes());
    communicator.broadcast(&mut verdict);
    if verdict.is_empty() {
        return Ok(());
    }
    Err(HandshakeError { differences: String::from_utf8_lossy(&verdict).into_owned() })
}

/// What differs from the card of rank 0, each kind of card once; nothing if all agree.
fn differences(cards: &[Vec<u8>]) -> String {
    let mut kinds: Vec<(&[u8], Vec<usize>)> = Vec::new();
    for (rank, card) in cards.iter().enumerate() {
        match kinds.iter_mut().find(|kind| kind.0 == card.as_slice()) {
            Some(kind) => kind.1.push(rank),
            None => kinds.push((card, vec![rank])),
        }
    }
    let Some(((first, _), others)) = kinds.split_first() else { return String::new() };
    let first = String::from_utf8_lossy(first);
    let told = others.iter().map(|(card, ranks)| {
        let card = String::from_utf8_lossy(card);
        let mut have = Vec::new();
        let mut against = Vec::new();
        let mut lines = (card.lines(), first.lines());
        loop {
            match (lines.0.next(), lines.1.next()) {
                (None, None) => break,
                (a, b) if a != b => {
                    have.push(a.unwrap_or("nothing"));
                    against.push(b.unwrap_or("nothing"));
                }
                _ => {}
            }
        }
        format!("{} with {}, but rank 0 with {}", named(ranks), have.join(", "), against.join(", "))
    });
    told.collect::<Vec<_>>().join("; ")
}

/// "rank 3", "ranks 3, 4 and 5", "ranks 3, 4, … and 92 more".
pub(crate) fn named(ranks: &[usize]) -> String {
    let mut text = String::from(if ranks.len() == 1 { "rank" } else { "ranks" });
    for (k, rank) in ranks.iter().take(NAMED).enumerate() {
        let last = k + 1 == ranks.len();
        let comma = if k == 0 {
            " "
        } else if last {
            " and "
        } else {
            ", "
        };
        // Writing to a string does not fail.
        let _ = write!(text, "{comma}{rank}");
    }
    if ranks.len() > NAMED {
        let _ = write!(text, " and {} more", ranks.len() - NAMED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Solo, threads};

    #[test]
    fn equal_ranks_agree() {
        assert_eq!(handshake(&mut Solo), Ok(()));
        let results = threads::run(5, 1, |mut comm| handshake(comm.as_mut())).unwrap();
        assert_eq!(results, vec![Ok(()); 5]);
    }

    #[test]
    fn all_ranks_learn_which_ones_differ() {
        let results = threads::run(4, 1, |mut comm| {
            let card = own_card();
            let layout = |number: u8| format!("layout {number}");
            let other = card.replace("little", "big").replace(&layout(LAYOUT), &layout(LAYOUT + 1));
            let odd = comm.rank() % 2 == 1;
            show(comm.as_mut(), if odd { &other } else { &card })
        });
        for result in results.unwrap() {
            let expected = format!(
                "the ranks are not the same program: ranks 1 and 3 with messages of layout {}, big-endian, \
                 but rank 0 with messages of layout {LAYOUT}, little-endian",
                LAYOUT + 1
            );
            assert_eq!(result.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn long_lists_are_cut_and_strange_cards_told() {
        let mut cards = vec![b"a".to_vec()];
        cards.extend(vec![b"a\nb".to_vec(); 20]);
        cards.push(vec![0xff]);
        assert_eq!(
            differences(&cards),
            "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 12 more with b, but rank 0 with nothing; \
             rank 21 with \u{fffd}, but rank 0 with a"
        );
        assert_eq!(named(&[4]), "rank 4");
        assert_eq!(named(&[4, 6, 7]), "ranks 4, 6 and 7");
    }
}
