//! What each rank of a run had and did.

use super::human::{bytes, duration, grouped, short};
use super::summary::number_or_nan;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Rows that the table for people has at most; `summary.json` has all.
const ROWS: usize = 16;

/// The part of one rank, or of all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Bodies that it owned at the end.
    pub bodies: u64,
    /// Copies of other ranks' bodies in the last step.
    pub copies: u64,
    /// Contacts of the last step that it treated.
    pub contacts: u64,
    /// Ranks that it may have to talk to.
    pub neighbours: u64,
    /// Messages that it sent to neighbours.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Reductions over all ranks.
    pub reductions: u64,
    /// Seconds of waiting for others.
    #[serde(deserialize_with = "number_or_nan")]
    pub waiting: f64,
    /// Seconds of steps without waiting.
    #[serde(deserialize_with = "number_or_nan")]
    pub busy: f64,
}

/// A run by rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByRank {
    /// How space is divided.
    pub partition: String,
    /// Most bodies of a rank, in terms of the mean.
    #[serde(deserialize_with = "number_or_nan")]
    pub imbalance_bodies: f64,
    /// Most busy seconds of a rank, in terms of the mean.
    #[serde(deserialize_with = "number_or_nan")]
    pub imbalance_busy: f64,
    /// A row a rank, in their order.
    pub rows: Vec<Share>,
    /// Their sums.
    pub total: Share,
}

impl ByRank {
    /// Puts the rows of all ranks together.
    pub fn new(partition: impl Into<String>, rows: Vec<Share>) -> Self {
        let mut total = Share::default();
        for row in &rows {
            total.bodies += row.bodies;
            total.copies += row.copies;
            total.contacts += row.contacts;
            total.neighbours += row.neighbours;
            total.messages += row.messages;
            total.bytes += row.bytes;
            total.reductions += row.reductions;
            total.waiting += row.waiting;
            total.busy += row.busy;
        }
        let imbalance = |of: fn(&Share) -> f64| {
            let mean = of(&total) / rows.len() as f64;
            if mean > 0.0 { rows.iter().map(of).fold(0.0, f64::max) / mean } else { 1.0 }
        };
        Self {
            partition: partition.into(),
            imbalance_bodies: imbalance(|share| share.bodies as f64),
            imbalance_busy: imbalance(|share| share.busy),
            rows,
            total,
        }
    }

    /// Lines for people.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{:<12} {}; largest rank over mean: {} in bodies, {} in busy time",
            "partition",
            self.partition,
            short((100.0 * self.imbalance_bodies).round() / 100.0),
            short((100.0 * self.imbalance_busy).round() / 100.0),
        );
        let mut line = |cells: [String; 10]| {
            let _ = write!(text, "{:<6}", cells[0]);
            cells[1..].iter().for_each(|cell| _ = write!(text, " {cell:>11}"));
            text.push('\n');
        };
        let heads = ["rank", "bodies", "copies", "contacts", "neighbours", "messages", "bytes", "reductions"];
        let heads = heads.into_iter().chain(["waiting", "busy"]).map(String::from).collect::<Vec<_>>();
        line(std::array::from_fn(|k| heads[k].clone()));
        let cells = |name: String, share: &Share| {
            [
                name,
                grouped(share.bodies),
                grouped(share.copies),
                grouped(share.contacts),
                grouped(share.neighbours),
                grouped(share.messages),
                bytes(share.bytes),
                grouped(share.reductions),
                duration(share.waiting),
                duration(share.busy),
            ]
        };
        for (rank, share) in self.rows.iter().enumerate().take(ROWS) {
            line(cells(rank.to_string(), share));
        }
        line(cells("all".into(), &self.total));
        if self.rows.len() > ROWS {
            let _ = writeln!(text, "       {} more ranks are in summary.json", self.rows.len() - ROWS);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_imbalances_are_those_of_the_rows() {
        let row = |bodies, busy| Share { bodies, busy, messages: 3, ..Share::default() };
        let all = ByRank::new("morton", vec![row(10, 1.0), row(30, 0.5), row(20, 0.0)]);
        assert_eq!((all.total.bodies, all.total.messages, all.total.busy), (60, 9, 1.5));
        assert_eq!((all.imbalance_bodies, all.imbalance_busy), (1.5, 2.0));
        let table = all.table();
        assert_eq!(table.lines().count(), 6, "{table}");
        assert!(table.starts_with("partition    morton; largest rank over mean: 1.5 in bodies, 2 in busy time\n"));
        // Idle ranks are balanced.
        assert_eq!(ByRank::new("", vec![Share::default(); 2]).imbalance_bodies, 1.0);
        let many = ByRank::new("morton", vec![row(1, 1.0); 40]).table();
        assert!(many.ends_with("24 more ranks are in summary.json\n") && many.lines().count() == 20, "{many}");
    }
}
