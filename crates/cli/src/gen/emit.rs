//! Puts the model into Rust source: what the macros of `equipoise` read, and nothing about class files.

use super::classfile::signature::Primitive;
use super::classfile::{Constant, Number};
use super::layout::{self, Code, comment, literal};
use super::model::{
    Declared, Faults, Field, Interface, Kind, Member, Method, Model, Named, Parameter, RustType,
    Thrown,
};
use super::names::{is_lower_camel, is_upper_snake};

/// What the user may choose about the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Style {
    /// Name of the jar.
    pub(crate) source: String,
    pub(crate) group: Option<String>,
    pub(crate) version: Option<String>,
    /// Enums keep constants that are not known.
    pub(crate) open_enums: bool,
}

/// Writes a file.
pub(crate) fn emit(model: &Model, style: &Style) -> String {
    let mut out = Emitter { model, style, code: Code::default() };
    out.head();
    for interface in &model.interfaces {
        out.interface(interface);
    }
    for faults in &model.faults {
        out.faults(faults);
    }
    for declared in &model.types {
        out.declared(declared);
    }
    out.code.finish()
}

struct Emitter<'m> {
    model: &'m Model,
    style: &'m Style,
    code: Code,
}

const DERIVES: [&str; 5] = ["Clone", "Debug", "Default", "PartialEq", "equipoise::JavaObject"];

