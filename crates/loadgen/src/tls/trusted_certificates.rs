//! Whose certificates are trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::{ring, verify_tls12_signature, verify_tls13_signature, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::pinned_certificates::AuthoritiesOrPinned;
use crate::config::TlsConfig;
use crate::config_error::ConfigError;

/// Where systems keep the authorities they trust: Debian, Fedora, Alpine, SUSE.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
];
/// As with other programs, this variable names another file.
const BUNDLE_VARIABLE: &str = "SSL_CERT_FILE";
const UNREADABLE: &str = "a file with a certificate that cannot be read";

/// A client that trusts whom it is told to, speaks HTTP/1.1, and TLS 1.2 or 1.3.
pub fn client(wanted: &TlsConfig) -> Result<ClientConfig, ConfigError> {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|cause| wrong("TLS", cause.to_string(), "please report it"))?;
    let mut config = if wanted.insecure {
        let any = Arc::new(AcceptAnyCertificate(provider));
        builder.dangerous().with_custom_certificate_verifier(any).with_no_client_auth()
    } else {
        let (roots, given) = roots(wanted)?;
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let authorities = authorities
            .map_err(|cause| wrong("--ca", cause.to_string(), "give certificates of authorities"))?;
        let verifier = Arc::new(AuthoritiesOrPinned::new(authorities, given));
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The authorities, and the certificates that were given by name: each of these may be the server's own.
fn roots(wanted: &TlsConfig) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), ConfigError> {
    let (mut roots, mut given) = (RootCertStore::empty(), Vec::new());
    if let Some(path) = &wanted.ca {
        let place = format!("--ca {}", path.display());
        for certificate in read(path, &place, "give a file of certificates in PEM")? {
            let refused = |_: Error| {
                wrong(&place, UNREADABLE.to_string(), "give certificates in PEM, as openssl writes them")
            };
            roots.add(certificate.clone()).map_err(refused)?;
            given.push(certificate);
        }
    } else {
        let (path, remedy) = (bundle()?, "mend it, or give --ca FILE");
        // Of a system's many, some may be of kinds that are not known here.
        roots.add_parsable_certificates(read(&path, &path.display().to_string(), remedy)?);
    }
    Ok((roots, given))
}

fn bundle() -> Result<PathBuf, ConfigError> {
    let named = std::env::var_os(BUNDLE_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let known = || BUNDLES.iter().map(PathBuf::from).find(|path| path.exists());
    named.or_else(known).ok_or_else(|| {
        let remedy = "install ca-certificates, or give --ca FILE";
        wrong("https", "no certificates of authorities on this machine".to_string(), remedy)
    })
}

fn read(path: &Path, place: &str, remedy: &'static str) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let bytes = std::fs::read(path).map_err(|cause| wrong(place, cause.to_string(), remedy))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|cause| wrong(place, format!("not PEM ({cause})"), remedy))?;
    if found.is_empty() {
        return Err(wrong(place, "without a certificate".to_string(), remedy));
    }
    Ok(found)
}

fn wrong(place: &str, value: String, remedy: &'static str) -> ConfigError {
    ConfigError::Value { place: place.to_string(), value, remedy }
}

/// `insecure`: whoever has the key of the certificate that he shows.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
