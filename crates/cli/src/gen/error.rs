//! Why nothing was written.

use std::path::PathBuf;

use super::classfile::Fault;

/// Why class files could not be turned into Rust.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenError {
    /// A file or directory cannot be read.
    #[error("{}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A jar cannot be read.
    #[error("{}", path.display())]
    Archive {
        path: PathBuf,
        #[source]
        source: zip::result::ZipError,
    },
    /// Neither a directory, nor a jar, nor a class file.
    #[error("{}: neither a directory, nor a jar, nor a class file", .0.display())]
    Unknown(PathBuf),
    /// A class file is broken.
    #[error("{file}")]
    Class {
        file: String,
        #[source]
        source: Fault,
    },
    /// A class file holds a class of another name.
    #[error("{file} holds {found}, not {wanted}")]
    Misplaced { file: String, found: String, wanted: String },
    /// A class file is larger than any compiler's.
    #[error("{file} has more than {limit} bytes")]
    TooLarge { file: String, limit: u64 },
    /// No such class.
    #[error("no class {name} in {place}{near}")]
    Missing { name: String, place: String, near: String },
    /// Several classes have that simple name.
    #[error("which {name}? There are {}", .found.join(", "))]
    Ambiguous { name: String, found: Vec<String> },
    /// Something else than an interface.
    #[error("{0} is not an interface")]
    NotAnInterface(String),
    /// The types refer to each other without end.
    #[error("more than {limit} types are reached from {interface}")]
    TooMany { interface: String, limit: usize },
}
