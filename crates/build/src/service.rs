//! The code of one service: client, trait, provider.

use std::fmt::Write as _;

use prost_build::{Comments, Method, Service, ServiceGenerator};

/// What is wanted of each service.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) client: bool,
    pub(crate) provider: bool,
}

impl ServiceGenerator for Generator {
    fn generate(&mut self, service: Service, code: &mut String) {
        let name = match service.package.as_str() {
            "" => service.proto_name.clone(),
            package => format!("{package}.{}", service.proto_name),
        };
        if self.client {
            client(&service, &name, code);
        }
        if self.provider {
            provider(&service, &name, code);
        }
    }
}

/// How messages travel.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Unary,
    ServerStreaming,
    ClientStreaming,
    Bidirectional,
}

fn kind(method: &Method) -> Kind {
    match (method.client_streaming, method.server_streaming) {
        (false, false) => Kind::Unary,
        (false, true) => Kind::ServerStreaming,
        (true, false) => Kind::ClientStreaming,
        (true, true) => Kind::Bidirectional,
    }
}

fn documents(comments: &Comments, depth: usize, fallback: &str, code: &mut String) {
    if comments.leading.iter().all(|line| line.trim().is_empty()) {
        line(code, depth, &format!("/// {fallback}"));
    } else {
        for text in &comments.leading {
            line(code, depth, format!("/// {}", text.trim()).trim_end());
        }
    }
}

fn line(code: &mut String, depth: usize, text: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(code, "{:1$}{text}", "", depth * 4);
}

fn client(service: &Service, name: &str, code: &mut String) {
    let of = &service.name;
    documents(&service.comments, 0, &format!("Calls `{name}`."), code);
    line(code, 0, "///\n/// Cheap to clone.");
    line(code, 0, "#[derive(Clone, Debug)]");
    line(code, 0, &format!("pub struct {of}Client(::equipoise::Consumer);\n"));
    line(code, 0, &format!("impl {of}Client {{"));
    line(code, 1, "/// Name of the service.");
    line(code, 1, &format!("pub const SERVICE: &'static str = {name:?};\n"));
    line(code, 1, "/// Calls through `consumer`, which must be one of this service.");
    line(code, 1, "pub fn new(consumer: ::equipoise::Consumer) -> Self {");
    line(code, 2, "Self(consumer)\n    }\n");
    line(code, 1, "/// Starts the configuration of a consumer of this service.");
    line(code, 1, "pub fn builder() -> ::equipoise::ConsumerBuilder {");
    line(code, 2, &format!("::equipoise::consumer({name:?})\n    }}\n"));
    line(code, 1, "/// The consumer underneath: settings, reports, calls that are not typed.");
    line(code, 1, "pub fn consumer(&self) -> &::equipoise::Consumer {");
    line(code, 2, "&self.0\n    }");
    for method in &service.methods {
        code.push('\n');
        documents(&method.comments, 1, &format!("Calls `{}`.", method.proto_name), code);
        let Method { name, proto_name, input_type: input, output_type: output, .. } = method;
        let (arguments, result, made) = match kind(method) {
            Kind::Unary => (
                format!("message: {input}"),
                format!("::equipoise::proto::Unary<{input}, {output}>"),
                format!("Unary::new(self.0.call({proto_name:?}), message)"),
            ),
            Kind::ServerStreaming => (
                format!("message: {input}"),
                format!("::equipoise::proto::ServerStreaming<{input}, {output}>"),
                format!("ServerStreaming::new(self.0.call({proto_name:?}), message)"),
            ),
            Kind::ClientStreaming => (
                String::new(),
                format!("::equipoise::proto::ClientStreaming<{input}, {output}>"),
                format!("ClientStreaming::new(self.0.call({proto_name:?}))"),
            ),
            Kind::Bidirectional => (
                String::new(),
                format!("::equipoise::proto::Bidirectional<{input}, {output}>"),
                format!("Bidirectional::new(self.0.call({proto_name:?}))"),
            ),
        };
        let separator = if arguments.is_empty() { "" } else { ", " };
        line(code, 1, &format!("pub fn {name}(&self{separator}{arguments}) -> {result} {{"));
        line(code, 2, &format!("::equipoise::proto::{made}\n    }}"));
    }
    line(code, 0, "}\n");
}

fn provider(service: &Service, name: &str, code: &mut String) {
    let of = &service.name;
    documents(&service.comments, 0, &format!("Provides `{name}`."), code);
    line(code, 0, &format!("pub trait {of}: Send + Sync + 'static {{"));
    for (at, method) in service.methods.iter().enumerate() {
        if at > 0 {
            code.push('\n');
        }
        documents(&method.comments, 1, &format!("Answers `{}`.", method.proto_name), code);
        let Method { name, input_type: input, output_type: output, .. } = method;
        let (arguments, result) = match kind(method) {
            Kind::Unary => (format!("message: {input}"), output.clone()),
            Kind::ServerStreaming => (
                format!("message: {input}, answers: ::equipoise::proto::Answers<{output}>"),
                "()".to_owned(),
            ),
            Kind::ClientStreaming => {
                (format!("messages: ::equipoise::proto::Messages<{input}>"), output.clone())
            }
            Kind::Bidirectional => (
                format!(
                    "messages: ::equipoise::proto::Messages<{input}>, \
                     answers: ::equipoise::proto::Answers<{output}>"
                ),
                "()".to_owned(),
            ),
        };
        line(code, 1, &format!("fn {name}("));
        line(code, 2, "&self,\n        call: &::equipoise::proto::Context,");
        line(code, 2, &format!("{arguments},"));
        line(code, 1, ") -> impl ::core::future::Future<");
        line(
            code,
            2,
            &format!("Output = ::core::result::Result<{result}, ::equipoise::protocol::Status>,"),
        );
        line(code, 1, "> + Send;");
    }
    line(code, 0, "}\n");
    line(code, 0, &format!("/// Serves an implementation of [`{of}`]."));
    line(code, 0, "#[derive(Debug)]");
    line(code, 0, &format!("pub struct {of}Provider<T>(T);\n"));
    line(code, 0, &format!("impl<T: {of}> {of}Provider<T> {{"));
    line(code, 1, "/// Serves `service`.");
    line(code, 1, "pub fn new(service: T) -> ::std::sync::Arc<Self> {");
    line(code, 2, "::std::sync::Arc::new(Self(service))\n    }\n");
    line(code, 1, "/// The service's name, to register it with.");
    line(code, 1, "pub fn key() -> ::equipoise::core::service::ServiceKey {");
    line(code, 2, &format!("::equipoise::core::service::ServiceKey::new({name:?})\n    }}\n}}\n"));
    handler(service, code);
}

