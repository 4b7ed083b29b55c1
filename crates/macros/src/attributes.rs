//! Reads `#[java(…)]`, and says what is wrong with one that cannot be read.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Result};

/// What `#[java(…)]` may say. Which of it makes sense where is the caller's matter.
#[derive(Default)]
pub(crate) struct Java {
    pub(crate) class: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) ty: Option<LitStr>,
    pub(crate) throwable: bool,
    pub(crate) other: bool,
}

impl Java {
    /// Reads all `java` attributes of an item. Only the keys in `known` are taken.
    pub(crate) fn read(attributes: &[Attribute], known: &[&str]) -> Result<Self> {
        let mut java = Self::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("java")) {
            attribute.parse_nested_meta(|meta| java.take(&meta, known))?;
        }
        Ok(java)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>, known: &[&str]) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if !known.contains(&key.as_str()) {
            return Err(meta.error(format!("no such key; there are {}", known.join(", "))));
        }
        match key.as_str() {
            "throwable" => self.throwable = true,
            "other" => self.other = true,
            _ => {
                let place = match key.as_str() {
                    "class" => &mut self.class,
                    "name" => &mut self.name,
                    _ => &mut self.ty,
                };
                let value: LitStr = meta.value()?.parse()?;
                if value.value().trim().is_empty() {
                    return Err(syn::Error::new(value.span(), format!("{key} is empty")));
                }
                if place.replace(value).is_some() {
                    return Err(meta.error(format!("{key} is given twice")));
                }
            }
        }
        Ok(())
    }
}
