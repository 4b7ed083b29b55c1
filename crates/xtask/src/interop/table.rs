//! `interop/matrix.json`: what must come out of every cell.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use anyhow::{Context, ensure};
use serde_json::{Map, Value};

use crate::interop::Ended;
use crate::interop::build::root;
use crate::interop::cell::Cell;

/// What must come out of a cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// It works.
    Pass,
    /// The protocol has no such thing.
    NotInProtocol {
        /// Why.
        reason: String,
    },
    /// It exists, and nobody runs it.
    NotRun {
        /// Why.
        reason: String,
    },
    /// The peer cannot do it.
    PeerDefect {
        /// What it does instead.
        reason: String,
        /// The release that does.
        peer: String,
        /// What our side must do all the same.
        ours: String,
    },
}

/// The whole table.
#[derive(Debug)]
pub(crate) struct Table {
    /// In the order of the file.
    rows: Vec<String>,
    columns: Vec<String>,
    states: BTreeMap<(String, String), State>,
}

impl Table {
    /// Reads the file. Every row must say something for every column.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let path = root().join("interop").join("matrix.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let document: Value = serde_json::from_str(text)?;
        let columns: Vec<String> = serde_json::from_value(document["columns"].clone())?;
        let known: HashSet<&str> = columns.iter().map(String::as_str).collect();
        let listed = document["rows"].as_object().context("no rows")?;
        let mut states = BTreeMap::new();
        for (row, cells) in listed {
            let cells = cells.as_object().with_context(|| format!("{row}: no object"))?;
            for name in cells.keys() {
                ensure!(known.contains(name.as_str()), "{row}: no column {name:?}");
            }
            for column in &columns {
                let state = cells.get(column).with_context(|| format!("{row}: no {column:?}"))?;
                let state = State::of(state).with_context(|| format!("{row}: {column}"))?;
                states.insert((column.clone(), row.clone()), state);
            }
        }
        Ok(Self { rows: listed.keys().cloned().collect(), columns, states })
    }

    /// What the table says of a cell.
    pub(crate) fn state(&self, cell: &Cell) -> Option<&State> {
        self.states.get(&(cell.column.to_owned(), cell.row.to_owned()))
    }

    /// Fails unless the runner has exactly the cells that the table wants to run.
    pub(crate) fn covers(&self, cells: &[&Cell]) -> anyhow::Result<()> {
        let mut wanted: HashSet<(&str, &str)> = self
            .states
            .iter()
            .filter(|(_, state)| {
                !matches!(state, State::NotInProtocol { .. } | State::NotRun { .. })
            })
            .map(|((column, row), _)| (column.as_str(), row.as_str()))
            .collect();
        for cell in cells {
            ensure!(wanted.remove(&(cell.column, cell.row)), "{cell}: not in the table, or twice");
        }
        ensure!(wanted.is_empty(), "in the table, and nobody runs it: {wanted:?}");
        Ok(())
    }

    /// The table with results: a row a line.
    pub(crate) fn shown(&self, ended: &[(&Cell, Ended)]) -> String {
        let result = |column: &str, row: &str| {
            let cell = ended.iter().find(|(cell, _)| cell.column == column && cell.row == row);
            match (cell, self.states.get(&(column.to_owned(), row.to_owned()))) {
                (Some((_, ended)), _) => ended.word,
                (None, Some(State::NotInProtocol { .. })) => "-",
                _ => "not run",
            }
        };
        let first = self.rows.iter().map(String::len).max().unwrap_or(0);
        let mut text = format!("\n{:first$}", "");
        for column in &self.columns {
            let _ = write!(text, "  {column}");
        }
        text.push('\n');
        for row in &self.rows {
            let _ = write!(text, "{row:first$}");
            for column in &self.columns {
                let _ = write!(text, "  {:width$}", result(column, row), width = column.len());
            }
            text.push('\n');
        }
        let good = ended.iter().filter(|(_, ended)| ended.good).count();
        let _ = writeln!(text, "\n{good} as listed, {} not", ended.len() - good);
        text
    }
}

impl State {
    fn of(value: &Value) -> anyhow::Result<Self> {
        if value == "pass" {
            return Ok(State::Pass);
        }
        let (name, inner) = value
            .as_object()
            .and_then(|object| object.iter().next())
            .with_context(|| format!("{value} is no state"))?;
        match name.as_str() {
            "not-in-protocol" => {
                let reason = inner.as_str().context("no reason")?.to_owned();
                Ok(State::NotInProtocol { reason })
            }
            "not-run" => {
                let reason = inner.as_str().context("no reason")?.to_owned();
                Ok(State::NotRun { reason })
            }
            "peer-defect" => {
                let inner = inner.as_object().context("a defect is an object")?;
                let text = |key| Self::text(inner, key);
                Ok(State::PeerDefect {
                    reason: text("reason")?,
                    peer: text("peer")?,
                    ours: text("ours")?,
                })
            }
            other => anyhow::bail!("no state {other:?}"),
        }
    }

    fn text(object: &Map<String, Value>, key: &str) -> anyhow::Result<String> {
        let text = object.get(key).and_then(Value::as_str).unwrap_or_default();
        ensure!(!text.is_empty(), "no {key}");
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &[Cell] = &[];

    fn table(rows: &str) -> anyhow::Result<Table> {
        Table::parse(&format!(r#"{{ "columns": ["a", "b"], "rows": {rows} }}"#))
    }

    #[test]
    fn the_checked_in_table_can_be_read() {
        let table = Table::read().unwrap();
        assert!(!table.states.is_empty());
    }

    #[test]
    fn every_row_says_something_for_every_column() {
        table(r#"{ "x": { "a": "pass", "b": { "not-in-protocol": "why" } } }"#).unwrap();
        for bad in [
            r#"{ "x": { "a": "pass" } }"#,
            r#"{ "x": { "a": "pass", "b": "pass", "c": "pass" } }"#,
            r#"{ "x": { "a": "pass", "b": "skip" } }"#,
            r#"{ "x": { "a": "pass", "b": { "not-in-protocol": null } } }"#,
            r#"{ "x": { "a": "pass", "b": { "peer-defect": { "reason": "r", "peer": "1" } } } }"#,
        ] {
            assert!(table(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn cells_and_table_must_agree() {
        let one = table(r#"{ "x": { "a": "pass", "b": { "not-in-protocol": "why" } } }"#).unwrap();
        let cell = |column, row| Cell {
            column,
            row,
            run: |_| Box::pin(async { Ok(crate::interop::cell::Shown::Works(String::new())) }),
        };
        let (x, y) = (cell("a", "x"), cell("a", "y"));
        one.covers(&[&x]).unwrap();
        assert!(one.covers(&NONE.iter().collect::<Vec<_>>()).is_err());
        assert!(one.covers(&[&x, &x]).is_err());
        assert!(one.covers(&[&x, &y]).is_err());
        assert!(one.covers(&[&x, &cell("b", "x")]).is_err());
    }
}
