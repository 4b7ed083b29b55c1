//! `#[derive(JavaObject)]`: the wire form of a class as serde sees it. A struct is an object with its
//! fields under their Java names, an enum a constant by its name.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, LitStr, Result, Type};

use crate::attributes::Java;
use crate::fault;
use crate::java_type::{JavaType, inner, is_bytes};
use crate::names;

pub(crate) fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let java = Java::read(&item.attrs, &["class", "throwable"])?;
    if let Some(parameter) = item.generics.params.first() {
        return Err(syn::Error::new_spanned(
            parameter,
            "a Java class has no type parameters on the wire; write the type that travels",
        ));
    }
    match (&item.data, &java.class) {
        (Data::Enum(data), None) if java.throwable => fault::one_of(item, data),
        (_, None) => Err(syn::Error::new_spanned(
            &item.ident,
            "which Java class is this? Say #[java(class = \"com.acme.Name\")]",
        )),
        (Data::Struct(data), Some(class)) => {
            let fields = fields(&data.fields, java.throwable)?;
            let class = Class { name: class_name(class)?, literal: class, fields: &fields };
            let object = class.expand(item, java.throwable);
            let fault = java.throwable.then(|| fault::one(item, class.literal));
            Ok(quote! { #object #fault })
        }
        (Data::Enum(data), Some(class)) => {
            if java.throwable {
                let text =
                    "an exception is a struct; an enum of exceptions has no class of its own";
                return Err(syn::Error::new_spanned(&item.ident, text));
            }
            constants(item, data, class)
        }
        (Data::Union(_), Some(_)) => {
            Err(syn::Error::new_spanned(&item.ident, "a union has no Java form"))
        }
    }
}

/// Checks a class name and makes its descriptor.
pub(crate) fn class_name(class: &LitStr) -> Result<String> {
    let parsed = JavaType::parse(class)?;
    let descriptor = parsed.descriptor();
    if !descriptor.starts_with('L') || !class.value().contains('.') {
        let text = "a class is named with its package: com.acme.Order";
        return Err(syn::Error::new(class.span(), text));
    }
    Ok(descriptor)
}

/// One field.
struct Field<'a> {
    ident: &'a syn::Ident,
    ty: &'a Type,
    name: String,
    wire: Option<String>,
}

fn fields(fields: &Fields, throwable: bool) -> Result<Vec<Field<'_>>> {
    let named = match fields {
        Fields::Named(named) => named.named.iter().collect(),
        Fields::Unit => Vec::new(),
        Fields::Unnamed(all) => {
            let text = "the fields of a Java class have names";
            return Err(syn::Error::new_spanned(all, text));
        }
    };
    let mut all: Vec<Field<'_>> = Vec::with_capacity(named.len());
    for field in named {
        let java = Java::read(&field.attrs, &["name", "type"])?;
        let Some(ident) = &field.ident else { continue };
        let rust = ident.to_string();
        let name = match java.name {
            Some(name) => name.value(),
            None if throwable && rust == "message" => "detailMessage".to_owned(),
            None => names::lower_camel(&rust),
        };
        if all.iter().any(|other| other.name == name) {
            let text = format!("two fields are named {name:?}");
            return Err(syn::Error::new_spanned(ident, text));
        }
        let wire = java.ty.as_ref().map(JavaType::parse).transpose()?.and_then(|ty| ty.wire());
        all.push(Field { ident, ty: &field.ty, name, wire });
    }
    Ok(all)
}

struct Class<'a> {
    /// Descriptor.
    name: String,
    literal: &'a LitStr,
    fields: &'a [Field<'a>],
}

