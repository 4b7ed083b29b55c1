//! Clients and providers from `.proto` files, in a build script, with no `protoc` on the machine.
//!
//! ```no_run
//! // build.rs
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! equipoise_build::compile(&["proto/stock.proto"], &["proto"])?;
//! # Ok(())
//! # }
//! ```
//!
//! and in the program `mod stock { include!(concat!(env!("OUT_DIR"), "/acme.stock.rs")); }`. Beside
//! the messages there are then, for a service `Stock`, `StockClient`, the trait `Stock` and
//! `StockProvider`. The program needs `equipoise` and `prost`; nothing of this crate runs with it.
//!
//! # Not here
//!
//! What the generated code calls is in the facade's `proto` module.

mod service;

use std::io;
use std::path::{Path, PathBuf};

use prost::Message as _;

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file cannot be read or is not what it should be; says where.
    #[error("{0}")]
    Proto(#[from] protox::Error),
    /// The code cannot be written.
    #[error("cannot write the generated code: {0}")]
    Write(#[from] io::Error),
}

/// Compiles `files`, which import from `folders`, into `OUT_DIR`, and has cargo look at them again
/// when they change.
///
/// # Errors
/// A file that cannot be read or compiled, or no place to write to.
pub fn compile<F: AsRef<Path>, D: AsRef<Path>>(
    files: &[F],
    folders: &[D],
) -> Result<(), BuildError> {
    configure().compile(files, folders)
}

/// Starts a configuration.
pub fn configure() -> Builder {
    Builder { out: None, client: true, provider: true, descriptors: None }
}

/// What is generated, and where.
#[derive(Clone, Debug)]
#[must_use = "nothing is generated until it compiles"]
pub struct Builder {
    out: Option<PathBuf>,
    client: bool,
    provider: bool,
    descriptors: Option<PathBuf>,
}

impl Builder {
    /// Where the code goes. Default: `OUT_DIR`, which cargo gives to build scripts.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Whether clients are generated. Default yes.
    pub fn client(mut self, wanted: bool) -> Self {
        self.client = wanted;
        self
    }

    /// Whether traits and providers are generated. Default yes.
    pub fn provider(mut self, wanted: bool) -> Self {
        self.provider = wanted;
        self
    }

    /// Also writes the encoded `FileDescriptorSet`, which the server's reflection can offer.
    pub fn descriptors(mut self, file: impl Into<PathBuf>) -> Self {
        self.descriptors = Some(file.into());
        self
    }

    /// Compiles `files`, which import from `folders`.
    ///
    /// # Errors
    /// A file that cannot be read or compiled, or no place to write to.
    pub fn compile<F: AsRef<Path>, D: AsRef<Path>>(
        self,
        files: &[F],
        folders: &[D],
    ) -> Result<(), BuildError> {
        let set = protox::compile(files, folders)?;
        // Cargo listens to build scripts only, and gives this to nobody else.
        if std::env::var_os("OUT_DIR").is_some() {
            for path in files.iter().map(AsRef::as_ref).chain(folders.iter().map(AsRef::as_ref)) {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
        let mut config = prost_build::Config::new();
        let generator = service::Generator { client: self.client, provider: self.provider };
        config.service_generator(Box::new(generator));
        if let Some(out) = self.out {
            config.out_dir(out);
        }
        if let Some(file) = self.descriptors {
            std::fs::write(file, set.encode_to_vec())?;
        }
        config.compile_fds(set)?;
        Ok(())
    }
}
