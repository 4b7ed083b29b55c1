//! Class files: what they declare, without their code. The bytes come from anywhere, so nothing here
//! trusts a length or an index, and no input makes it panic.
//!
//! # References
//!
//! *The Java Virtual Machine Specification*, chapter 4.

mod bytes;
mod members;
mod pool;
pub(crate) mod signature;
#[cfg(test)]
mod tests;

use std::rc::Rc;

pub(crate) use bytes::Fault;
use bytes::{Bytes, FaultKind};
pub(crate) use members::{Field, Method};
use pool::Pool;
pub(crate) use pool::{Constant, Number};
use signature::{ClassType, JavaType};

/// What a class declares.
#[derive(Debug)]
pub(crate) struct ClassFile {
    /// Binary name with dots.
    pub(crate) name: Rc<str>,
    pub(crate) access: Access,
    /// Type variables, superclass and interfaces.
    pub(crate) ty: ClassType,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<Method>,
    /// The components of a record, in their order.
    pub(crate) record: Option<Vec<Rc<str>>>,
}

/// Access flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access(u16);

impl Access {
    pub(crate) const PRIVATE: u16 = 0x0002;
    pub(crate) const STATIC: u16 = 0x0008;
    pub(crate) const TRANSIENT: u16 = 0x0080;
    pub(crate) const INTERFACE: u16 = 0x0200;
    pub(crate) const ABSTRACT: u16 = 0x0400;
    pub(crate) const SYNTHETIC: u16 = 0x1000;
    pub(crate) const ANNOTATION: u16 = 0x2000;
    pub(crate) const ENUM: u16 = 0x4000;

    /// Whether one of these is set.
    pub(crate) fn has(self, flags: u16) -> bool {
        self.0 & flags != 0
    }
}

impl ClassFile {
    /// Reads a class file.
    ///
    /// # Errors
    /// It is none, or broken; the error has the offset.
    pub(crate) fn read(file: &[u8]) -> Result<Self, Fault> {
        let mut bytes = Bytes::new(file);
        let start = bytes.clone();
        if bytes.u32()? != 0xCAFE_BABE {
            return Err(start.fault(FaultKind::NotAClass));
        }
        bytes.u32()?; // version: what is read here has the same form in all of them
        let pool = Pool::read(&mut bytes)?;
        let access = Access(bytes.u16()?);
        let at = bytes.clone();
        let name = pool.class(bytes.u16()?, &at)?;
        let parents = parents(&mut bytes, &pool)?;
        let fields = members(&mut bytes, &pool, Field::read)?;
        let methods = members(&mut bytes, &pool, Method::read)?;
        let ty = ClassType { variables: Vec::new(), parents };
        let mut class = Self { name, access, ty, fields, methods, record: None };
        attributes(&mut bytes, &pool, |name, body| class.attribute(name, body, &pool))?;
        bytes.end()?;
        Ok(class)
    }

    fn attribute(
        &mut self,
        name: &str,
        body: &mut Bytes<'_>,
        pool: &Pool<'_>,
    ) -> Result<(), Fault> {
        match name {
            "Signature" => {
                let ty = signed(body, pool, signature::class)?;
                // What the class extends and implements is the same with and without arguments.
                if ty.parents.len() == self.ty.parents.len() {
                    self.ty = ty;
                }
                Ok(())
            }
            "Record" => {
                let mut components = Vec::new();
                for _ in 0..body.u16()? {
                    let at = body.clone();
                    components.push(pool.text(body.u16()?, &at)?);
                    body.u16()?; // its type is that of the field
                    attributes(body, pool, |_, rest| skip(rest))?;
                }
                self.record = Some(components);
                Ok(())
            }
            _ => skip(body),
        }
    }
}

/// Superclass, if there is one, and interfaces, without type arguments.
fn parents(bytes: &mut Bytes<'_>, pool: &Pool<'_>) -> Result<Vec<JavaType>, Fault> {
    let at = bytes.clone();
    let mut parents: Vec<Rc<str>> = Vec::new();
    parents.extend(pool.optional_class(bytes.u16()?, &at)?);
    for _ in 0..bytes.u16()? {
        let at = bytes.clone();
        parents.push(pool.class(bytes.u16()?, &at)?);
    }
    Ok(parents.into_iter().map(|name| JavaType::Class(name, Vec::new())).collect())
}

fn members<'b, T>(
    bytes: &mut Bytes<'b>,
    pool: &Pool<'b>,
    mut read: impl FnMut(&mut Bytes<'b>, &Pool<'b>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut members = Vec::new();
    for _ in 0..bytes.u16()? {
        members.push(read(bytes, pool)?);
    }
    Ok(members)
}

/// Hands each attribute to `take`, which must read all of it.
fn attributes(
    bytes: &mut Bytes<'_>,
    pool: &Pool<'_>,
    mut take: impl FnMut(&str, &mut Bytes<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for _ in 0..bytes.u16()? {
        let at = bytes.clone();
        let name = pool.text(bytes.u16()?, &at)?;
        let length = bytes.length()?;
        let mut body = bytes.part(length)?;
        take(&name, &mut body)?;
        body.end()?;
    }
    Ok(())
}

fn skip(body: &mut Bytes<'_>) -> Result<(), Fault> {
    body.take(body.left()).map(drop)
}

/// The signature that an attribute refers to.
fn signed<T>(
    body: &mut Bytes<'_>,
    pool: &Pool<'_>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Fault> {
    let at = body.clone();
    let text = pool.text(body.u16()?, &at)?;
    parse(&text).ok_or_else(|| at.fault(FaultKind::Signature))
}
