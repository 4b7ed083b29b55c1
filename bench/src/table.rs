//! Markdown tables. Pure.

use std::fmt::Write;

/// Rows of text under a head; the first column is left-aligned, the others are numbers.
pub(crate) struct Table {
    columns: usize,
    text: String,
}

impl Table {
    pub(crate) fn new<S: AsRef<str>>(head: impl IntoIterator<Item = S>) -> Self {
        let mut table = Self { columns: 0, text: String::new() };
        for title in head {
            let _ = write!(table.text, "| {} ", title.as_ref());
            table.columns += 1;
        }
        let rest = " ---: |".repeat(table.columns.saturating_sub(1));
        let _ = write!(table.text, "|\n| --- |{rest}\n");
        table
    }

    pub(crate) fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut used = 0;
        for cell in cells {
            let _ = write!(self.text, "| {} ", cell.as_ref());
            used += 1;
        }
        debug_assert_eq!(used, self.columns, "a row of another table");
        self.text.push_str("|\n");
    }

    pub(crate) fn print(&self) {
        println!("{}", self.text);
    }
}

/// A time or a ratio with three digits that mean something.
pub(crate) fn short(number: f64) -> String {
    match number {
        x if x.is_nan() => "-".to_owned(),
        x if x < 0.995 => format!("{x:.2}"),
        x if x < 99.95 => format!("{x:.1}"),
        x if x < 9_999.5 => format!("{x:.0}"),
        x => format!("{:.1}k", x / 1_000.0),
    }
}