/// The handler: from the name of a method to the trait's.
fn handler(service: &Service, code: &mut String) {
    let of = &service.name;
    line(code, 0, &format!("impl<T: {of}> ::equipoise::protocol::Handler for {of}Provider<T> {{"));
    line(code, 1, "fn call<'a>(");
    line(code, 2, "&'a self,\n        call: ::equipoise::protocol::CallContext,");
    line(code, 1, ") -> ::equipoise::core::port::BoxFuture<");
    line(code, 2, "'a,");
    line(code, 2, "::core::result::Result<::equipoise::Reply, ::equipoise::protocol::Status>,");
    line(code, 1, "> {");
    line(code, 2, "::std::boxed::Box::pin(async move {");
    line(code, 3, "match call.method() {");
    for method in service.methods.iter().filter(|method| kind(method) == Kind::Unary) {
        let Method { name, proto_name, .. } = method;
        line(code, 4, &format!("{} => {{", names(proto_name)));
        line(code, 5, "let (context, message) = ::equipoise::proto::open(call)?;");
        line(
            code,
            5,
            &format!("::equipoise::proto::reply(&context, self.0.{name}(&context, message).await)"),
        );
        line(code, 4, "}");
    }
    line(code, 4, "_ => ::core::result::Result::Err(::equipoise::proto::unknown(&call)),");
    line(code, 3, "}\n        })\n    }");
    let streams: Vec<_> = service.methods.iter().filter(|m| kind(m) != Kind::Unary).collect();
    if !streams.is_empty() {
        streaming(&streams, code);
    }
    line(code, 0, "}\n");
}

/// The streaming methods of a handler.
fn streaming(methods: &[&Method], code: &mut String) {
    let patterns: Vec<_> = methods.iter().map(|method| names(&method.proto_name)).collect();
    code.push('\n');
    line(code, 1, "fn is_stream(&self, method: &str) -> bool {");
    line(code, 2, &format!("matches!(method, {})\n    }}\n", patterns.join(" | ")));
    line(code, 1, "fn stream<'a>(");
    line(code, 2, "&'a self,\n        call: ::equipoise::protocol::CallContext,");
    line(code, 2, "requests: ::equipoise::protocol::Requests,");
    line(code, 2, "responses: ::equipoise::protocol::Responses,");
    line(code, 1, ") -> ::equipoise::core::port::BoxFuture<");
    line(code, 2, "'a,");
    line(code, 2, "::core::result::Result<");
    line(code, 3, "::equipoise::core::attachments::Attachments,");
    line(code, 3, "::equipoise::protocol::Status,");
    line(code, 2, ">,");
    line(code, 1, "> {");
    line(code, 2, "::std::boxed::Box::pin(async move {");
    line(code, 3, "let (context, mut messages, mut answers) =");
    line(code, 4, "::equipoise::proto::open_stream(call, requests, responses);");
    line(code, 3, "match context.method() {");
    for (method, pattern) in methods.iter().zip(&patterns) {
        let Method { name, input_type: input, output_type: output, .. } = method;
        line(code, 4, &format!("{pattern} => {{"));
        match kind(method) {
            Kind::ServerStreaming => {
                line(code, 5, &format!("let message = messages.only::<{input}>().await?;"));
                let call = format!("self.0.{name}(&context, message, answers.typed()).await?;");
                line(code, 5, &call);
            }
            Kind::ClientStreaming => {
                let call = format!("self.0.{name}(&context, messages.typed()).await?;");
                line(code, 5, &format!("let answer: {output} = {call}"));
                line(code, 5, "answers.one(&answer).await?;");
            }
            _ => {
                let call = "(&context, messages.typed(), answers.typed()).await?;";
                line(code, 5, &format!("self.0.{name}{call}"));
            }
        }
        line(code, 4, "}");
    }
    line(
        code,
        4,
        "_ => return ::core::result::Result::Err(::equipoise::proto::no_stream(&context)),",
    );
    line(code, 3, "}");
    line(code, 3, "::core::result::Result::Ok(::equipoise::proto::trailers(&context))");
    line(code, 2, "})\n    }");
}

/// The names under which a method is called: that of the file, and the one with a small first letter
/// that Java gives it.
fn names(proto_name: &str) -> String {
    let mut chars = proto_name.chars();
    let small: String =
        chars.next().map(char::to_lowercase).into_iter().flatten().chain(chars).collect();
    if small == proto_name { format!("{small:?}") } else { format!("{proto_name:?} | {small:?}") }
}
