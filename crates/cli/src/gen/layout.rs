//! Text of Rust code as `rustfmt` leaves it: what fits stands on one line of 100 columns.

use std::fmt::Write as _;

/// Columns of a line.
const WIDTH: usize = 100;

/// Columns of the arguments of an attribute that has several.
const ATTRIBUTE: usize = 70;

/// Lines of code.
#[derive(Debug, Default)]
pub(crate) struct Code(String);

impl Code {
    /// Adds a line; an empty one without blanks.
    pub(crate) fn line(&mut self, indent: usize, text: &str) {
        if !text.is_empty() {
            let _ = write!(self.0, "{:indent$}{text}", "");
        }
        self.0.push('\n');
    }

    /// Adds an attribute with one or more arguments.
    pub(crate) fn attribute(&mut self, indent: usize, name: &str, arguments: &[String]) {
        let inside = arguments.join(", ");
        let short = arguments.len() < 2 || inside.chars().count() <= ATTRIBUTE;
        if short && fits(indent, &["#[", name, "(", &inside, ")]"]) {
            return self.line(indent, &format!("#[{name}({inside})]"));
        }
        self.line(indent, &format!("#[{name}("));
        for (at, argument) in arguments.iter().enumerate() {
            let comma = if at + 1 < arguments.len() { "," } else { "" };
            self.line(indent + 4, &format!("{argument}{comma}"));
        }
        self.line(indent, ")]");
    }

    /// Adds `name: type,`.
    pub(crate) fn field(&mut self, indent: usize, name: &str, ty: &str) {
        if fits(indent, &[name, ": ", ty, ","]) {
            self.line(indent, &format!("{name}: {ty},"));
        } else if fits(indent + 4, &[ty, ","]) {
            self.line(indent, &format!("{name}:"));
            self.line(indent + 4, &format!("{ty},"));
        } else {
            self.line(indent, &format!("{name}: {},", broken(ty, indent)));
        }
    }

    /// Adds a constant.
    pub(crate) fn constant(&mut self, head: &str, value: &str) {
        if fits(0, &[head, " = ", value, ";"]) || !fits(4, &[value, ";"]) {
            return self.line(0, &format!("{head} = {value};"));
        }
        self.line(0, &format!("{head} ="));
        self.line(4, &format!("{value};"));
    }

    /// Adds the head of a method: `name(&self, parameters) -> result;`
    pub(crate) fn method(&mut self, indent: usize, name: &str, of: &[Parameter], result: &str) {
        let one_line: Vec<String> = of.iter().map(Parameter::on_one_line).collect();
        let inside = [&["&self".to_owned()][..], &one_line].concat().join(", ");
        if fits(indent, &[name, "(", &inside, ") -> ", result, "; "]) {
            return self.line(indent, &format!("{name}({inside}) -> {result};"));
        }
        // rustfmt leaves a column for an opening brace, and finds out later that there is none.
        if fits(indent, &[name, "(", &inside, ") -> ", result, ";"]) {
            self.line(indent, &format!("{name}({inside})"));
            return self.line(indent, &format!("-> {result};"));
        }
        self.line(indent, &format!("{name}("));
        self.line(indent + 4, "&self,");
        of.iter().for_each(|parameter| self.parameter(indent + 4, parameter));
        if fits(indent, &[") -> ", result, ";"]) {
            self.line(indent, &format!(") -> {result};"));
        } else {
            self.line(indent, &format!(") -> {};", broken(result, indent)));
        }
    }

    fn parameter(&mut self, indent: usize, parameter: &Parameter) {
        let one_line = parameter.on_one_line();
        if fits(indent, &[&one_line, ","]) {
            return self.line(indent, &format!("{one_line},"));
        }
        let Parameter { name, ty, java } = parameter;
        let first = format!("{name}: {}", ty.split_inclusive('<').next().unwrap_or(ty));
        let mut text = format!("{name}: {},", broken(ty, indent));
        if let Some(java) = java {
            if ty.contains('<') && fits(indent, &["#[java(", java, ")] ", &first]) {
                text = format!("#[java({java})] {text}");
            } else {
                self.attribute(indent, "java", std::slice::from_ref(java));
                if fits(indent, &[name, ": ", ty, ","]) {
                    text = format!("{name}: {ty},");
                }
            }
        }
        self.line(indent, &text);
    }

