//! Java types in the three ways that the wire and people write them.
//!
//! | Form | `int` | `String` | `String[]` | where |
//! |---|---|---|---|---|
//! | source | `int` | `java.lang.String` | `java.lang.String[]` | people, `$invoke` |
//! | class name | `int` | `java.lang.String` | `[Ljava.lang.String;` | `argTypes` of `tri`, `$invoke` |
//! | descriptor | `I` | `Ljava/lang/String;` | `[Ljava/lang/String;` | requests of `dubbo` |
//!
//! Type arguments are erased in all of them. Plain text in, plain data out.

use std::fmt;

/// Dimensions that an array may have (JVMS 4.3.2).
const DIMENSIONS: usize = 255;

/// How much of a text that is no type an error repeats, in bytes.
const SHOWN: usize = 200;

/// A primitive type.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum Primitive {
    /// `boolean`, `Z`.
    Boolean,
    /// `byte`, `B`.
    Byte,
    /// `char`, `C`.
    Char,
    /// `short`, `S`.
    Short,
    /// `int`, `I`.
    Int,
    /// `long`, `J`.
    Long,
    /// `float`, `F`.
    Float,
    /// `double`, `D`.
    Double,
}

impl Primitive {
    const ALL: [(Primitive, &'static str, u8); 8] = [
        (Primitive::Boolean, "boolean", b'Z'),
        (Primitive::Byte, "byte", b'B'),
        (Primitive::Char, "char", b'C'),
        (Primitive::Short, "short", b'S'),
        (Primitive::Int, "int", b'I'),
        (Primitive::Long, "long", b'J'),
        (Primitive::Float, "float", b'F'),
        (Primitive::Double, "double", b'D'),
    ];

    /// Its name in Java.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Its letter in descriptors.
    pub fn letter(self) -> char {
        Self::ALL.iter().find(|row| row.0 == self).map_or(' ', |row| char::from(row.2))
    }

    fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    fn by_letter(letter: u8) -> Option<Self> {
        Self::ALL.iter().find(|row| row.2 == letter).map(|row| row.0)
    }
}

/// What an array's elements are, or a type that is no array.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub enum Element {
    /// A primitive type.
    Primitive(Primitive),
    /// A class or interface, by its binary name with dots: `java.util.Map$Entry`.
    Class(String),
}

/// A Java type: a parameter's, or a result's that is not `void`.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub struct JavaType {
    /// Its elements, or itself.
    pub element: Element,
    /// Dimensions of the array; 0 is no array.
    pub dimensions: usize,
}

/// A text that is no type, or no list of types.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} names no Java types: {reason} at byte {offset}")]
pub struct TypeError {
    /// The text, cut after 200 bytes.
    pub text: String,
    /// Where it goes wrong, in bytes from its start.
    pub offset: usize,
    /// What is wrong.
    pub reason: &'static str,
}

impl TypeError {
    fn new(text: &str, offset: usize, reason: &'static str) -> Self {
        let text = text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default().to_owned();
        Self { text, offset, reason }
    }
}

impl JavaType {
    /// A class or interface that is no array.
    pub fn class(name: impl Into<String>) -> Self {
        Self { element: Element::Class(name.into()), dimensions: 0 }
    }

    /// A primitive type.
    pub fn primitive(primitive: Primitive) -> Self {
        Self { element: Element::Primitive(primitive), dimensions: 0 }
    }

    /// Reads the source form (`int`, `java.lang.String[]`) or the class name (`[I`,
    /// `[Ljava.lang.String;`).
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        parse_name(text, 0, text.len())
    }

    /// The element's class, if this is a class and no array.
    pub fn class_of(&self) -> Option<&str> {
        match &self.element {
            Element::Class(name) if self.dimensions == 0 => Some(name),
            _ => None,
        }
    }

    /// The primitive, if this is one and no array.
    pub fn primitive_of(&self) -> Option<Primitive> {
        match self.element {
            Element::Primitive(primitive) if self.dimensions == 0 => Some(primitive),
            _ => None,
        }
    }

    /// The type of an array's elements; `None` when this is no array.
    pub fn component(&self) -> Option<Self> {
        let dimensions = self.dimensions.checked_sub(1)?;
        Some(Self { element: self.element.clone(), dimensions })
    }

    /// As `Class.getName()` has it: `int`, `java.lang.String`, `[I`, `[Ljava.lang.String;`.
    pub fn class_name(&self) -> String {
        if self.dimensions == 0 {
            return self.to_string();
        }
        let mut name = "[".repeat(self.dimensions);
        match &self.element {
            Element::Primitive(primitive) => name.push(primitive.letter()),
            Element::Class(class) => name.extend(["L", class.as_str(), ";"]),
        }
        name
    }

    /// As Java's virtual machine has it: `I`, `Ljava/lang/String;`, `[I`.
    pub fn descriptor(&self) -> String {
        let mut text = "[".repeat(self.dimensions);
        match &self.element {
            Element::Primitive(primitive) => text.push(primitive.letter()),
            Element::Class(class) => text.extend(["L", class.replace('.', "/").as_str(), ";"]),
        }
        text
    }

    /// The type name that a list of Hessian has for this array: `[int`, `[string`, `[com.acme.Order`;
    /// `None` when this is no array. (`byte[]` and `char[]` are no lists on the wire.)
    pub fn list_type(&self) -> Option<String> {
        if self.dimensions == 0 {
            return None;
        }
        let mut name = "[".repeat(self.dimensions);
        name.push_str(match &self.element {
            Element::Primitive(primitive) => primitive.name(),
            Element::Class(class) => match class.as_str() {
                "java.lang.String" => "string",
                "java.lang.Object" => "object",
                "java.util.Date" => "date",
                class => class,
            },
        });
        Some(name)
    }
}

