//! An authority made for one cell, and what it signs.

use equipoise::protocol::tls::{ClientTls, Identity, TlsError};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// An authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate in PEM.
    pub(crate) pem: String,
}

/// A certificate and its key in PEM.
pub(crate) struct Signed {
    /// The certificate.
    pub(crate) certificate: String,
    /// Its key.
    pub(crate) key: String,
}

impl Signed {
    /// Both, as our TLS takes them.
    pub(crate) fn identity(&self) -> Identity<'_> {
        Identity { certificates: self.certificate.as_bytes(), key: self.key.as_bytes() }
    }
}

impl Authority {
    /// A new one.
    pub(crate) fn new() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        // Of its own: OpenSSL takes a certificate whose issuer has its own name for self-signed.
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "authority of the suite");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate()?;
        let pem = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    /// A certificate for a DNS name or an address.
    pub(crate) fn sign(&self, name: &str) -> Result<Signed, rcgen::Error> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![name.to_owned()])?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Signed { certificate, key: key.serialize_pem() })
    }

    /// TLS of a client of ours that trusts it.
    pub(crate) fn trusted(&self, identity: Option<Identity<'_>>) -> Result<ClientTls, TlsError> {
        ClientTls::new(self.pem.as_bytes(), identity)
    }
}
