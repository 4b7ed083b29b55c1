//! Fields and methods of a class.

use std::rc::Rc;

use super::bytes::{Bytes, Fault, FaultKind};
use super::pool::{Constant, Pool};
use super::signature::{self, JavaType, MethodType, Primitive};
use super::{Access, attributes, signed, skip};

/// A field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) access: Access,
    pub(crate) name: Rc<str>,
    pub(crate) ty: JavaType,
    /// Its type as the virtual machine has it.
    pub(crate) erased: JavaType,
    pub(crate) constant: Option<Constant>,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) access: Access,
    pub(crate) name: Rc<str>,
    pub(crate) ty: MethodType,
    /// Its type as the virtual machine has it.
    pub(crate) erased: MethodType,
    /// Classes of the exceptions that it declares.
    pub(crate) throws: Vec<Rc<str>>,
    /// Names of the parameters, as far as they are known.
    pub(crate) parameters: Vec<Option<Rc<str>>>,
}

impl Field {
    pub(super) fn read(bytes: &mut Bytes<'_>, pool: &Pool<'_>) -> Result<Self, Fault> {
        let access = Access(bytes.u16()?);
        let at = bytes.clone();
        let name = pool.text(bytes.u16()?, &at)?;
        let at = bytes.clone();
        let erased = signature::field(&pool.text(bytes.u16()?, &at)?, false)
            .ok_or_else(|| at.fault(FaultKind::Signature))?;
        let mut field = Self { access, name, ty: erased.clone(), erased, constant: None };
        attributes(bytes, pool, |name, body| {
            match name {
                "Signature" => field.ty = signed(body, pool, |text| signature::field(text, true))?,
                "ConstantValue" => {
                    let at = body.clone();
                    field.constant = pool.constant(body.u16()?, &at)?;
                }
                _ => skip(body)?,
            }
            Ok(())
        })?;
        Ok(field)
    }
}

impl Method {
    pub(super) fn read(bytes: &mut Bytes<'_>, pool: &Pool<'_>) -> Result<Self, Fault> {
        let access = Access(bytes.u16()?);
        let at = bytes.clone();
        let name = pool.text(bytes.u16()?, &at)?;
        let at = bytes.clone();
        let erased = signature::method(&pool.text(bytes.u16()?, &at)?, false)
            .ok_or_else(|| at.fault(FaultKind::Signature))?;
        let slots = Slots::of(access, &erased);
        let (throws, parameters) = (Vec::new(), vec![None; erased.parameters.len()]);
        let mut method = Self { access, name, ty: erased.clone(), erased, throws, parameters };
        attributes(bytes, pool, |name, body| method.attribute(name, body, pool, &slots))?;
        Ok(method)
    }

    fn attribute(
        &mut self,
        name: &str,
        body: &mut Bytes<'_>,
        pool: &Pool<'_>,
        slots: &Slots,
    ) -> Result<(), Fault> {
        match name {
            "Signature" => {
                let ty = signed(body, pool, |text| signature::method(text, true))?;
                // A compiler may leave parameters of its own out of the signature.
                if ty.parameters.len() == self.erased.parameters.len() {
                    self.ty = ty;
                }
            }
            "Exceptions" => {
                for _ in 0..body.u16()? {
                    let at = body.clone();
                    self.throws.push(pool.class(body.u16()?, &at)?);
                }
            }
            "MethodParameters" => {
                for at_parameter in 0..body.u8()? {
                    let at = body.clone();
                    let name = pool.optional_text(body.u16()?, &at)?;
                    body.u16()?; // whether it is final
                    // These are the names that were asked for when it was compiled.
                    if let (Some(place), Some(name)) =
                        (self.parameters.get_mut(usize::from(at_parameter)), name)
                    {
                        *place = Some(name);
                    }
                }
            }
            "Code" => {
                body.u32()?; // sizes of stack and locals
                let length = body.length()?;
                body.take(length)?;
                let handlers = usize::from(body.u16()?);
                body.take(handlers * 8)?;
                attributes(body, pool, |name, body| match name {
                    "LocalVariableTable" => self.locals(body, pool, slots),
                    _ => skip(body),
                })?;
            }
            _ => skip(body)?,
        }
        Ok(())
    }

    /// Parameters are the local variables that live from the first instruction on, in their slots.
    fn locals(
        &mut self,
        body: &mut Bytes<'_>,
        pool: &Pool<'_>,
        slots: &Slots,
    ) -> Result<(), Fault> {
        for _ in 0..body.u16()? {
            let start = body.u16()?;
            body.u16()?; // how long it lives
            let at = body.clone();
            let name = pool.text(body.u16()?, &at)?;
            body.u16()?; // descriptor
            let slot = body.u16()?;
            let parameter = slots.0.iter().position(|first| *first == slot);
            if let Some(place) = parameter.and_then(|at| self.parameters.get_mut(at))
                && start == 0
                && place.is_none()
            {
                *place = Some(name);
            }
        }
        Ok(())
    }
}

/// In which local variable each parameter arrives.
struct Slots(Vec<u16>);

impl Slots {
    fn of(access: Access, ty: &MethodType) -> Self {
        let mut next = u16::from(!access.has(Access::STATIC));
        let slot = |parameter: &JavaType| {
            let slot = next;
            let wide = [Primitive::Long, Primitive::Double];
            let wide = matches!(parameter, JavaType::Primitive(p) if wide.contains(p));
            next = next.saturating_add(1 + u16::from(wide));
            slot
        };
        Self(ty.parameters.iter().map(slot).collect())
    }
}
