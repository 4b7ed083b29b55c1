//! Names of a service: interface, group and version (Dubbo's service key, rule key).

use std::fmt;

/// Interface, group and version.
#[derive(Clone, Debug, Default, Eq, PartialEq, Hash)]
pub struct ServiceKey {
    /// Full interface name, for example `com.acme.Stock`.
    pub interface: String,
    /// Group; empty means none.
    pub group: String,
    /// Version; empty means none.
    pub version: String,
}

impl ServiceKey {
    /// An interface without group and version.
    pub fn new(interface: impl Into<String>) -> Self {
        Self { interface: interface.into(), ..Self::default() }
    }

    /// With a group.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// With a version.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// `interface:version:group`, both colons always present (the key of rules).
    pub fn rule_key(&self) -> String {
        format!("{}:{}:{}", self.interface, self.version, self.group)
    }
}

/// `[group/]interface[:version]`.
impl fmt::Display for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        f.write_str(&self.interface)?;
        if !self.version.is_empty() {
            write!(f, ":{}", self.version)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // E 1.1
    #[test]
    fn service_key_leaves_empty_parts_out() {
        let bar = ServiceKey::new("com.foo.Bar");
        assert_eq!(bar.to_string(), "com.foo.Bar");
        assert_eq!(bar.rule_key(), "com.foo.Bar::");
        assert_eq!(bar.clone().version("1.0").to_string(), "com.foo.Bar:1.0");
        assert_eq!(bar.group("g").version("1.0").to_string(), "g/com.foo.Bar:1.0");
    }
}
