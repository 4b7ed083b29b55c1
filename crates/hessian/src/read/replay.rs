//! Reading again and passing over. A value that was started can be read once more from its bytes: the
//! tables know which of their entries were there then, so reading again adds nothing. What that may
//! cost is bounded twice: the values that are read again by [`Limits::expansion`](crate::Limits), the
//! bytes that are read again by [`Limits::memory`](crate::Limits).

use super::{Cursor, Reader, Resume, Token};
use crate::error::{Error, ErrorKind};

impl<'a> Reader<'a> {
    /// Notes that the value with this number was read to its end, so that it may be referred to.
    #[inline]
    pub fn finish(&mut self, number: usize) {
        if let Some(started) = self.started.get_mut(number) {
            started.open = false;
        }
        self.flat = 0;
    }

    /// Whether the value that was started as `number` has not been read to its end.
    pub fn is_open(&self, number: usize) -> bool {
        self.started.get(number).is_some_and(|started| started.open)
    }

    /// Goes back to the value that was started as `number`; [`resume`](Self::resume) returns.
    ///
    /// # Errors
    /// There is no such value, it is not finished (it would contain itself), or a limit is exceeded.
    pub fn replay(&mut self, number: usize) -> Result<Resume, Error> {
        let known = self.started.len();
        let started = self.started.get(number).copied().ok_or_else(|| {
            self.error(ErrorKind::Index { what: "reference", index: number, known })
        })?;
        if started.open {
            return Err(self.error(ErrorKind::Cyclic));
        }
        if self.replaying >= self.limits.depth {
            return Err(self.limit("depth", "values within each other", self.limits.depth));
        }
        // What was read again so far.
        self.take_memory(0)?;
        if self.total == 0 {
            self.total = self.count();
        }
        self.replaying += 1;
        let from = started.offset as usize;
        let resume = Resume { at: self.at, cursor: self.cursor, from };
        self.at = from;
        self.cursor = Cursor {
            started: number,
            classes: started.classes as usize,
            types: started.types as usize,
        };
        Ok(resume)
    }

    /// Goes on where [`replay`](Self::replay) went away.
    pub fn resume(&mut self, resume: Resume) {
        // Reading again costs as much as the bytes are long, whatever they hold.
        self.memory = self.memory.saturating_add(self.at.saturating_sub(resume.from));
        self.at = resume.at;
        self.cursor = resume.cursor;
        self.replaying = self.replaying.saturating_sub(1);
    }

    /// Goes back to a position from which only one value without parts was read.
    pub(crate) fn rewind(&mut self, position: usize) {
        self.at = position;
        self.unvisit();
    }

    /// Counts one value that is read again.
    pub(super) fn visit_again(&mut self) -> Result<(), Error> {
        self.again += 1;
        let limit = self.total.saturating_mul(self.limits.expansion);
        if self.again > limit {
            return Err(self.limit("expansion", "visits of values that are referred to", limit));
        }
        Ok(())
    }

    /// How many values the input has, as far as it can be read. Linear, and asked once.
    fn count(&self) -> usize {
        let mut all = Reader::with_limits(self.input, &self.limits);
        while !all.at_end() && all.skip_value().is_ok() {}
        all.visited().max(1)
    }

    /// Reads one value and everything in it, for the tables only.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn skip_value(&mut self) -> Result<(), Error> {
        let first = self.next()?;
        self.skip_rest(first)
    }

    /// Reads what is left of the value whose first token was `first`.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn skip_rest(&mut self, first: Token<'a>) -> Result<(), Error> {
        let mut open: Vec<(Rest, usize)> = Vec::new();
        let mut token = first;
        loop {
            match token {
                Token::List { len: Some(len), number, .. } => {
                    open.push((Rest::Values(len), number))
                }
                Token::List { len: None, number, .. } => open.push((Rest::UpToEnd, number)),
                Token::Map { number, .. } => open.push((Rest::Pairs { key: false }, number)),
                Token::Object { class, number } => {
                    open.push((Rest::Values(self.class(class).fields.len()), number));
                }
                Token::End => match open.pop() {
                    Some((Rest::UpToEnd | Rest::Pairs { key: true }, number)) => {
                        self.finish(number);
                    }
                    _ => return Err(self.unexpected_end()),
                },
                _ => {}
            }
            if open.len() > self.limits.depth {
                return Err(self.limit("depth", "values within each other", self.limits.depth));
            }
            while let Some((Rest::Values(0), number)) = open.last() {
                let number = *number;
                self.finish(number);
                open.pop();
            }
            match open.last_mut() {
                None => return Ok(()),
                Some((Rest::Values(left), _)) => *left -= 1,
                Some((Rest::Pairs { key }, _)) => *key = !*key,
                Some((Rest::UpToEnd, _)) => {}
            }
            token = self.next()?;
        }
    }
}

/// What is still to come of a value that is passed over.
enum Rest {
    /// So many values.
    Values(usize),
    /// As many values as there are before the end.
    UpToEnd,
    /// Keys and values up to the end; whether a key, or the end, is what comes next.
    Pairs { key: bool },
}