    /// All of it.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// A parameter of a method.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: String,
    /// What its `java` attribute says.
    pub(crate) java: Option<String>,
}

impl Parameter {
    fn on_one_line(&self) -> String {
        match &self.java {
            Some(java) => format!("#[java({java})] {}: {}", self.name, self.ty),
            None => format!("{}: {}", self.name, self.ty),
        }
    }
}

/// A type over several lines: each argument on its own.
fn broken(ty: &str, indent: usize) -> String {
    let Some((head, rest)) = ty.split_once('<') else { return ty.to_owned() };
    let inside = rest.strip_suffix('>').unwrap_or(rest);
    let mut text = format!("{head}<\n");
    let deeper = indent + 4;
    for argument in arguments(inside) {
        let argument = if fits(deeper, &[argument, ","]) {
            argument.to_owned()
        } else {
            broken(argument, deeper)
        };
        let _ = writeln!(text, "{:deeper$}{argument},", "");
    }
    let _ = write!(text, "{:indent$}>", "");
    text
}

/// Splits `A<B, C>, D` where no brackets are open.
fn arguments(text: &str) -> Vec<&str> {
    let (mut open, mut start, mut parts) = (0usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' => open += 1,
            '>' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                parts.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts.into_iter().map(str::trim).collect()
}

fn fits(indent: usize, parts: &[&str]) -> bool {
    indent + parts.iter().map(|part| part.chars().count()).sum::<usize>() <= WIDTH
}

/// Text for a comment: nothing in it ends the line or turns its direction.
pub(crate) fn comment(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '?' }).collect()
}

fn is_plain(c: char) -> bool {
    let turns =
        matches!(c, '\u{200E}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    !(c.is_control() || turns || c == '`')
}

/// A text literal.
pub(crate) fn literal(text: &str) -> String {
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(parameters: &[(&str, &str, Option<&str>)], result: &str) -> String {
        let parameter = |&(name, ty, java): &(&str, &str, Option<&str>)| Parameter {
            name: name.to_owned(),
            ty: ty.to_owned(),
            java: java.map(str::to_owned),
        };
        let parameters: Vec<Parameter> = parameters.iter().map(parameter).collect();
        let mut code = Code::default();
        code.method(4, "async fn f", &parameters, result);
        code.finish()
    }

    #[test]
    fn what_fits_stands_on_one_line() {
        let wide = "x".repeat(64);
        let one = method(&[(&wide, "i32", None)], "()");
        assert_eq!(one, format!("    async fn f(&self, {wide}: i32) -> ();\n"));
        let (wider, widest) = (wide.clone() + "x", wide.clone() + "xx");
        let split = format!("    async fn f(&self, {wider}: i32)\n    -> ();\n");
        assert_eq!(method(&[(&wider, "i32", None)], "()"), split);
        let more =
            format!("    async fn f(\n        &self,\n        {widest}: i32,\n    ) -> ();\n");
        assert_eq!(method(&[(&widest, "i32", None)], "()"), more);
    }

    #[test]
    fn what_does_not_fit_is_broken_at_its_brackets() {
        let long = "L".repeat(60);
        let ty = format!("Option<java::Map<{long}, Vec<{long}>>>");
        let broken = format!(
            "Option<\n            java::Map<\n                {long},\n                Vec<{long}>,\n            \
             >,\n        >"
        );
        let set = Some("type = \"java.util.Set\"");
        let text = method(&[("set", &ty, set), ("plain", &ty, None)], "()");
        assert!(
            text.contains(&format!("\n        #[java(type = \"java.util.Set\")] set: {broken},"))
        );
        assert!(text.contains(&format!("\n        plain: {broken},")), "{text}");
        let mut code = Code::default();
        code.field(8, "pub a", &ty);
        assert_eq!(code.finish(), format!("        pub a: {broken},\n"));
    }

    #[test]
    fn a_comment_stays_one() {
        assert_eq!(comment("a\nfn evil() {}\r\u{202E}`"), "a?fn evil() {}???");
        assert_eq!(literal("a\"\n\u{202E}"), r#""a\"\n\u{202e}""#);
    }
}
