//! Where class files are: jars, directories, single files. Looks classes up by name, and nothing more.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;

use super::classfile::ClassFile;
use super::error::GenError;

/// One place on the class path.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Where packages start, and a class that was named itself, wherever it lies.
    Directory(PathBuf, Option<(String, PathBuf)>),
    /// Index of each class in the archive.
    Jar(Box<ZipArchive<BufReader<File>>>, HashMap<String, usize>),
}

/// Bytes of one class file. What compilers write is limited to 64 KiB per method and constant.
const LARGEST: u64 = 16 << 20;

/// Directories and files seen while the classes of a directory are listed.
const LISTED: usize = 200_000;

/// What applications put before their own classes in a jar.
const PREFIXES: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];

impl Place {
    /// Opens a jar, a directory or a class file. For the latter, the directory is the one that its
    /// package starts in, and the class comes along.
    ///
    /// # Errors
    /// It cannot be read, or is none of them.
    pub(crate) fn open(path: &Path) -> Result<(Self, Option<String>), GenError> {
        let read = |source| GenError::Read { path: path.to_owned(), source };
        if fs::metadata(path).map_err(read)?.is_dir() {
            let kind = Kind::Directory(path.to_owned(), None);
            return Ok((Self { path: path.to_owned(), kind }, None));
        }
        let mut file = File::open(path).map_err(read)?;
        let mut start = Vec::new();
        file.by_ref().take(4).read_to_end(&mut start).map_err(read)?;
        if start.starts_with(b"PK") {
            let file = BufReader::new(File::open(path).map_err(read)?);
            let kind =
                jar(file).map_err(|source| GenError::Archive { path: path.to_owned(), source })?;
            return Ok((Self { path: path.to_owned(), kind }, None));
        }
        if start != [0xCA, 0xFE, 0xBA, 0xBE] && path.extension() != Some(OsStr::new("class")) {
            return Err(GenError::Unknown(path.to_owned()));
        }
        let class = parsed(&path.display().to_string(), &contents(path)?)?;
        let name = class.name.to_string();
        let kind = Kind::Directory(root_of(path, &name), Some((name.clone(), path.to_owned())));
        Ok((Self { path: path.to_owned(), kind }, Some(name)))
    }

    /// As the user named it.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Its last part, which does not depend on where it lies.
    pub(crate) fn file_name(&self) -> String {
        match self.path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.shown(),
        }
    }

    /// Reads a class; none if it is not here.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub(crate) fn class(&mut self, name: &str) -> Result<Option<ClassFile>, GenError> {
        let Some(entry) = entry_of(name) else { return Ok(None) };
        let (file, bytes) = match &mut self.kind {
            Kind::Directory(root, single) => {
                let path = match single {
                    Some((own, path)) if own == name => path.clone(),
                    _ => root.join(&entry),
                };
                if !path.is_file() {
                    return Ok(None);
                }
                (path.display().to_string(), contents(&path)?)
            }
            Kind::Jar(archive, index) => {
                let Some(at) = index.get(name).copied() else { return Ok(None) };
                let file = format!("{}!/{entry}", self.path.display());
                let unreadable = |source| GenError::Archive { path: file.clone().into(), source };
                let bytes = archive
                    .by_index(at)
                    .map_err(unreadable)
                    .and_then(|found| limited(found, &file, Path::new(&file)))?;
                (file, bytes)
            }
        };
        let class = parsed(&file, &bytes)?;
        if &*class.name != name {
            let found = class.name.to_string();
            return Err(GenError::Misplaced { file, found, wanted: name.to_owned() });
        }
        Ok(Some(class))
    }

    /// Names of all classes, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = match &self.kind {
            Kind::Jar(_, index) => index.keys().cloned().collect(),
            Kind::Directory(root, _) => listed(root),
        };
        names.sort_unstable();
        names
    }
}

fn jar(file: BufReader<File>) -> Result<Kind, zip::result::ZipError> {
    let archive = ZipArchive::new(file)?;
    let mut index = HashMap::new();
    for at in 0..archive.len() {
        // A name that is no text is no class's.
        let Some(Ok(name)) = archive.name_for_index(at) else { continue };
        let name = &*name;
        let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        // META-INF/versions has the same classes again for later virtual machines.
        if let Some(class) = name.strip_suffix(".class")
            && !class.starts_with("META-INF/")
        {
            index.entry(class.replace('/', ".")).or_insert(at);
        }
    }
    Ok(Kind::Jar(Box::new(archive), index))
}

fn parsed(file: &str, bytes: &[u8]) -> Result<ClassFile, GenError> {
    ClassFile::read(bytes).map_err(|source| GenError::Class { file: file.to_owned(), source })
}

fn contents(path: &Path) -> Result<Vec<u8>, GenError> {
    let file = File::open(path).map_err(|source| GenError::Read { path: path.into(), source })?;
    limited(file, &path.display().to_string(), path)
}

fn limited(from: impl Read, file: &str, path: &Path) -> Result<Vec<u8>, GenError> {
    let mut bytes = Vec::new();
    let read: io::Result<usize> = from.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|source| GenError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > LARGEST {
        return Err(GenError::TooLarge { file: file.to_owned(), limit: LARGEST });
    }
    Ok(bytes)
}

/// `com/acme/Stock.class`, if that is what a class of this name can be in: no way leads out of the
/// directory.
fn entry_of(name: &str) -> Option<String> {
    let plain = |part: &str| !part.is_empty() && !part.contains(['/', '\\', '\0', ':']);
    name.split('.').all(plain).then(|| name.replace('.', "/") + ".class")
}

/// Where the package of a class starts: above `com/acme` for a file `com/acme/Stock.class`.
fn root_of(path: &Path, class: &str) -> PathBuf {
    let around = path.parent().unwrap_or(Path::new(""));
    let mut root = around;
    for package in class.split('.').rev().skip(1) {
        match (root.file_name(), root.parent()) {
            (Some(name), Some(parent)) if name == OsStr::new(package) => root = parent,
            _ => return around.to_owned(),
        }
    }
    if root.as_os_str().is_empty() { PathBuf::from(".") } else { root.to_owned() }
}

fn listed(root: &Path) -> Vec<String> {
    let (mut names, mut waiting, mut seen) = (Vec::new(), vec![root.to_owned()], 0);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            seen += 1;
            if seen > LISTED {
                return names;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                _ => names.extend(class_at(root, &path)),
            }
        }
    }
    names
}

fn class_at(root: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root).ok()?.with_extension("");
    let parts = inside.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let parts: Option<Vec<&str>> = parts.collect();
    (path.extension() == Some(OsStr::new("class"))).then(|| parts.map(|parts| parts.join(".")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_lead_nowhere_else() {
        assert_eq!(entry_of("com.acme.Order$Line").unwrap(), "com/acme/Order$Line.class");
        for bad in ["", "..x", "a..b", "a./etc/passwd", "a.\\b", "C:.a", "a\0"] {
            assert_eq!(entry_of(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_package_of_a_class_starts_above_its_directories() {
        for (path, root) in [
            ("target/classes/com/acme/Stock.class", "target/classes"),
            ("com/acme/Stock.class", "."),
            ("elsewhere/Stock.class", "elsewhere"),
        ] {
            assert_eq!(root_of(Path::new(path), "com.acme.Stock"), Path::new(root), "{path}");
        }
    }
}
