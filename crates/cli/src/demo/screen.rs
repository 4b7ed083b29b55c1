//! Where the demo shows itself: a terminal that is repainted in place, plain text where output is
//! none, silence where one JSON document is all that is wanted.

use std::io::{self, IsTerminal, Write};

use crate::output::{self, Column, Width};

/// What the demo draws on.
pub(crate) struct Screen {
    mode: Mode,
    /// Lines of the live view that the next one paints over.
    painted: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    /// Repaints a live view under the lines that stay.
    Terminal,
    /// Only lines that stay.
    Plain,
    /// Nothing on standard output; headings on the error output where somebody sits before it.
    Quiet,
}

impl Screen {
    /// The one at hand.
    pub(crate) fn new(json: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let mode = match json {
            true => Mode::Quiet,
            false if io::stdout().is_terminal() && !dumb => Mode::Terminal,
            false => Mode::Plain,
        };
        Self { mode, painted: 0 }
    }

    /// A heading.
    pub(crate) fn heading(&mut self, text: &str) -> io::Result<()> {
        if self.mode == Mode::Quiet && io::stderr().is_terminal() {
            eprintln!("{text}");
        }
        self.line(&format!("\n{text}\n"))
    }

    /// A line that stays.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.clear()?;
        match self.mode {
            Mode::Quiet => Ok(()),
            _ => output::lines([text.to_owned()]),
        }
    }

    /// A table that stays.
    pub(crate) fn table(&mut self, columns: &[Column], rows: &[Vec<String>]) -> io::Result<()> {
        self.clear()?;
        match self.mode {
            Mode::Quiet => Ok(()),
            _ => output::lines(output::table(columns, rows, Width::of_stdout())),
        }
    }

    /// Whether anybody sees what is painted.
    pub(crate) fn is_live(&self) -> bool {
        self.mode == Mode::Terminal
    }

    /// Paints the live view over the one before.
    pub(crate) fn paint(&mut self, lines: &[String]) -> io::Result<()> {
        if !self.is_live() {
            return Ok(());
        }
        let size = terminal_size::terminal_size_of(io::stdout());
        let (width, height) = size.map_or((80, 24), |(w, h)| (usize::from(w.0), usize::from(h.0)));
        let painting = repaint(self.painted, lines, width, height);
        // A line too many would scroll the screen, and the way up would no longer be right.
        self.painted = lines.len().min(height.saturating_sub(1));
        let mut out = io::stdout().lock();
        out.write_all(painting.as_bytes())?;
        out.flush()
    }

    /// Takes the live view away.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.painted == 0 {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        write!(out, "\x1b[{}A\r\x1b[J", self.painted)?;
        self.painted = 0;
        out.flush()
    }
}

/// Goes up over what was painted, and writes each line to its end, cut to the width.
fn repaint(painted: usize, lines: &[String], width: usize, height: usize) -> String {
    let mut text = String::new();
    if painted > 0 {
        text.push_str(&format!("\x1b[{painted}A\r"));
    }
    for line in lines.iter().take(height.saturating_sub(1)) {
        text.extend(line.chars().take(width));
        text.push_str("\x1b[K\n");
    }
    text.push_str("\x1b[J");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn painting_goes_over_the_view_before_and_stays_inside_the_terminal() {
        let lines = ["abcdef".to_owned(), "gh".to_owned(), "ij".to_owned()];
        assert_eq!(repaint(0, &lines, 4, 24), "abcd\x1b[K\ngh\x1b[K\nij\x1b[K\n\x1b[J");
        assert_eq!(repaint(2, &lines, 4, 3), "\x1b[2A\rabcd\x1b[K\ngh\x1b[K\n\x1b[J");
    }
}
