//! The compile-time half of Java interfaces: [`macro@interface`] makes the client and the provider of a
//! trait, [`derive@JavaObject`] the wire form of a class. What the generated code calls is in the
//! facade's `java` module; nothing here runs with the program.

mod attributes;
mod fault;
mod interface;
mod java_type;
mod names;
mod object;

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemTrait, parse_macro_input};

/// Makes the client and the provider of a Java interface out of a trait.
///
/// ```ignore
/// #[equipoise::interface(java = "com.acme.Stock", group = "g", version = "1.0")]
/// pub trait Stock {
///     async fn reserve(&self, call: &Context, id: String, count: i32)
///         -> Result<Option<Receipt>, Fault<OutOfStock>>;
/// }
/// ```
///
/// Beside the trait, which a provider implements, there are then `StockClient` (calls it) and
/// `StockProvider` (serves an implementation, over every protocol).
///
/// - A method is `async`, takes `&self`, if it wants `&Context`, and the arguments; it returns
///   `Result<T, Fault<E>>`, where `E` is a [`derive@JavaObject`] with `throwable`, or `Fault` alone.
/// - `snake_case` becomes `lowerCamel`; `#[java(name = "…")]` on a method says otherwise. Two methods
///   may have one Java name, if their parameters differ.
/// - A parameter's Java type is the one of its Rust type; `#[java(type = "…")]` on a parameter or on
///   the method (for the result) says otherwise, in Java's own notation (`java.util.Set`, `int[]`).
#[proc_macro_attribute]
pub fn interface(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemTrait);
    interface::expand(attribute.into(), item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum the Rust form of a Java class.
///
/// `#[java(class = "com.acme.Order")]` names the class and must be there. On fields, `name` overrides
/// the lowerCamel of the field's name, and `type` the Java type that the field's Rust type stands for
/// (`java.util.Set`, `int[]`). A field that does not arrive has its default value; one that arrives
/// as null must be an `Option`.
///
/// On an enum, variants are the constants (`High` is `HIGH` unless `name` says otherwise), and one
/// `#[java(other)] Other(String)` keeps the names that are not known.
///
/// With `throwable` it is an exception: `message` is the message, the other fields are the class's
/// own. An enum with `throwable` and no class is one of several exceptions, a variant each.
#[proc_macro_derive(JavaObject, attributes(java))]
pub fn java_object(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    object::expand(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}