impl Class<'_> {
    fn expand(&self, item: &DeriveInput, throwable: bool) -> TokenStream {
        let ident = &item.ident;
        let descriptor = &self.name;
        let write = self.write(ident, throwable);
        let read = self.read(ident);
        quote! {
            #[automatically_derived]
            impl ::equipoise::java::JavaType for #ident {
                const DESCRIPTOR: &'static str = #descriptor;
            }
            #write
            #read
        }
    }

    fn write(&self, ident: &syn::Ident, throwable: bool) -> TokenStream {
        let class = self.literal;
        // What every Throwable has, where the struct does not say it itself.
        let extra: Vec<_> = ["detailMessage", "cause", "stackTrace", "suppressedExceptions"]
            .into_iter()
            .filter(|name| throwable && self.fields.iter().all(|field| field.name != *name))
            .map(|name| {
                let value = match name {
                    "detailMessage" => quote! { &() },
                    "cause" => quote! { &::equipoise::java::runtime::This },
                    "stackTrace" => quote! { &::equipoise::java::runtime::NoStackTrace },
                    _ => quote! { &::equipoise::java::runtime::NoSuppressed },
                };
                quote! { state.serialize_field(#name, #value)?; }
            })
            .collect();
        let count = self.fields.len() + extra.len();
        // A class without fields writes none, and then nothing changes `state`.
        let own = self.fields.iter().map(|field| {
            let (name, ident) = (&field.name, field.ident);
            let optional = inner(field.ty, "Option").is_some();
            let special = field.wire.is_some() || is_bytes(field.ty);
            let value = match (special, optional) {
                (false, _) => quote! { self.#ident },
                (true, true) => quote! { self.#ident.as_ref() },
                (true, false) => quote! { &self.#ident },
            };
            let value = wrapped(&value, field.ty, field.wire.as_deref());
            quote! { state.serialize_field(#name, &#value)?; }
        });
        quote! {
            #[automatically_derived]
            impl ::equipoise::java::serde::Serialize for #ident {
                fn serialize<S: ::equipoise::java::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    use ::equipoise::java::serde::ser::SerializeStruct as _;
                    #[allow(unused_mut)]
                    let mut state = serializer.serialize_struct(#class, #count)?;
                    #(#own)*
                    #(#extra)*
                    state.end()
                }
            }
        }
    }

    fn read(&self, ident: &syn::Ident) -> TokenStream {
        let class = self.literal;
        let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
        let places: Vec<_> = (0..self.fields.len()).map(|at| format_ident!("f{at}")).collect();
        let idents: Vec<_> = self.fields.iter().map(|field| field.ident).collect();
        let types: Vec<_> = self.fields.iter().map(|field| field.ty).collect();
        let values = self.fields.iter().map(|field| read_as(field.ty));
        let numbers = 0..self.fields.len();
        let numbers2 = numbers.clone();
        quote! {
            #[automatically_derived]
            impl<'de> ::equipoise::java::serde::Deserialize<'de> for #ident {
                fn deserialize<D: ::equipoise::java::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    use ::equipoise::java::serde::de;
                    struct Name(usize);
                    struct NameVisitor;
                    impl<'de> de::Visitor<'de> for NameVisitor {
                        type Value = Name;
                        fn expecting(
                            &self,
                            f: &mut ::core::fmt::Formatter<'_>,
                        ) -> ::core::fmt::Result {
                            f.write_str("the name of a field")
                        }
                        fn visit_str<E: de::Error>(
                            self,
                            name: &str,
                        ) -> ::core::result::Result<Name, E> {
                            ::core::result::Result::Ok(match name {
                                #(#names => Name(#numbers),)*
                                _ => Name(usize::MAX),
                            })
                        }
                    }
                    impl<'de> de::Deserialize<'de> for Name {
                        fn deserialize<D: de::Deserializer<'de>>(
                            deserializer: D,
                        ) -> ::core::result::Result<Self, D::Error> {
                            deserializer.deserialize_identifier(NameVisitor)
                        }
                    }
                    struct ObjectVisitor;
                    impl<'de> de::Visitor<'de> for ObjectVisitor {
                        type Value = #ident;
                        fn expecting(
                            &self,
                            f: &mut ::core::fmt::Formatter<'_>,
                        ) -> ::core::fmt::Result {
                            f.write_str(::core::concat!("an object of class ", #class))
                        }
                        fn visit_map<A: de::MapAccess<'de>>(
                            self,
                            mut map: A,
                        ) -> ::core::result::Result<#ident, A::Error> {
                            #(let mut #places: ::core::option::Option<#types> =
                                ::core::option::Option::None;)*
                            while let ::core::option::Option::Some(Name(name)) = map.next_key()? {
                                match name {
                                    // A name may come twice where a subclass hides a field; the
                                    // last one is the superclass's or the only one.
                                    #(#numbers2 => #places = ::core::option::Option::Some(
                                        map.next_value::<#values>()?.into()
                                    ),)*
                                    _ => {
                                        map.next_value::<de::IgnoredAny>()?;
                                    }
                                }
                            }
                            ::core::result::Result::Ok(#ident {
                                #(#idents: #places.unwrap_or_default(),)*
                            })
                        }
                    }
                    const NAMES: &[&str] = &[#(#names),*];
                    deserializer.deserialize_struct(#class, NAMES, ObjectVisitor)
                }
            }
        }
    }
}

