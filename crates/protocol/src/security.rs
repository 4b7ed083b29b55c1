//! Whether a client's connection is TLS: its own option and the provider's URL decide together.

#[cfg(feature = "tls")]
use std::sync::{Arc, OnceLock};

use equipoise_core::outcome::FailureKind;
use equipoise_core::url::Url;

#[cfg(feature = "tls")]
use crate::tls::{ClientTls, TlsError};

/// The option. With one of its own every provider is spoken to in TLS, unless its URL says
/// `ssl-enabled=false`; without, those whose URL says `ssl-enabled=true`, trusting the authorities
/// of the system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Security {
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<ClientTls>,
    /// Trust in the system's authorities, read when a URL first asks for TLS.
    #[cfg(feature = "tls")]
    system: Arc<OnceLock<ClientTls>>,
}

/// What it is for one provider.
pub(crate) enum Chosen {
    Plain,
    #[cfg(feature = "tls")]
    Tls(ClientTls),
}

/// Why it cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecurityError {
    #[cfg(feature = "tls")]
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[cfg(not(feature = "tls"))]
    #[error("ssl-enabled=true, but this program was built without TLS")]
    NoTls,
}

impl SecurityError {
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            #[cfg(feature = "tls")]
            SecurityError::Tls(error) => error.kind(),
            #[cfg(not(feature = "tls"))]
            SecurityError::NoTls => FailureKind::Invalid,
        }
    }
}

impl Security {
    /// What the connection to `target` is to be.
    pub(crate) fn choose(&self, target: &Url) -> Result<Chosen, SecurityError> {
        let wanted = match target.param("ssl-enabled") {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(other) => {
                tracing::warn!(
                    address = %target.address(), value = other,
                    "ssl-enabled is neither true nor false and counts as not given"
                );
                None
            }
        };
        self.choose_for(wanted)
    }

    #[cfg(feature = "tls")]
    fn choose_for(&self, wanted: Option<bool>) -> Result<Chosen, SecurityError> {
        Ok(match (wanted, &self.tls) {
            (Some(false), _) | (None, None) => Chosen::Plain,
            (_, Some(tls)) => Chosen::Tls(tls.clone()),
            (Some(true), None) => Chosen::Tls(self.system()?),
        })
    }

    #[cfg(feature = "tls")]
    fn system(&self) -> Result<ClientTls, SecurityError> {
        if let Some(tls) = self.system.get() {
            return Ok(tls.clone());
        }
        let tls = ClientTls::system()?;
        Ok(self.system.get_or_init(|| tls).clone())
    }

    #[cfg(not(feature = "tls"))]
    fn choose_for(&self, wanted: Option<bool>) -> Result<Chosen, SecurityError> {
        match wanted {
            Some(true) => Err(SecurityError::NoTls),
            _ => Ok(Chosen::Plain),
        }
    }
}
