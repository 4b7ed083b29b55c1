//! What the words after `equipoise call` mean: with a URL that has a path, the path is the service;
//! without one, the service is the first word. Text in, a target out; no network.

use anyhow::bail;
use equipoise::core::url::Url;

use crate::failure::{Usage, usage};

/// Whom to call, and with what.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    /// Providers, with their parameters.
    pub(crate) urls: Vec<Url>,
    /// Interface.
    pub(crate) service: String,
    /// Method.
    pub(crate) method: String,
    /// Java type names of the parameters, where they were given.
    pub(crate) types: Option<Vec<String>>,
    /// Arguments: one JSON document.
    pub(crate) json: String,
}

/// Reads `URL METHOD [TYPES] JSON` or `URL[,URL...] SERVICE METHOD [TYPES] JSON`.
///
/// # Errors
/// Too few or too many words, a word that is not what its place asks for.
pub(crate) fn target(urls: &str, words: &[String], types: Option<&str>) -> anyhow::Result<Target> {
    let urls = read_urls(urls)?;
    let paths: Vec<&str> = urls.iter().map(|u| u.path.as_str()).collect();
    let (service, words) = match paths.split_first() {
        Some((path, others)) if !path.is_empty() => {
            if let Some(other) = others.iter().find(|other| *other != path) {
                bail!(usage(format!("URL: the paths {path:?} and {other:?} are two services")));
            }
            ((*path).to_owned(), words)
        }
        _ => match words.split_first() {
            Some((service, words)) => (service.clone(), words),
            None => return Err(too_few("SERVICE METHOD [TYPES] JSON").into()),
        },
    };
    let (method, own_types, json) = match words {
        [method, json] => (method, None, json),
        [method, types, json] => (method, Some(types.as_str()), json),
        [] | [_] => return Err(too_few("METHOD [TYPES] JSON").into()),
        [_, _, _, more, ..] => bail!(usage(format!("{more:?} is one word too many after JSON"))),
    };
    if own_types.is_some() && types.is_some() {
        bail!(usage("--types: types are given twice"));
    }
    if let Err(error) = serde_json::from_str::<serde_json::Value>(json) {
        bail!(usage(format!("JSON: {json:?} is none: {error}")));
    }
    Ok(Target {
        urls,
        service,
        method: method.clone(),
        types: own_types.or(types).map(read_types).transpose()?,
        json: json.clone(),
    })
}

fn too_few(form: &str) -> Usage {
    usage(format!("words are missing: after the URL comes {form}"))
}

fn read_urls(text: &str) -> anyhow::Result<Vec<Url>> {
    let read =
        |text: String| Url::parse(&text).map_err(|error| usage(format!("URL: {error}")).into());
    split(text).into_iter().map(read).collect()
}

/// Cuts at commas, but not at those inside of a parameter (`methods=a,b`): once a query has begun,
/// only what looks like an address starts the next URL.
fn split(text: &str) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match urls.last_mut() {
            Some(url) if url.contains('?') && !looks_like_address(piece) => {
                url.push(',');
                url.push_str(piece);
            }
            _ => urls.push(piece.to_owned()),
        }
    }
    urls
}

fn looks_like_address(piece: &str) -> bool {
    let address = piece.split(['?', '/']).next().unwrap_or_default();
    let port = address.rsplit_once(':').map(|(_, port)| port);
    piece.contains("://")
        || port.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads Java type names between commas. `tri` has no use for them, but a slip is a slip.
fn read_types(text: &str) -> anyhow::Result<Vec<String>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let names = text.split(',').map(|name| match name.trim() {
        name if is_type(name) => Ok(name.to_owned()),
        name => Err(usage(format!(
            "TYPES: {name:?} is no Java type; write names such as java.lang.String,int,long[]"
        ))
        .into()),
    });
    names.collect()
}

/// `int`, `java.lang.String[]`, or a descriptor of an array (`[I`, `[Ljava.lang.String;`).
fn is_type(name: &str) -> bool {
    if let Some(element) = name.strip_prefix('[') {
        let element = element.trim_start_matches('[');
        let class = element.strip_prefix('L').and_then(|e| e.strip_suffix(';'));
        return class.map_or("ZBCSIJFD".contains(element) && element.len() == 1, is_class);
    }
    let mut name = name;
    while let Some(element) = name.strip_suffix("[]") {
        name = element;
    }
    is_class(name)
}

fn is_class(name: &str) -> bool {
    name.split('.').all(|part| {
        let starts = part.chars().next().is_some_and(|c| c.is_alphabetic() || "_$".contains(c));
        starts && part.chars().all(|c| c.is_alphanumeric() || "_$".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_path_is_the_service() {
        let read = target("tri://h:1/a.B?group=g", &words(&["m", "[1]"]), None).unwrap();
        assert_eq!((read.service.as_str(), read.method.as_str()), ("a.B", "m"));
        let read = target("h:1/a.B", &words(&["m", "int", "[1]"]), None).unwrap();
        assert_eq!(read.types, Some(vec!["int".to_owned()]));
        assert!(target("h:1/a.B,h:2/a.C", &words(&["m", "1"]), None).is_err());
        assert!(target("h:1/a.B", &words(&["a.B", "m", "int", "[1]"]), None).is_err());
    }

    #[test]
    fn without_a_path_the_service_comes_first() {
        let read = target("h:1,h:2", &words(&["a.B", "m", "[1]"]), Some("int,long[]")).unwrap();
        assert_eq!(read.urls.len(), 2);
        assert_eq!((read.service.as_str(), read.method.as_str()), ("a.B", "m"));
        assert_eq!(read.types, Some(words(&["int", "long[]"])));
        for too_few in [&[][..], &["a.B"], &["a.B", "m"]] {
            assert!(target("h:1", &words(too_few), None).is_err(), "{too_few:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |url, w: &[&str], types| target(url, &words(w), types).unwrap_err().to_string();
        assert!(error("h:0", &["a.B", "m", "1"], None).starts_with("URL: "));
        assert!(error("h:1", &["a.B", "m", "{x"], None).starts_with("JSON: "));
        assert!(error("h:1", &["a.B", "m", "in t", "1"], None).starts_with("TYPES: "));
        assert!(error("h:1", &["a.B", "m", "int", "1"], Some("int")).starts_with("--types: "));
    }

    #[test]
    fn commas_in_parameters_do_not_end_a_url() {
        assert_eq!(
            split("h:1?methods=a,b&weight=5,10.0.0.2:20880?methods=a,b,tri://h"),
            ["h:1?methods=a,b&weight=5", "10.0.0.2:20880?methods=a,b", "tri://h"]
        );
        assert_eq!(split("h,i"), ["h", "i"]);
    }

    #[test]
    fn types_are_names_of_java() {
        for good in ["int", "java.lang.String", "a.b.C$D[][]", "[I", "[[Ljava.lang.String;", "Ä"] {
            assert!(is_type(good), "{good}");
        }
        for bad in ["", "a..b", "1a", "int[", "[", "[X", "[IJ", "java.util.List<String>", "[L;"] {
            assert!(!is_type(bad), "{bad}");
        }
    }
}
