//! `#[interface]`: a trait, its client and its provider.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    FnArg, Ident, ItemTrait, LitStr, MetaNameValue, Pat, Result, ReturnType, Token, TraitItem,
    TraitItemFn, Type,
};

use crate::attributes::Java;
use crate::java_type::{JavaType, is_bytes, is_named};
use crate::names;
use crate::object::{class_name, read_as, wrapped};

pub(crate) fn expand(attribute: TokenStream, mut item: ItemTrait) -> Result<TokenStream> {
    let interface = Interface::read(attribute)?;
    let mut methods = Vec::new();
    for member in &mut item.items {
        let TraitItem::Fn(function) = member else {
            return Err(syn::Error::new_spanned(member, "an interface has methods only"));
        };
        methods.push(Method::read(function)?);
    }
    if let Some(parameter) = item.generics.params.first() {
        return Err(syn::Error::new_spanned(parameter, "an interface has no type parameters"));
    }
    let client = client(&interface, &item, &methods);
    let provider = provider(&interface, &item, &methods);
    for member in &mut item.items {
        if let TraitItem::Fn(function) = member {
            plain(function);
        }
    }
    item.supertraits.push(syn::parse_quote!(::core::marker::Send));
    item.supertraits.push(syn::parse_quote!(::core::marker::Sync));
    item.supertraits.push(syn::parse_quote!('static));
    Ok(quote! { #item #client #provider })
}

/// What the attribute says.
struct Interface {
    java: LitStr,
    group: String,
    version: String,
}

impl Interface {
    fn read(attribute: TokenStream) -> Result<Self> {
        let pairs = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(attribute)?;
        let (mut java, mut group, mut version) = (None, String::new(), String::new());
        for pair in pairs {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(value), .. }) = &pair.value else {
                return Err(syn::Error::new_spanned(&pair.value, "a text is expected here"));
            };
            match pair.path.get_ident().map(ToString::to_string).as_deref() {
                Some("java") => java = Some(value.clone()),
                Some("group") => group = value.value(),
                Some("version") => version = value.value(),
                _ => {
                    let text = "no such key; there are java, group, version";
                    return Err(syn::Error::new_spanned(&pair.path, text));
                }
            }
        }
        let java = java.ok_or_else(|| {
            let text = "which Java interface is this? Say java = \"com.acme.Name\"";
            syn::Error::new(proc_macro2::Span::call_site(), text)
        })?;
        class_name(&java)?;
        Ok(Self { java, group, version })
    }
}

/// One method.
struct Method {
    ident: Ident,
    java: String,
    docs: Vec<syn::Attribute>,
    /// Whether it takes the context of the call.
    context: bool,
    parameters: Vec<Parameter>,
    result: Type,
    /// How the result is written, where its Rust type does not say it.
    result_wire: Option<String>,
    error: Type,
}

struct Parameter {
    ident: Ident,
    ty: Type,
    wire: Option<String>,
    /// An expression for the descriptor.
    descriptor: TokenStream,
}

impl Method {
    fn read(function: &TraitItemFn) -> Result<Self> {
        let signature = &function.sig;
        let wrong = |tokens: &dyn quote::ToTokens, text: &str| {
            Err(syn::Error::new_spanned(tokens.to_token_stream(), text))
        };
        if signature.asyncness.is_none() {
            return wrong(&signature.fn_token, "a method of an interface is an async fn");
        }
        if let Some(body) = &function.default {
            return wrong(body, "a method of an interface has no body");
        }
        if let Some(parameter) = signature.generics.params.first() {
            return wrong(parameter, "a method of an interface has no type parameters");
        }
        let mut inputs = signature.inputs.iter();
        match inputs.next() {
            Some(FnArg::Receiver(receiver))
                if receiver.reference.is_some() && receiver.mutability.is_none() => {}
            _ => return wrong(&signature.ident, "a method of an interface takes &self"),
        }
        let java = Java::read(&function.attrs, &["name", "type"])?;
        let (mut context, mut parameters) = (false, Vec::new());
        for (at, input) in inputs.enumerate() {
            let FnArg::Typed(typed) = input else { continue };
            if let Type::Reference(reference) = &*typed.ty {
                if at == 0 && is_named(&reference.elem, "Context") {
                    context = true;
                    continue;
                }
                let text = "arguments are owned; only the call's &Context, as the first, is not";
                return wrong(&typed.ty, text);
            }
            parameters.push(Parameter::read(typed)?);
        }
        let (result, error) = result(&signature.output)?;
        let result_type = java.ty.as_ref().map(JavaType::parse).transpose()?;
        let rust = signature.ident.to_string();
        Ok(Self {
            java: java.name.map_or_else(|| names::lower_camel(&rust), |name| name.value()),
            docs: function.attrs.iter().filter(|a| a.path().is_ident("doc")).cloned().collect(),
            ident: signature.ident.clone(),
            context,
            parameters,
            result,
            result_wire: result_type.and_then(|ty| ty.wire()),
            error,
        })
    }

    /// An expression for the descriptor of all parameters.
    fn descriptor(&self) -> TokenStream {
        let parts = self.parameters.iter().map(|parameter| &parameter.descriptor);
        quote! { &[#(#parts),*] }
    }
}

impl Parameter {
    fn read(typed: &syn::PatType) -> Result<Self> {
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(syn::Error::new_spanned(&typed.pat, "an argument has a plain name"));
        };
        let java = Java::read(&typed.attrs, &["type"])?;
        let declared = java.ty.as_ref().map(JavaType::parse).transpose()?;
        let ty = &*typed.ty;
        let descriptor = match &declared {
            Some(declared) => {
                let text = declared.descriptor();
                quote! { #text }
            }
            None if is_bytes(ty) => quote! { "[B" },
            None => quote! { <#ty as ::equipoise::java::JavaType>::DESCRIPTOR },
        };
        let wire = declared.and_then(|declared| declared.wire());
        Ok(Self { ident: pattern.ident.clone(), ty: ty.clone(), wire, descriptor })
    }
}

/// `T` and `E` of `Result<T, E>`.
fn result(output: &ReturnType) -> Result<(Type, Type)> {
    let text = "a method of an interface returns Result<T, Fault<E>>";
    let ReturnType::Type(_, ty) = output else {
        return Err(syn::Error::new_spanned(output, text));
    };
    if let Type::Path(path) = &**ty
        && let Some(last) = path.path.segments.last()
        && last.ident == "Result"
        && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
        && let [syn::GenericArgument::Type(ok), syn::GenericArgument::Type(error)] =
            arguments.args.iter().collect::<Vec<_>>()[..]
    {
        return Ok((ok.clone(), error.clone()));
    }
    Err(syn::Error::new_spanned(ty, text))
}

/// Makes an `async fn` one whose future can be sent, without the attributes that are ours.
fn plain(function: &mut TraitItemFn) {
    let is_ours = |a: &syn::Attribute| a.path().is_ident("java");
    function.attrs.retain(|a| !is_ours(a));
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|a| !is_ours(a));
        }
    }
    function.sig.asyncness = None;
    if let ReturnType::Type(_, ty) = &mut function.sig.output {
        let output = ty.clone();
        *ty = syn::parse_quote! {
            impl ::core::future::Future<Output = #output> + ::core::marker::Send
        };
    }
}

fn client(interface: &Interface, item: &ItemTrait, methods: &[Method]) -> TokenStream {
    let (vis, name) = (&item.vis, format_ident!("{}Client", item.ident));
    let Interface { java, group, version } = interface;
    let about = format!(" Calls `{}`. Cheap to clone.", java.value());
    let functions = methods.iter().map(client_method);
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug)]
        #vis struct #name(::equipoise::Consumer);

        impl #name {
            /// Name of the Java interface.
            pub const INTERFACE: &'static str = #java;

            /// Calls through `consumer`, which must be one of this interface.
            pub fn new(consumer: ::equipoise::Consumer) -> Self {
                Self(consumer)
            }

            /// Starts the configuration of a consumer of this interface, in its group and version.
            pub fn builder() -> ::equipoise::ConsumerBuilder {
                ::equipoise::consumer(#java).group(#group).version(#version)
            }

            /// The consumer underneath: settings, reports, calls that are not typed.
            pub fn consumer(&self) -> &::equipoise::Consumer {
                &self.0
            }

            #(#functions)*
        }
    }
}

