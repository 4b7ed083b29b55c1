//! Objects and their class definitions. The definition of a class stands in front of its first object,
//! yet serde names the fields one by one, between their values. So the writer remembers which fields
//! each Rust type had the last time and writes that definition at once; where it turns out wrong, or
//! where the class is new, the right one goes in front when the object ends.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Writer;
use crate::error::{Error, ErrorKind};

/// How many classes a thread remembers.
const REMEMBERED: usize = 1024;

/// By address and length of the class's name, which is a part of the program.
type Shapes = RefCell<BTreeMap<(usize, usize), Option<Arc<Shape>>>>;

thread_local! {
    static SHAPES: Shapes = const { RefCell::new(BTreeMap::new()) };
}

/// The fields of a class, and how that is written. It says nothing about any value.
#[derive(Debug)]
struct Shape {
    fields: Vec<&'static str>,
    definition: Vec<u8>,
}

/// A class of the stream.
#[derive(Debug)]
pub(super) struct Class {
    name: Cow<'static, str>,
    fields: Fields,
    /// How many fields it has, where that was said.
    count: Option<usize>,
    /// Whether an object of it has ended, so that all fields are known.
    complete: bool,
}

#[derive(Debug)]
enum Fields {
    /// As remembered. The definition is in its place.
    Remembered(Arc<Shape>),
    Own(Vec<Cow<'static, str>>),
}

impl Fields {
    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        match self {
            Fields::Remembered(shape) => shape.fields.get(at).copied(),
            Fields::Own(fields) => fields.get(at).map(AsRef::as_ref),
        }
    }

    fn len(&self) -> usize {
        match self {
            Fields::Remembered(shape) => shape.fields.len(),
            Fields::Own(fields) => fields.len(),
        }
    }
}

/// An object whose fields are being written.
#[derive(Debug)]
pub(super) struct Open {
    class: usize,
    /// Where its definition is or goes, and how long the one that is there is, if this is the first
    /// object of its class.
    definition: Option<(usize, usize)>,
    written: usize,
    number: usize,
}