/// The source form.
impl fmt::Display for JavaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.element {
            Element::Primitive(primitive) => primitive.name(),
            Element::Class(class) => class,
        })?;
        (0..self.dimensions).try_for_each(|_| f.write_str("[]"))
    }
}

/// Reads types separated by commas, each in source form or as a class name; nothing, or `()`, is no
/// type at all. This is what people write: `java.lang.String,int`.
///
/// # Errors
/// One of them is neither.
pub fn parse_list(text: &str) -> Result<Vec<JavaType>, TypeError> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let start = usize::from(inner.is_some());
    let inner = inner.unwrap_or(text);
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut types = Vec::new();
    let mut at = start;
    for part in inner.split(',') {
        let from = at + (part.len() - part.trim_start().len());
        types.push(parse_name(text, from, from + part.trim().len())?);
        at += part.len() + 1;
    }
    Ok(types)
}

/// Reads parameter types in the notation of the JVM, without separator: `Ljava/lang/String;I`.
///
/// # Errors
/// The text is none.
pub fn parse_descriptor(text: &str) -> Result<Vec<JavaType>, TypeError> {
    let mut types = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (ty, end) = parse_one(text, at, '/')?;
        types.push(ty);
        at = end;
    }
    Ok(types)
}

/// How many parameters a descriptor has; what is no descriptor counts up to where it goes wrong.
pub fn parameters(descriptor: &str) -> usize {
    let (mut at, mut count) = (0, 0);
    while let Ok((_, end)) = parse_one(descriptor, at, '/') {
        at = end;
        count += 1;
    }
    count
}

/// The descriptor of parameters of these types.
pub fn descriptor(types: &[JavaType]) -> String {
    types.iter().map(JavaType::descriptor).collect()
}

/// The source forms of these types, separated by commas.
pub fn list(types: &[JavaType]) -> String {
    let names: Vec<String> = types.iter().map(JavaType::to_string).collect();
    names.join(",")
}

/// Reads `text[from..to]`: the source form, or a class name.
fn parse_name(text: &str, from: usize, to: usize) -> Result<JavaType, TypeError> {
    let name = text.get(from..to).unwrap_or_default();
    if name.starts_with('[') {
        let (ty, end) = parse_one(text.get(..to).unwrap_or_default(), from, '.')
            .map_err(|error| TypeError::new(text, error.offset, error.reason))?;
        return match end == to {
            true => Ok(ty),
            false => Err(TypeError::new(text, end, "something follows the type")),
        };
    }
    let (mut element, mut dimensions) = (name, 0);
    while let Some(rest) = element.strip_suffix("[]") {
        element = rest.trim_end();
        dimensions += 1;
    }
    if dimensions > DIMENSIONS {
        return Err(TypeError::new(text, from, "an array of more than 255 dimensions"));
    }
    if let Some(primitive) = Primitive::by_name(element) {
        return Ok(JavaType { element: Element::Primitive(primitive), dimensions });
    }
    check_class(element, '.')
        .map_err(|(offset, reason)| TypeError::new(text, from + offset, reason))?;
    Ok(JavaType { element: Element::Class(element.to_owned()), dimensions })
}

/// Reads one type that starts at `at`, in the notation of the JVM with `separator` between the parts
/// of a class's name; says where it ends.
fn parse_one(text: &str, at: usize, separator: char) -> Result<(JavaType, usize), TypeError> {
    let wrong = |offset, reason| TypeError::new(text, offset, reason);
    let rest = text.get(at..).unwrap_or_default();
    let dimensions = rest.bytes().take_while(|byte| *byte == b'[').count();
    if dimensions > DIMENSIONS {
        return Err(wrong(at, "an array of more than 255 dimensions"));
    }
    let at = at + dimensions;
    let rest = rest.get(dimensions..).unwrap_or_default();
    match rest.bytes().next() {
        None => Err(wrong(at, "a type is missing")),
        Some(b'L') => {
            let end = rest.find(';').ok_or_else(|| wrong(at, "a class without ';'"))?;
            let name = rest.get(1..end).unwrap_or_default();
            check_class(name, separator).map_err(|(offset, why)| wrong(at + 1 + offset, why))?;
            let name = if separator == '.' { name.to_owned() } else { name.replace('/', ".") };
            Ok((JavaType { element: Element::Class(name), dimensions }, at + end + 1))
        }
        Some(b'V') => Err(wrong(at, "void is the type of no value")),
        Some(letter) => {
            let primitive = Primitive::by_letter(letter);
            let primitive = primitive.ok_or_else(|| wrong(at, "no letter of a type"))?;
            Ok((JavaType { element: Element::Primitive(primitive), dimensions }, at + 1))
        }
    }
}

/// Whether a name can be a class's. What is wrong with it, and where.
fn check_class(name: &str, separator: char) -> Result<(), (usize, &'static str)> {
    if name.is_empty() {
        return Err((0, "a type is missing"));
    }
    if name == "void" {
        return Err((0, "void is the type of no value"));
    }
    let mut before = separator;
    for (at, c) in name.char_indices() {
        match c {
            _ if c == separator && before == separator => return Err((at, "an empty name")),
            _ if c == separator => {}
            '<' | '>' => return Err((at, "type arguments are erased: leave <…> out")),
            '.' | '/' | ';' | '[' | ']' | '(' | ')' | ',' | '"' | '\\' | ':' => {
                return Err((at, "a character that no class name has"));
            }
            _ if c.is_whitespace() || c.is_control() => {
                return Err((at, "a character that no class name has"));
            }
            '0'..='9' if before == separator => return Err((at, "a name starts with a digit")),
            _ => {}
        }
        before = c;
    }
    if before == separator { Err((name.len() - 1, "an empty name")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