impl Emitter<'_> {
    fn head(&mut self) {
        let source = comment(&self.style.source);
        self.code.line(0, &format!("//! Written by `equipoise gen` from `{source}`."));
        self.code.line(0, "#![allow(clippy::all, dead_code, missing_docs, unreachable_pub)]");
        if self.uses_runtime() {
            self.code.line(0, "");
            self.code.line(0, "use equipoise::java;");
        }
    }

    /// Whether the `java` module is named: by every method, and by some types.
    fn uses_runtime(&self) -> bool {
        let method = |member: &Member| matches!(member, Member::Method(_));
        let fields = |declared: &Declared| match &declared.kind {
            Kind::Object(fields) | Kind::Throwable(fields) => {
                fields.iter().any(|field| self.ty(&field.typed.ty).contains("java::"))
            }
            Kind::Constants(_) => false,
        };
        self.model.interfaces.iter().any(|interface| interface.members.iter().any(method))
            || self.model.types.iter().any(fields)
    }

    fn interface(&mut self, interface: &Interface) {
        self.code.line(0, "");
        self.code.line(0, &format!("/// Java interface `{}`.", comment(&interface.java)));
        let mut arguments = vec![format!("java = {}", literal(&interface.java))];
        let given = [("group", &self.style.group), ("version", &self.style.version)];
        for (key, value) in given {
            arguments.extend(value.as_ref().map(|value| format!("{key} = {}", literal(value))));
        }
        self.code.attribute(0, "equipoise::interface", &arguments);
        if interface.members.is_empty() {
            self.code.line(0, &format!("pub trait {} {{}}", interface.rust));
        } else {
            self.code.line(0, &format!("pub trait {} {{", interface.rust));
            for (at, member) in interface.members.iter().enumerate() {
                if at > 0 {
                    self.code.line(0, "");
                }
                self.member(member);
            }
            self.code.line(0, "}");
        }
        for constant in &interface.constants {
            self.constant(constant);
        }
    }

    fn member(&mut self, member: &Member) {
        match member {
            Member::LeftOut(what, why) => {
                let text = format!("// Left out, because {}: `{}`", comment(why), comment(what));
                self.code.line(4, &text);
            }
            Member::Method(method) => self.method(method),
        }
    }

    fn method(&mut self, method: &Method) {
        self.code.line(4, &format!("/// `{}`", comment(&method.declaration)));
        let mut arguments = Vec::new();
        if !is_lower_camel(&method.rust, &method.java) {
            arguments.push(format!("name = {}", literal(&method.java)));
        }
        let annotation = method.result.annotation(&self.model.types);
        arguments.extend(annotation.map(|java| format!("type = {}", literal(java))));
        if !arguments.is_empty() {
            self.code.attribute(4, "java", &arguments);
        }
        let parameters: Vec<_> = method.parameters.iter().map(|one| self.parameter(one)).collect();
        let fault = match method.thrown {
            Thrown::Nothing => "java::Fault".to_owned(),
            Thrown::One(id) => format!("java::Fault<{}>", self.name(id)),
            Thrown::OneOf(at) => {
                let name = self.model.faults.get(at).map_or("", |faults| faults.rust.as_str());
                format!("java::Fault<{name}>")
            }
        };
        let result = format!("Result<{}, {fault}>", self.ty(&method.result.ty));
        self.code.method(4, &format!("async fn {}", method.rust), &parameters, &result);
    }

    fn parameter(&self, parameter: &Parameter) -> layout::Parameter {
        let annotation = parameter.typed.annotation(&self.model.types);
        layout::Parameter {
            name: parameter.rust.clone(),
            ty: self.ty(&parameter.typed.ty),
            java: annotation.map(|java| format!("type = {}", literal(java))),
        }
    }

    fn constant(&mut self, constant: &Named) {
        let integral = |value: i32| match constant.ty {
            Some(Primitive::Boolean) => ("bool", (value != 0).to_string()),
            Some(Primitive::Char) => ("u16", value.to_string()),
            Some(ty) => (ty.rust(), value.to_string()),
            None => ("i32", value.to_string()),
        };
        let (ty, value) = match &constant.value {
            Constant::String(text) => ("&str", literal(text)),
            Constant::Number(Number::Int(value)) => integral(*value),
            Constant::Number(Number::Long(value)) => ("i64", value.to_string()),
            Constant::Number(Number::Float(value)) => ("f32", float(f64::from(*value), "f32")),
            Constant::Number(Number::Double(value)) => ("f64", float(*value, "f64")),
        };
        self.code.line(0, "");
        self.code.line(0, &format!("/// `{}`", comment(&constant.java)));
        self.code.constant(&format!("pub const {}: {ty}", constant.rust), &value);
    }

    fn faults(&mut self, faults: &Faults) {
        self.code.line(0, "");
        let method = faults.method.strip_prefix("r#").unwrap_or(&faults.method);
        self.code.line(0, &format!("/// What `{method}` throws."));
        let derives = ["Clone", "Debug", "PartialEq", "equipoise::JavaObject"];
        self.code.attribute(0, "derive", &derives.map(str::to_owned));
        self.code.line(0, "#[java(throwable)]");
        self.code.line(0, &format!("pub enum {} {{", faults.rust));
        for id in &faults.exceptions {
            let name = self.name(*id);
            self.code.line(4, &format!("{name}({name}),"));
        }
        self.code.line(0, "}");
    }

    fn declared(&mut self, declared: &Declared) {
        self.code.line(0, "");
        let what = match &declared.kind {
            Kind::Object(_) => "class",
            Kind::Throwable(_) => "exception",
            Kind::Constants(_) => "enum",
        };
        let mut about = format!("/// Java {what} `{}`", comment(&declared.class));
        if declared.shown.contains('<') {
            about += &format!(" as `{}`", comment(&declared.shown));
        }
        self.code.line(0, &(about + "."));
        for note in &declared.notes {
            self.code.line(0, "///");
            self.code.line(0, &format!("/// {note}"));
        }
        let class = format!("class = {}", literal(&declared.class));
        match &declared.kind {
            Kind::Object(fields) => self.object(&declared.rust, &[class], fields, false),
            Kind::Throwable(fields) => {
                self.object(&declared.rust, &[class, "throwable".to_owned()], fields, true);
            }
            Kind::Constants(constants) => self.constants(&declared.rust, &class, constants),
        }
    }

    fn object(&mut self, name: &str, java: &[String], fields: &[Field], message: bool) {
        self.code.attribute(0, "derive", &DERIVES.map(str::to_owned));
        self.code.attribute(0, "java", java);
        if fields.is_empty() && !message {
            return self.code.line(0, &format!("pub struct {name} {{}}"));
        }
        self.code.line(0, &format!("pub struct {name} {{"));
        if message {
            self.code.line(4, "pub message: Option<String>,");
        }
        for field in fields {
            self.field(field);
        }
        self.code.line(0, "}");
    }

    fn field(&mut self, field: &Field) {
        if let Some(note) = &field.note {
            self.code.line(4, &format!("/// {}", note_text(note)));
        }
        let mut arguments = Vec::new();
        if !is_lower_camel(&field.rust, &field.java) {
            arguments.push(format!("name = {}", literal(&field.java)));
        }
        let annotation = field.typed.annotation(&self.model.types);
        arguments.extend(annotation.map(|java| format!("type = {}", literal(java))));
        if !arguments.is_empty() {
            self.code.attribute(4, "java", &arguments);
        }
        self.code.field(4, &format!("pub {}", field.rust), &self.ty(&field.typed.ty));
    }

    fn constants(&mut self, name: &str, class: &str, constants: &[(String, String)]) {
        let copy = if self.style.open_enums { &["Clone"][..] } else { &["Clone", "Copy"] };
        let rest = ["Debug", "PartialEq", "Eq", "Hash", "equipoise::JavaObject"];
        let derives = copy.iter().chain(&rest).map(|name| (*name).to_owned());
        self.code.attribute(0, "derive", &derives.collect::<Vec<_>>());
        self.code.attribute(0, "java", &[class.to_owned()]);
        self.code.line(0, &format!("pub enum {name} {{"));
        for (java, rust) in constants {
            if !is_upper_snake(rust, java) {
                self.code.attribute(4, "java", &[format!("name = {}", literal(java))]);
            }
            self.code.line(4, &format!("{rust},"));
        }
        if self.style.open_enums {
            self.code.line(4, "/// A constant that was not there when this was written.");
            self.code.line(4, "#[java(other)]");
            self.code.line(4, "Other(String),");
        }
        self.code.line(0, "}");
    }

    fn name(&self, id: usize) -> &str {
        self.model.types.get(id).map_or("", |declared| &declared.rust)
    }

    fn ty(&self, ty: &RustType) -> String {
        match ty {
            RustType::Unit => "()".to_owned(),
            RustType::Primitive(primitive) => primitive.rust().to_owned(),
            RustType::Text => "String".to_owned(),
            RustType::Bytes => "Vec<u8>".to_owned(),
            RustType::Value => "java::Value".to_owned(),
            RustType::Known(known) => known.rust.to_owned(),
            RustType::Declared(id) => self.name(*id).to_owned(),
            RustType::Boxed(id) => format!("Box<{}>", self.name(*id)),
            RustType::List(element) => format!("Vec<{}>", self.ty(element)),
            RustType::Map(key, value) => {
                format!("java::Map<{}, {}>", self.ty(key), self.ty(value))
            }
            RustType::Optional(value) => format!("java::Optional<{}>", self.ty(value)),
            RustType::Option(value) => format!("Option<{}>", self.ty(value)),
        }
    }
}

fn note_text(note: &str) -> String {
    // A note quotes names with backticks of its own.
    note.split('`').map(comment).collect::<Vec<_>>().join("`")
}

fn float(value: f64, ty: &str) -> String {
    if value.is_nan() {
        format!("{ty}::NAN")
    } else if value.is_infinite() {
        format!("{ty}::{}INFINITY", if value < 0.0 { "NEG_" } else { "" })
    } else if ty == "f32" {
        // It was one: nothing is lost.
        let value = value as f32;
        format!("{value:?}")
    } else {
        format!("{value:?}")
    }
}
