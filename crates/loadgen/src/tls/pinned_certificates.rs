//! A server's own certificate given by `--ca`: trusted as it is, whoever signed it.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_name, WebPkiServerVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use webpki::EndEntityCert;

/// commonName (2.5.4.3), as DER has it after tag and length.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const OBJECT_IDENTIFIER: u8 = 0x06;

/// Authorities as ever; a certificate that was itself given, byte for byte, needs none. Its time and its name are checked all the same.
#[derive(Debug)]
pub(super) struct AuthoritiesOrPinned {
    authorities: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl AuthoritiesOrPinned {
    pub(super) fn new(
        authorities: Arc<WebPkiServerVerifier>,
        given: Vec<CertificateDer<'static>>,
    ) -> AuthoritiesOrPinned {
        AuthoritiesOrPinned { authorities, given }
    }

    fn verify_pinned(
        &self,
        end_entity: &CertificateDer<'_>,
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // Without what the server sent beside it: another's time does not matter where nobody has to vouch.
        match self.authorities.verify_server_cert(end_entity, &[], name, ocsp, now) {
            Ok(verified) => return Ok(verified),
            // webpki looks at the time before it looks at either of these, and at the name after them.
            Err(Error::InvalidCertificate(cause)) if needs_an_authority(&cause) => {}
            Err(Error::InvalidCertificate(cause)) if is_of_another_name(&cause) => {}
            Err(cause) => return Err(cause),
        }
        let refused = match verify_server_name(&ParsedCertificate::try_from(end_entity)?, name) {
            Ok(()) => return Ok(ServerCertVerified::assertion()),
            Err(cause) => cause,
        };
        // `openssl req -x509` writes a common name alone, which other programs read where there is no subjectAltName.
        match &refused {
            Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. })
                if presented.is_empty() && common_name_is(end_entity, &name.to_str()) =>
            {
                Ok(ServerCertVerified::assertion())
            }
            _ => Err(refused),
        }
    }
}

fn needs_an_authority(cause: &CertificateError) -> bool {
    let of_webpki = match cause {
        CertificateError::Other(other) => other.0.downcast_ref::<webpki::Error>(),
        _ => None,
    };
    matches!(cause, CertificateError::UnknownIssuer) || of_webpki == Some(&webpki::Error::CaUsedAsEndEntity)
}

fn is_of_another_name(cause: &CertificateError) -> bool {
    matches!(cause, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
}

fn common_name_is(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let Ok(parsed) = EndEntityCert::try_from(certificate) else { return false };
    // A subject is a sequence of sets of (kind, text).
    let mut rest = parsed.subject();
    while let Some((_, set, after)) = element(rest) {
        let pair = element(set).map(|(_, pair, _)| pair);
        let kind = pair.and_then(element);
        if let Some((OBJECT_IDENTIFIER, kind, text)) = kind {
            let text = element(text).map_or(&[][..], |(_, text, _)| text);
            if kind == COMMON_NAME && text.eq_ignore_ascii_case(name.as_bytes()) {
                return true;
            }
        }
        rest = after;
    }
    false
}

/// The first element of DER: its tag, its content, and what comes after it. `None` where there is none whole.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        if count > 2 || rest.len() < count {
            return None;
        }
        (rest[..count].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), &rest[count..])
    };
    (rest.len() >= length).then(|| (tag, &rest[..length], &rest[length..]))
}

impl ServerCertVerifier for AuthoritiesOrPinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.given.iter().any(|given| given == end_entity) {
            return self.verify_pinned(end_entity, name, ocsp, now);
        }
        self.authorities.verify_server_cert(end_entity, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::element;

    #[test]
    fn elements_of_der_are_read_whole_or_not_at_all() {
        // X.690: a boolean, and what follows it; a text of 200 bytes has its length in two.
        assert_eq!(element(&[0x01, 0x01, 0xff, 0x05, 0x00]), Some((0x01, &[0xff][..], &[0x05, 0x00][..])));
        let long = [&[0x0c, 0x81, 200][..], &[b'x'; 200]].concat();
        assert_eq!(element(&long).map(|(_, text, rest)| (text.len(), rest.len())), Some((200, 0)));
        let cut: [&[u8]; 6] =
            [&[], &[0x01], &[0x0c, 0x02, b'x'], &[0x0c, 0x82, 1], &[0x0c, 0x83, 0, 0, 1], &[0x30, 0x80]];
        for (number, der) in cut.iter().enumerate() {
            // The last has no length at all (X.690, 8.1.3.6): not DER; read as empty, which says nothing.
            let found = element(der).map(|(_, content, _)| content.len());
            assert_eq!(found, if number == 5 { Some(0) } else { None }, "{der:?}");
        }
    }
}
