//! What is wrong with a certificate, in a sentence, and what helps.

use rustls::CertificateError;

const NEW: &str =
    "make a new one (openssl req -x509 -addext subjectAltName=DNS:NAME), or --insecure to take any";

/// What is wrong with the certificate that `host` shows, and what helps.
pub(super) fn explain(certificate: &CertificateError, host: &str) -> (String, &'static str) {
    let (said, remedy) = match certificate {
        CertificateError::UnknownIssuer => (
            "is signed by an authority that is not trusted here",
            "give --ca FILE with that authority's certificate, or --insecure to take any",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let remedy = "use a name that is in the certificate, or --insecure to take any";
            return (format!("its certificate is not for {host}"), remedy);
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("has expired", "renew it, look at this machine's clock, or --insecure to take any")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("is not valid yet", "look at this machine's clock, or --insecure to take any")
        }
        CertificateError::BadEncoding => ("cannot be read", NEW),
        CertificateError::Revoked
        | CertificateError::UnknownRevocationStatus
        | CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. }
        | CertificateError::InvalidOcspResponse => ("has been revoked, or nobody says that it has not", NEW),
        CertificateError::UnhandledCriticalExtension => {
            ("has a critical extension that is not known here", NEW)
        }
        CertificateError::BadSignature => (
            "is not signed with the key of the authority that it names",
            "give --ca FILE with the authority's certificate of today, or --insecure to take any",
        ),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            ("is not for servers (extendedKeyUsage has no serverAuth)", NEW)
        }
        CertificateError::Other(other) => explain_other(other.0.downcast_ref()),
        // The names of two algorithms that do not go together, under three names of rustls.
        _ => (
            "is signed by an algorithm that is not taken here",
            "sign it with SHA-256 by a key of RSA (2048 bits or more), P-256, P-384 or Ed25519, or --insecure to take any",
        ),
    };
    (format!("its certificate {said}"), remedy)
}

/// What webpki knows and rustls has no name for.
fn explain_other(cause: Option<&webpki::Error>) -> (&'static str, &'static str) {
    match cause {
        Some(webpki::Error::CaUsedAsEndEntity) => (
            "is an authority's (CA:TRUE), and not one that --ca gave",
            "give --ca FILE with this very certificate, or --insecure to take any",
        ),
        Some(webpki::Error::EndEntityUsedAsCa | webpki::Error::PathLenConstraintViolated) => (
            "is signed by a certificate that may not sign others (CA:FALSE, or a pathlen that is too short)",
            "give --ca FILE with the service's own certificate, or --insecure to take any",
        ),
        Some(webpki::Error::NameConstraintViolation) => (
            "has a name that its authority may not vouch for",
            "give --ca FILE with the service's own certificate, or --insecure to take any",
        ),
        Some(webpki::Error::UnsupportedCertVersion) => {
            ("is of an old form (X.509 version 1), which has no names of servers", NEW)
        }
        _ => ("breaks a rule of X.509", NEW),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{CertificateError, OtherError};

    use super::explain;

    #[test]
    fn each_error_is_a_sentence_with_a_remedy_and_no_name_of_the_library() {
        let other = |cause: webpki::Error| CertificateError::Other(OtherError(Arc::new(cause)));
        let cases = [
            (CertificateError::BadEncoding, "cannot be read"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::UnhandledCriticalExtension, "critical extension"),
            (CertificateError::BadSignature, "not signed with the key"),
            (CertificateError::InvalidPurpose, "not for servers"),
            (CertificateError::ApplicationVerificationFailure, "algorithm"),
            (other(webpki::Error::CaUsedAsEndEntity), "is an authority's (CA:TRUE)"),
            (other(webpki::Error::EndEntityUsedAsCa), "may not sign others"),
            (other(webpki::Error::NameConstraintViolation), "may not vouch for"),
            (other(webpki::Error::UnsupportedCertVersion), "version 1"),
            (other(webpki::Error::InvalidSerialNumber), "breaks a rule"),
        ];
        for (cause, part) in cases {
            let (said, remedy) = explain(&cause, "shop.test");
            assert!(said.starts_with("its certificate ") && said.contains(part), "{said}");
            assert!(remedy.contains("--insecure"), "{remedy}");
            for debug in ["Error", "Other", "Serial", "EndEntity", "{"] {
                assert!(!said.contains(debug), "{said}");
            }
        }
    }
}