/// The value of a field or parameter as it is written: bytes as bytes, collections and arrays under
/// their Java type, everything else as it is.
pub(crate) fn wrapped(value: &TokenStream, ty: &Type, wire: Option<&str>) -> TokenStream {
    match (wire, is_bytes(ty), inner(ty, "Option").is_some()) {
        (Some(wire), _, false) => {
            quote! { ::equipoise::java::runtime::Named { name: #wire, value: #value } }
        }
        (Some(wire), _, true) => quote! {
            #value.map(|value| ::equipoise::java::runtime::Named { name: #wire, value })
        },
        (None, true, true) => quote! { ::equipoise::java::runtime::MaybeBytes(#value) },
        (None, true, false) => quote! { ::equipoise::java::runtime::Bytes(#value) },
        (None, false, _) => value.clone(),
    }
}

/// The type that a field or parameter is read as; `into()` makes the declared one of it.
pub(crate) fn read_as(ty: &Type) -> TokenStream {
    match (is_bytes(ty), inner(ty, "Option").is_some()) {
        (true, true) => quote! { ::equipoise::java::runtime::MaybeByteBuf },
        (true, false) => quote! { ::equipoise::java::runtime::ByteBuf },
        (false, _) => quote! { #ty },
    }
}

/// An enum: each constant an object with a field `name`, or plain text where people read.
fn constants(item: &DeriveInput, data: &syn::DataEnum, class: &LitStr) -> Result<TokenStream> {
    let ident = &item.ident;
    let descriptor = class_name(class)?;
    let (mut idents, mut names, mut other) = (Vec::new(), Vec::new(), None);
    for variant in &data.variants {
        let java = Java::read(&variant.attrs, &["name", "other"])?;
        match (&variant.fields, java.other) {
            (Fields::Unit, false) => {
                let name = match java.name {
                    Some(name) => name.value(),
                    None => names::constant(&variant.ident.to_string()),
                };
                if names.contains(&name) {
                    let text = format!("two constants are named {name:?}");
                    return Err(syn::Error::new_spanned(variant, text));
                }
                idents.push(&variant.ident);
                names.push(name);
            }
            (Fields::Unnamed(fields), true) if fields.unnamed.len() == 1 && other.is_none() => {
                other = Some(&variant.ident);
            }
            _ => {
                let text = "a constant has no fields; one variant with a String may be marked \
                            #[java(other)] for names that are not known";
                return Err(syn::Error::new_spanned(variant, text));
            }
        }
    }
    let write_other = other.map(|other| quote! { #ident::#other(name) => name.as_str(), });
    let read_other = match other {
        Some(other) => quote! { ::core::result::Result::Ok(#ident::#other(name.to_owned())) },
        None => quote! { ::core::result::Result::Err(E::unknown_variant(name, NAMES)) },
    };
    Ok(quote! {
        #[automatically_derived]
        impl ::equipoise::java::JavaType for #ident {
            const DESCRIPTOR: &'static str = #descriptor;
        }
        #[automatically_derived]
        impl ::equipoise::java::serde::Serialize for #ident {
            fn serialize<S: ::equipoise::java::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let name = match self {
                    #(#ident::#idents => #names,)*
                    #write_other
                };
                ::equipoise::java::runtime::constant(serializer, #class, name)
            }
        }
        #[automatically_derived]
        impl<'de> ::equipoise::java::serde::Deserialize<'de> for #ident {
            fn deserialize<D: ::equipoise::java::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                const NAMES: &[&str] = &[#(#names),*];
                fn named<E: ::equipoise::java::serde::de::Error>(
                    name: &str,
                ) -> ::core::result::Result<#ident, E> {
                    match name {
                        #(#names => ::core::result::Result::Ok(#ident::#idents),)*
                        _ => #read_other,
                    }
                }
                ::equipoise::java::runtime::constant_name(deserializer, #class, NAMES, named)
            }
        }
    })
}
