//! Remedies for requests without an answer, in words for an operator.

use rustls::{CertificateError, Error as TlsError};

/// Return the usual remedy for a failed request; empty where there is none.
pub(super) fn hint(error: &ureq::Error) -> &'static str {
    if let Some(tls) = tls_error(error) {
        return tls_hint(tls);
    }
    if matches!(error, ureq::Error::HostNotFound) || error.to_string().contains("failed to lookup")
    {
        return "check the host name in `backend` and this machine's DNS";
    }
    ""
}

/// Return the TLS error within a failed request: an error of the handshake arrives as one of input and output.
fn tls_error(error: &ureq::Error) -> Option<&TlsError> {
    match error {
        ureq::Error::Rustls(tls) => Some(tls),
        ureq::Error::Io(io) => io.get_ref()?.downcast_ref(),
        _ => None,
    }
}

fn tls_hint(error: &TlsError) -> &'static str {
    match error {
        TlsError::InvalidCertificate(certificate) => certificate_hint(certificate),
        TlsError::InvalidMessage(_) => {
            "the server does not use TLS: the port is wrong, or the URL should start with http://"
        }
        TlsError::PeerIncompatible(_) | TlsError::AlertReceived(_) => {
            "the server refuses this TLS connection: it has to offer TLS 1.2 or 1.3 with a current cipher"
        }
        _ => "",
    }
}

fn certificate_hint(error: &CertificateError) -> &'static str {
    use CertificateError as E;
    match error {
        E::UnknownIssuer | E::BadSignature => {
            "its certificate is not from an authority this agent trusts: set ca_file to the right one, or find out who \
             intercepts the connection"
        }
        E::ApplicationVerificationFailure => {
            "its public key is not the one of ca_pin: copy a new line from \"Add a VM\" if the backend was set up anew, or \
             find out who intercepts the connection"
        }
        E::Expired | E::ExpiredContext { .. } => {
            "its certificate has expired: renew it on the backend, or correct this machine's clock if that is ahead"
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            "its certificate is valid only from a later time: correct this machine's clock, or the start of the \
             certificate on the backend"
        }
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            "its certificate is for another host: use a host name of the certificate in `backend`, or make one whose \
             subjectAltName has this name"
        }
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            "its certificate is not meant for servers: make one whose extendedKeyUsage has serverAuth"
        }
        E::UnsupportedSignatureAlgorithmContext { .. }
        | E::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "its certificate is signed by a method this agent does not accept: sign it with SHA-256 or better, and ECDSA, \
             Ed25519 or RSA of 2048 bits or more"
        }
        E::BadEncoding | E::UnhandledCriticalExtension => {
            "its certificate cannot be read: make a new one of X.509 version 3"
        }
        other => unlisted_hint(&format!("{other:?}")),
    }
}

/// Return the remedy for faults that rustls passes on from its validator without a type.
fn unlisted_hint(fault: &str) -> &'static str {
    if fault.contains("CaUsedAsEndEntity") {
        "its certificate is that of an authority (CA:TRUE), which cannot stand for a server: sign a certificate with \
         CA:FALSE for the server by it, and keep the authority in ca_file"
    } else if fault.contains("UnsupportedCertVersion") {
        "its certificate is of X.509 version 1: make one of version 3, with the host name in subjectAltName"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_of_version_1_is_explained() {
        let hint = unlisted_hint("Other(OtherError(UnsupportedCertVersion))");
        assert!(hint.contains("of X.509 version 1: make one of version 3"));
    }
}
