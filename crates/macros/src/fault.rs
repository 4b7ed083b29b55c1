//! The exceptions of an interface: which classes a type stands for, how it is read and thrown.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Fields, LitStr, Result};

/// One exception.
pub(crate) fn one(item: &DeriveInput, class: &LitStr) -> TokenStream {
    let ident = &item.ident;
    quote! {
        #[automatically_derived]
        impl ::equipoise::java::Thrown for #ident {
            fn from_exception(
                exception: &::equipoise::java::Exception,
            ) -> ::core::option::Option<::core::result::Result<Self, ::equipoise::java::CodecError>>
            {
                (exception.class == #class)
                    .then(|| ::equipoise::java::runtime::decode(&exception.body))
            }

            fn to_exception(
                &self,
            ) -> ::core::result::Result<
                ::equipoise::java::Exception,
                ::equipoise::java::CodecError,
            > {
                ::core::result::Result::Ok(::equipoise::java::Exception {
                    class: ::std::string::String::from(#class),
                    body: ::equipoise::java::runtime::encode(self)?,
                })
            }
        }
    }
}

/// One of several exceptions, a variant each.
pub(crate) fn one_of(item: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let ident = &item.ident;
    let (mut variants, mut types) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                variants.push(&variant.ident);
                types.extend(fields.unnamed.iter().map(|field| &field.ty));
            }
            _ => {
                let text = "a variant holds one exception: OutOfStock(OutOfStock)";
                return Err(syn::Error::new_spanned(variant, text));
            }
        }
    }
    Ok(quote! {
        #[automatically_derived]
        impl ::equipoise::java::Thrown for #ident {
            fn from_exception(
                exception: &::equipoise::java::Exception,
            ) -> ::core::option::Option<::core::result::Result<Self, ::equipoise::java::CodecError>>
            {
                #(
                    if let ::core::option::Option::Some(read) =
                        <#types as ::equipoise::java::Thrown>::from_exception(exception)
                    {
                        return ::core::option::Option::Some(read.map(#ident::#variants));
                    }
                )*
                ::core::option::Option::None
            }

            fn to_exception(
                &self,
            ) -> ::core::result::Result<
                ::equipoise::java::Exception,
                ::equipoise::java::CodecError,
            > {
                match self {
                    #(#ident::#variants(it) => ::equipoise::java::Thrown::to_exception(it),)*
                }
            }
        }
    })
}
