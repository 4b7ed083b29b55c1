//! `tag`: a tagged call reaches providers with its tag, other calls reach untagged providers.
//!
//! # Rule text
//!
//! None yet: static tags only. A provider's tag is its parameter `dubbo.tag`; a request's tag is
//! the call's own, else the configured `dubbo.tag`. With `dubbo.tag=gray` on 10.0.0.1 a call tagged
//! `gray` reaches 10.0.0.1; where no provider has the tag it falls back to untagged providers,
//! unless `dubbo.force.tag` is true. A call without a tag reaches untagged providers only.
//!
//! # Cost
//!
//! Per call without a tag nothing; with one, a look-up by text. Two branches per known tag.
//!
//! # Dubbo
//!
//! `tag` (`TagStateRouter`, 3.3), without its dynamic rule.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Router, RouterKind};
use crate::call::Call;
use crate::config::{Config, ConfigError};
use crate::view::Entry;

/// The row.
pub(super) struct Tag;

impl RouterKind for Tag {
    fn name(&self) -> &'static str {
        "tag"
    }

    fn summary(&self) -> &'static str {
        "providers with the tag of the call (static tags)"
    }

    fn compile(
        &self,
        entries: &[Entry],
        config: &Config,
    ) -> Result<Option<Box<dyn Router>>, ConfigError> {
        let mut tags: Vec<Arc<str>> = Vec::new();
        let mut index = HashMap::new();
        for tag in entries.iter().filter_map(tag_of) {
            index.entry(Arc::<str>::from(tag)).or_insert_with_key(|tag| {
                tags.push(tag.clone());
                tags.len() - 1
            });
        }
        let configured = config.of_service("dubbo.tag").map(|s| Arc::from(s.value.as_str()));
        let force = config
            .of_service("dubbo.force.tag")
            .is_some_and(|s| s.value.trim().eq_ignore_ascii_case("true"));
        Ok(Some(Box::new(TagRouter { tags, index, configured, force })))
    }
}

struct TagRouter {
    tags: Vec<Arc<str>>,
    index: HashMap<Arc<str>, usize>,
    configured: Option<Arc<str>>,
    force: bool,
}

/// Branch of calls without a tag. Tags follow, two branches each: with fallback, forced.
const UNTAGGED: usize = 0;

impl TagRouter {
    /// Stands for every tag that no provider has.
    fn unknown(&self) -> usize {
        self.tags.len()
    }

    fn parts(&self, branch: usize) -> Option<(usize, bool)> {
        let branch = branch.checked_sub(1)?;
        Some((branch / 2, branch % 2 == 1))
    }
}

impl Router for TagRouter {
    fn branches(&self) -> usize {
        1 + 2 * (self.tags.len() + 1)
    }

    fn branch(&self, call: &Call<'_>) -> usize {
        let own = call.tag.filter(|tag| !tag.is_empty());
        let Some(tag) = own.or(self.configured.as_deref()) else { return UNTAGGED };
        let tag = self.index.get(tag).copied().unwrap_or(self.unknown());
        1 + 2 * tag + usize::from(call.force_tag.unwrap_or(self.force))
    }

    fn untagged(&self) -> Option<usize> {
        // Only the configured tag is left, and it does not change with the call.
        Some(self.branch(&Call::new("")))
    }

    fn branch_name(&self, branch: usize) -> String {
        match self.parts(branch) {
            None => String::new(),
            Some((tag, force)) => {
                let name = self.tags.get(tag).map_or("?unknown", |t| t);
                format!("{name}{}", if force { "!" } else { "" })
            }
        }
    }

    fn narrow(&self, branch: usize, entries: &[Entry], kept: &mut Vec<u32>) {
        let tag = |position: &u32| entries.get(*position as usize).and_then(tag_of);
        let Some((wanted, force)) = self.parts(branch) else {
            return kept.retain(|p| tag(p).is_none());
        };
        let name = self.tags.get(wanted).map(|t| &**t);
        let any = name.is_some() && kept.iter().any(|p| tag(p) == name);
        if any || force {
            kept.retain(|p| name.is_some() && tag(p) == name);
        } else {
            kept.retain(|p| tag(p).is_none());
        }
    }
}

fn tag_of(entry: &Entry) -> Option<&str> {
    entry.url().param("dubbo.tag")
}