/// Whether two texts are the same; those of one type are at the same place, too.
#[inline]
fn same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl Writer {
    /// Starts an object; for each field [`field`](Self::field) and its value follow, then
    /// [`end_object`](Self::end_object). Its number is the answer.
    pub fn object(&mut self, class: &str) -> usize {
        match self.classes.iter().rposition(|known| known.name == class) {
            Some(index) => self.begin_object(index, None),
            None => self.new_object(Cow::Owned(class.to_owned()), Fields::Own(Vec::new()), None),
        }
    }

    /// The same for a class that is a Rust type, whose fields are named by
    /// [`field_of_type`](Self::field_of_type). With another number of fields than before it is
    /// defined anew.
    pub(crate) fn object_of_type(&mut self, class: &'static str, count: usize) -> usize {
        let is = |known: &Class| known.count == Some(count) && same(&known.name, class);
        if let Some(index) = self.classes.iter().rposition(is) {
            return self.begin_object(index, None);
        }
        let fields = match remembered(class) {
            Some(shape) if shape.fields.len() == count => Fields::Remembered(shape),
            _ => Fields::Own(Vec::new()),
        };
        self.new_object(Cow::Borrowed(class), fields, Some(count))
    }

    /// The same with the fields known, so that the definition is in its place at once: a class that came
    /// before with other fields is defined anew.
    pub fn object_with<'f>(
        &mut self,
        class: &str,
        fields: impl Iterator<Item = &'f str> + Clone,
    ) -> usize {
        let is = |known: &Class| {
            let all = (0..known.fields.len()).map_while(|at| known.fields.get(at));
            known.name == class && known.complete && all.eq(fields.clone())
        };
        if let Some(index) = self.classes.iter().rposition(is) {
            return self.begin_object(index, None);
        }
        let fields: Vec<_> = fields.clone().map(|field| Cow::Owned(field.to_owned())).collect();
        self.out.extend(definition(class, &fields));
        let (name, fields) = (Cow::Owned(class.to_owned()), Fields::Own(fields));
        self.classes.push(Class { name, fields, count: None, complete: true });
        self.begin_object(self.classes.len() - 1, None)
    }

    fn new_object(
        &mut self,
        name: Cow<'static, str>,
        fields: Fields,
        count: Option<usize>,
    ) -> usize {
        let start = self.out.len();
        if let Fields::Remembered(shape) = &fields {
            self.out.extend_from_slice(&shape.definition);
        }
        self.classes.push(Class { name, fields, count, complete: false });
        let definition = (start, self.out.len() - start);
        self.begin_object(self.classes.len() - 1, Some(definition))
    }

    #[inline]
    fn begin_object(&mut self, index: usize, definition: Option<(usize, usize)>) -> usize {
        if index < 16 {
            self.out.push(0x60 + index as u8);
        } else {
            self.out.push(b'O');
            self.int(i32::try_from(index).unwrap_or(i32::MAX));
        }
        let number = self.begin();
        self.open.push(Open { class: index, definition, written: 0, number });
        number
    }

    /// Says which field of the innermost object comes next.
    ///
    /// # Errors
    /// The class had another field there before.
    pub fn field(&mut self, name: &str) -> Result<(), Error> {
        if self.is_next(name) {
            return Ok(());
        }
        self.other_field(Cow::Owned(name.to_owned()))
    }

    /// The same for a field of a Rust type.
    #[inline]
    pub(crate) fn field_of_type(&mut self, name: &'static str) -> Result<(), Error> {
        if self.is_next(name) {
            return Ok(());
        }
        self.other_field(Cow::Borrowed(name))
    }

    /// Passes over the field if it is the one that the class has there.
    #[inline]
    fn is_next(&mut self, name: &str) -> bool {
        let Some(open) = self.open.last_mut() else { return true };
        let class = self.classes.get(open.class);
        let next = class.and_then(|class| class.fields.get(open.written));
        let is = next.is_some_and(|next| same(next, name));
        open.written += usize::from(is);
        is
    }

    #[cold]
    fn other_field(&mut self, name: Cow<'static, str>) -> Result<(), Error> {
        self.forget();
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let Some(class) = self.classes.get_mut(open.class) else { return Ok(()) };
        match &mut class.fields {
            // Also of an object in an object of the same class, which then ends first.
            Fields::Own(fields) if !class.complete && open.written == fields.len() => {
                fields.push(name);
                open.written += 1;
                Ok(())
            }
            _ => {
                let kind = ErrorKind::Fields(class.name.clone().into_owned());
                Err(Error::new(kind, self.out.len()))
            }
        }
    }

    /// Of a class that differs from what was remembered only those fields stay that were written.
    fn forget(&mut self) {
        let Some(at) = self.open.last().map(|open| open.class) else { return };
        let Some(class) = self.classes.get_mut(at) else { return };
        if class.complete {
            return;
        }
        if let (Fields::Remembered(shape), Cow::Borrowed(name)) = (&class.fields, &class.name) {
            let open = self.open.iter().filter(|open| open.class == at);
            let written = open.map(|open| open.written).max().unwrap_or(0);
            let kept = shape.fields.iter().take(written).map(|name| Cow::Borrowed(*name));
            remember(name, None);
            class.fields = Fields::Own(kept.collect());
        }
    }

    /// The number of the innermost object.
    pub fn innermost(&self) -> Option<usize> {
        self.open.last().map(|open| open.number)
    }

    /// Ends an object. The definition of a class goes in front of its first object; by then its
    /// fields are known.
    ///
    /// # Errors
    /// The class had more fields before.
    pub fn end_object(&mut self) -> Result<(), Error> {
        let class = self.open.last().and_then(|open| Some((open, self.classes.get(open.class)?)));
        if class.is_some_and(|(open, class)| open.written < class.fields.len()) {
            self.forget();
        }
        let Some(open) = self.open.pop() else { return Ok(()) };
        let Some(class) = self.classes.get_mut(open.class) else { return Ok(()) };
        class.complete = true;
        if open.written != class.fields.len() {
            let kind = ErrorKind::Fields(class.name.clone().into_owned());
            return Err(Error::new(kind, self.out.len()));
        }
        if let (Some((at, len)), Fields::Own(fields)) = (open.definition, &class.fields) {
            let definition = definition(&class.name, fields);
            if let Cow::Borrowed(name) = class.name {
                remember_fields(name, fields, &definition);
            }
            self.out.splice(at..at + len, definition);
        }
        Ok(())
    }
}

fn definition(class: &str, fields: &[Cow<'static, str>]) -> Vec<u8> {
    let mut definition = Writer::new();
    definition.out.push(b'C');
    definition.str(class);
    definition.int(i32::try_from(fields.len()).unwrap_or(i32::MAX));
    fields.iter().for_each(|field| definition.str(field));
    definition.out
}

fn place(class: &'static str) -> (usize, usize) {
    (class.as_ptr().addr(), class.len())
}

fn remembered(class: &'static str) -> Option<Arc<Shape>> {
    let find = |shapes: &Shapes| shapes.borrow().get(&place(class)).cloned().flatten();
    SHAPES.try_with(find).ok().flatten()
}

/// Notes what a class looks like; `None` is that it varies and is not worth remembering.
fn remember(class: &'static str, shape: Option<Arc<Shape>>) {
    // A thread that ends remembers nothing any more.
    let _ = SHAPES.try_with(|shapes| {
        let mut shapes = shapes.borrow_mut();
        if shapes.len() < REMEMBERED || shapes.contains_key(&place(class)) {
            shapes.insert(place(class), shape);
        }
    });
}

fn remember_fields(class: &'static str, fields: &[Cow<'static, str>], definition: &[u8]) {
    let varies = SHAPES.try_with(|shapes| shapes.borrow().contains_key(&place(class)));
    let fixed = |field: &Cow<'static, str>| match field {
        Cow::Borrowed(name) => Some(*name),
        Cow::Owned(_) => None,
    };
    if let (Ok(false), Some(fields)) = (varies, fields.iter().map(fixed).collect()) {
        let definition = definition.to_vec();
        remember(class, Some(Arc::new(Shape { fields, definition })));
    }
}
