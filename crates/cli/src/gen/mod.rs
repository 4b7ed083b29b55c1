//! `equipoise gen`: Rust source for a Java interface, from its class files. No virtual machine is
//! needed, neither here nor where the source is used.
//!
//! ```text
//!  path ─► classfile ─► classes          bytes to what classes declare
//!  interface, objects (closed, map)      what they declare to the model
//!  naming, recursion                     names that are free, types that are finite
//!  emit (layout)                         the model to text
//! ```

mod classes;
mod classfile;
mod closed;
mod emit;
mod error;
mod interface;
mod known;
mod layout;
mod map;
mod model;
mod names;
mod naming;
mod objects;
mod path;
mod recursion;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use crate::failure::usage;
use crate::output;

use classes::Classes;
use emit::Style;
use error::GenError;
use map::{Choices, Mapper};
use model::Model;

/// Writes the Rust trait of a Java interface, and the types that travel with it, from class files.
///
/// Fields, parameters and results are an Option where Java may have a null; elements of collections
/// are not. What has no certain Rust type is a java::Value.
#[derive(Debug, Args)]
#[command(after_help = "Example: equipoise gen stock-api.jar com.acme.Stock --out src/stock.rs")]
pub(crate) struct GenArgs {
    /// A jar, a directory of class files, or one class file.
    #[arg(value_name = "JAR|CLASSES")]
    classes: PathBuf,
    /// Interfaces; the package may be left out where only one has that name. A single class file
    /// needs none.
    #[arg(value_name = "INTERFACE")]
    interfaces: Vec<String>,
    /// Another jar or directory, for types that are not in the first. May be given several times.
    #[arg(long, value_name = "JAR|CLASSES")]
    classpath: Vec<PathBuf>,
    /// Where to write, instead of the standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Group of the service.
    #[arg(long)]
    group: Option<String>,
    /// Version of the service.
    #[arg(long)]
    version: Option<String>,
    /// Makes elements of collections and arrays an Option, too.
    #[arg(long)]
    nullable_elements: bool,
    /// Gives enums a variant for constants that are added later.
    #[arg(long)]
    open_enums: bool,
}

/// Runs the command.
pub(crate) fn run(args: &GenArgs) -> anyhow::Result<()> {
    let paths = std::iter::once(&args.classes).chain(&args.classpath);
    let mut classes = Classes::open(paths.map(PathBuf::as_path))?;
    let interfaces = match (&args.interfaces[..], &classes.single) {
        ([], Some(single)) => vec![single.clone()],
        ([], None) => return Err(unnamed(&mut classes).into()),
        (named, _) => named.to_vec(),
    };
    let choices = Choices { nullable_elements: args.nullable_elements };
    let model = model(&mut classes, &interfaces, choices)?;
    let style = Style {
        source: classes.source(),
        group: args.group.clone(),
        version: args.version.clone(),
        open_enums: args.open_enums,
    };
    let source = emit::emit(&model, &style);
    for note in &model.notes {
        eprintln!("note: {note}");
    }
    match &args.out {
        Some(path) => {
            std::fs::write(path, source).with_context(|| path.display().to_string())?;
        }
        None => output::lines(source.lines().map(str::to_owned))?,
    }
    Ok(())
}

fn unnamed(classes: &mut Classes) -> crate::failure::Usage {
    match &classes.interfaces()[..] {
        [] => usage("which interface? There is none here"),
        found => usage(format!("which interface? There are {}", found.join(", "))),
    }
}

/// Reads interfaces and everything that they use.
fn model(
    classes: &mut Classes,
    interfaces: &[String],
    choices: Choices,
) -> Result<Model, GenError> {
    let mut model = Model::default();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for name in interfaces {
        let class = classes.interface(name)?;
        if seen.insert(class.name.clone()) {
            found.push(class);
        }
    }
    let mut mapper = Mapper::new(classes, choices);
    for class in &found {
        model.interfaces.push(interface::read(&mut mapper, class, &mut model.faults)?);
        mapper.fill()?;
    }
    (model.types, model.notes) = (mapper.types, mapper.notes);
    recursion::cut(&mut model.types);
    naming::name(&mut model);
    Ok(model)
}
