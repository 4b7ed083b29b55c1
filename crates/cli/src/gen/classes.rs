//! The classes of a class path, each read once.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use super::classfile::{Access, ClassFile};
use super::error::GenError;
use super::path::Place;

/// Classes by name, from the first place that has them.
#[derive(Debug)]
pub(crate) struct Classes {
    places: Vec<Place>,
    read: HashMap<Rc<str>, Option<Rc<ClassFile>>>,
    /// The class that the first place is, where that is one class file.
    pub(crate) single: Option<String>,
}

/// Names that an error lists.
const LISTED: usize = 12;

impl Classes {
    /// Opens the places.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn open<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Self, GenError> {
        let (mut places, mut single) = (Vec::new(), None);
        for path in paths {
            let (place, class) = Place::open(path)?;
            if places.is_empty() {
                single = class;
            }
            places.push(place);
        }
        Ok(Self { places, read: HashMap::new(), single })
    }

    /// What the output says it was written from.
    pub(crate) fn source(&self) -> String {
        self.places.first().map(Place::file_name).unwrap_or_default()
    }

    /// A class; none if it is nowhere.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn find(&mut self, name: &str) -> Result<Option<Rc<ClassFile>>, GenError> {
        if let Some(found) = self.read.get(name) {
            return Ok(found.clone());
        }
        let mut found = None;
        for place in &mut self.places {
            if let Some(class) = place.class(name)? {
                found = Some(Rc::new(class));
                break;
            }
        }
        self.read.insert(name.into(), found.clone());
        Ok(found)
    }

    /// An interface by its name, or by its simple name where only one has it.
    ///
    /// # Errors
    /// There is none, or something else, or several.
    pub(crate) fn interface(&mut self, name: &str) -> Result<Rc<ClassFile>, GenError> {
        if let Some(class) = self.find(name)? {
            let interface = class.access.has(Access::INTERFACE);
            // What is written about a package is an interface to the virtual machine, too.
            let other = class.access.has(Access::ANNOTATION | Access::SYNTHETIC);
            return if interface && !other {
                Ok(class)
            } else {
                Err(GenError::NotAnInterface(name.to_owned()))
            };
        }
        let all = self.names();
        let simple = |full: &&String| full.rsplit(['.', '$']).next() == Some(name);
        let found: Vec<String> = all.iter().filter(simple).cloned().collect();
        match &found[..] {
            [] => Err(self.missing(name, &all)),
            [one] => self.interface(one),
            _ => Err(GenError::Ambiguous { name: name.to_owned(), found }),
        }
    }

    /// Some interfaces that there are, for those who named none.
    pub(crate) fn interfaces(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        for name in self.names() {
            if found.len() == LISTED {
                break;
            }
            // A class that cannot be read is no reason not to list the others.
            if self.interface(&name).is_ok() {
                found.push(name);
            }
        }
        found
    }

    fn names(&self) -> Vec<String> {
        self.places.iter().flat_map(Place::names).collect()
    }

    fn missing(&self, name: &str, all: &[String]) -> GenError {
        let places: Vec<String> = self.places.iter().map(Place::shown).collect();
        let wanted = name.rsplit('.').next().unwrap_or(name).to_lowercase();
        let near: Vec<&str> = all
            .iter()
            .filter(|full| full.to_lowercase().contains(&wanted))
            .take(LISTED)
            .map(String::as_str)
            .collect();
        let near = match &near[..] {
            [] => String::new(),
            near => format!("; there are {}", near.join(", ")),
        };
        GenError::Missing { name: name.to_owned(), place: places.join(", "), near }
    }
}