fn client_method(method: &Method) -> TokenStream {
    let Method { ident, java, docs, result, error, .. } = method;
    let idents: Vec<_> = method.parameters.iter().map(|p| &p.ident).collect();
    let types = method.parameters.iter().map(|p| &p.ty);
    let descriptor = method.descriptor();
    let values = method.parameters.iter().map(|p| {
        let ident = &p.ident;
        let value = wrapped(&quote! { #ident }, &p.ty, p.wire.as_deref());
        quote! { __arguments.put(#value); }
    });
    let read = read_as(result);
    // A method without arguments puts none.
    quote! {
        #(#docs)*
        ///
        /// Sent when it is awaited; what differs from the configuration is said before.
        pub fn #ident(
            &self,
            #(#idents: #types),*
        ) -> ::equipoise::java::Invocation<#result, #error, #read> {
            static DESCRIPTOR: ::std::sync::LazyLock<::std::sync::Arc<str>> =
                ::std::sync::LazyLock::new(|| ::equipoise::java::runtime::descriptor(#descriptor));
            #[allow(unused_mut)]
            let mut __arguments = ::equipoise::java::runtime::Outgoing::new(&DESCRIPTOR);
            #(#values)*
            ::equipoise::java::Invocation::new(self.0.call(#java), __arguments)
        }
    }
}

fn provider(interface: &Interface, item: &ItemTrait, methods: &[Method]) -> TokenStream {
    let (vis, of, name) = (&item.vis, &item.ident, format_ident!("{}Provider", item.ident));
    let Interface { java, group, version } = interface;
    // An interface of methods without arguments reads none.
    let about = format!(" Serves an implementation of [`{of}`] as `{}`.", java.value());
    let rows = methods.iter().map(|method| {
        let (java, descriptor) = (&method.java, method.descriptor());
        quote! { (#java, ::equipoise::java::runtime::descriptor(#descriptor)) }
    });
    let arms = methods.iter().enumerate().map(|(at, method)| {
        let arm = provider_method(method);
        quote! { #at => #arm }
    });
    quote! {
        #[doc = #about]
        #[derive(Debug)]
        #vis struct #name<T>(T);

        impl<T: #of> #name<T> {
            /// Serves `service`.
            pub fn new(service: T) -> ::std::sync::Arc<Self> {
                ::std::sync::Arc::new(Self(service))
            }

            /// The interface in its group and version, to register it with.
            pub fn key() -> ::equipoise::core::service::ServiceKey {
                ::equipoise::core::service::ServiceKey::new(#java).group(#group).version(#version)
            }

            fn methods() -> &'static ::equipoise::java::runtime::Methods {
                static METHODS: ::std::sync::LazyLock<::equipoise::java::runtime::Methods> =
                    ::std::sync::LazyLock::new(|| {
                        ::equipoise::java::runtime::Methods::new(#java, ::std::vec![#(#rows),*])
                    });
                &METHODS
            }
        }

        impl<T: #of> ::equipoise::protocol::Handler for #name<T> {
            fn call<'a>(
                &'a self,
                call: ::equipoise::protocol::CallContext,
            ) -> ::equipoise::core::port::BoxFuture<
                'a,
                ::core::result::Result<::equipoise::Reply, ::equipoise::protocol::Status>,
            > {
                ::std::boxed::Box::pin(async move {
                    let (method, context) = Self::methods().open(call)?;
                    #[allow(unused_mut, unused_variables)]
                    let mut arguments = context.arguments()?;
                    match method {
                        #(#arms)*
                        _ => ::core::result::Result::Err(context.unknown()),
                    }
                })
            }

            fn form(&self, _method: &str) -> ::equipoise::BodyFormat {
                ::equipoise::BodyFormat::Java
            }

            fn is_enum(&self, class: &str) -> bool {
                ::equipoise::java::runtime::is_constant(class)
            }
        }
    }
}

fn provider_method(method: &Method) -> TokenStream {
    let ident = &method.ident;
    let idents: Vec<_> = (0..method.parameters.len()).map(|at| format_ident!("a{at}")).collect();
    let reads = method.parameters.iter().zip(&idents).map(|(parameter, ident)| {
        let (ty, read) = (&parameter.ty, read_as(&parameter.ty));
        quote! { let #ident: #ty = arguments.take::<#read>()?.into(); }
    });
    let context = method.context.then(|| quote! { &context, });
    let written = wrapped(&quote! { value }, &method.result, method.result_wire.as_deref());
    quote! {{
        #(#reads)*
        let result = self.0.#ident(#context #(#idents),*).await;
        context.reply(result.map(|value| #written))
    }}
}
