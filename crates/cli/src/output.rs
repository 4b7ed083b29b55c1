//! What commands print: tables for people, JSON for programs. Plain text without escape codes;
//! only the demo's live view knows how to repaint.

use std::io::{self, IsTerminal, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;

/// How wide a table may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Width {
    /// As wide as its rows: one row, one line, for files and `grep`.
    Free,
    /// Folded to this many columns.
    Columns(u16),
}

impl Width {
    /// That of the terminal at standard output, where there is one.
    pub(crate) fn of_stdout() -> Self {
        if !io::stdout().is_terminal() {
            return Width::Free;
        }
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map_or(Width::Free, |(width, _)| Width::Columns(width.0.max(40)))
    }
}

/// A column: its heading, and on which side its cells stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// A name, never folded.
    Name(&'static str),
    /// Words.
    Text(&'static str),
    /// Numbers.
    Number(&'static str),
}

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Column::Name(heading) | Column::Text(heading) | Column::Number(heading) => heading,
        }
    }
}

/// Lays out rows under headings.
pub(crate) fn table(columns: &[Column], rows: &[Vec<String>], width: Width) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    match width {
        Width::Free => table.set_content_arrangement(ContentArrangement::Disabled),
        Width::Columns(columns) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns)
        }
    };
    table.set_header(columns.iter().map(|c| c.heading()));
    table.add_rows(rows);
    for (place, column) in columns.iter().enumerate() {
        if let Some(laid_out) = table.column_mut(place) {
            laid_out.set_padding((0, 2));
            match column {
                Column::Name(_) => {
                    laid_out.set_constraint(ColumnConstraint::ContentWidth);
                }
                Column::Text(_) => {}
                Column::Number(_) => laid_out.set_cell_alignment(CellAlignment::Right),
            }
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Prints lines.
pub(crate) fn lines(lines: impl IntoIterator<Item = String>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Prints one JSON document.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// A share as people read it.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A time in milliseconds, where there is one.
pub(crate) fn ms(time: Option<f64>) -> String {
    time.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_nothing_else_is_drawn() {
        let columns = [Column::Text("NAME"), Column::Number("CALLS")];
        let rows = [vec!["a".to_owned(), "5".to_owned()], vec!["bb".to_owned(), "120".to_owned()]];
        assert_eq!(
            table(&columns, &rows, Width::Free),
            ["NAME  CALLS", "a         5", "bb      120"]
        );
    }

    #[test]
    fn a_narrow_terminal_folds_cells() {
        let columns = [Column::Name("NAME"), Column::Text("WHAT IT IS FOR")];
        let rows = [vec!["boundedconsistenthash".to_owned(), "fair ".repeat(30)]];
        let laid_out = table(&columns, &rows, Width::Columns(40));
        assert!(laid_out.len() > 3 && laid_out[1].starts_with("boundedconsistenthash"));
        assert!(laid_out.iter().all(|line| line.chars().count() <= 40), "{laid_out:#?}");
    }
}
