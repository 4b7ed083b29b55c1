//! The command line: four subcommands and a few options.

/// What to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Command {
    Picks,
    Rebuild,
    Rpc,
    Hessian,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) quick: bool,
    sizes: Vec<usize>,
    rounds: Option<usize>,
    only: Vec<String>,
}

pub(crate) const USAGE: &str = "\
usage: cargo run --release -- COMMAND [OPTION...]

  picks     cost of one pick: every strategy beside textbook code and the machine's limit
  rebuild   cost of a change: a weight, one more, one less
  rpc       calls per second and latency on loopback, beside tonic
  hessian   objects per second written and read, beside serde_json

  --quick            fewer sizes and rounds: seconds instead of minutes
  --sizes 10,1000    numbers of providers (picks, rebuild)
  --rounds 15        how often everything is measured
  --only WORD        strategies, contenders and sets with this word in their name (may be repeated)";

impl Options {
    /// Reads arguments, without the program's name.
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let command = match arguments.next().as_deref() {
            Some("picks") => Command::Picks,
            Some("rebuild") => Command::Rebuild,
            Some("rpc") => Command::Rpc,
            Some("hessian") => Command::Hessian,
            Some(other) => return Err(format!("no such command: {other}")),
            None => return Err("a command is missing".to_owned()),
        };
        let mut options =
            Self { command, quick: false, sizes: Vec::new(), rounds: None, only: Vec::new() };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--quick" => options.quick = true,
                "--sizes" => options.sizes = sizes(&value()?)?,
                "--rounds" => options.rounds = Some(number(&value()?)?),
                "--only" => options.only.push(value()?),
                _ => return Err(format!("no such option: {name}")),
            }
        }
        Ok(options)
    }

    /// The numbers of providers to measure.
    pub(crate) fn sizes(&self, full: &[usize], quick: &[usize]) -> Vec<usize> {
        match (self.sizes.as_slice(), self.quick) {
            ([], true) => quick.to_vec(),
            ([], false) => full.to_vec(),
            (own, _) => own.to_vec(),
        }
    }

    /// How often everything is measured.
    pub(crate) fn rounds(&self, full: usize, quick: usize) -> usize {
        self.rounds.unwrap_or(if self.quick { quick } else { full })
    }

    /// Whether a contender was asked for.
    pub(crate) fn wants(&self, strategy: &str, name: &str) -> bool {
        let named = |word: &String| strategy == word || name.contains(word.as_str());
        self.only.is_empty() || self.only.iter().any(named)
    }
}

fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let sizes = text.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
    // With one provider there is nothing to choose.
    if sizes.iter().all(|n| (2..=1_000_000).contains(n)) {
        Ok(sizes)
    } else {
        Err(format!("sizes are 2 to 1000000: {text}"))
    }
}

fn number(text: &str) -> Result<usize, String> {
    let number = text.trim().parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("not a positive number: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read_or_refused() {
        let options = read("picks --quick --sizes 2,30 --only random").unwrap();
        assert_eq!((options.command, options.quick), (Command::Picks, true));
        assert_eq!(options.sizes(&[1], &[2]), [2, 30]);
        assert!(options.wants("random", "ours") && !options.wants("p2c", "ours"));
        for wrong in ["", "fly", "picks --sizes 1", "picks --rounds 0", "rpc --fast", "rpc --only"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
