//! TLS settings: rustls with ring, roots by choice, HTTP/1.1 by ALPN.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::config::Roots;
use crate::error::{ErrorKind, NetError};

/// Builds the settings every TLS connection shares.
///
/// The provider is named here, not looked up in the process: with two providers in one
/// build the look-up panics.
pub(crate) fn client_config(roots: &Roots) -> Result<Arc<ClientConfig>, NetError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| NetError::new(ErrorKind::Invalid, "TLS cannot be set up").caused_by(error))?
        .with_root_certificates(store(roots)?)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn store(roots: &Roots) -> Result<RootCertStore, NetError> {
    let mut store = RootCertStore::empty();
    if roots.webpki {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if roots.system {
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = store.add_parsable_certificates(found.certs);
        if added == 0 {
            return Err(NetError::new(
                ErrorKind::Invalid,
                "the system has no usable certificate authorities",
            ));
        }
    }
    for pem in &roots.extra_pem {
        add_pem(&mut store, pem)?;
    }
    Ok(store)
}

fn add_pem(store: &mut RootCertStore, pem: &[u8]) -> Result<(), NetError> {
    let bad = || NetError::new(ErrorKind::Invalid, "a CA file is not a PEM certificate");
    let mut added = 0_usize;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| bad().caused_by(error.to_string()))?;
        store.add(certificate).map_err(|error| bad().caused_by(error))?;
        added += 1;
    }
    if added == 0 { Err(bad()) } else { Ok(()) }
}
