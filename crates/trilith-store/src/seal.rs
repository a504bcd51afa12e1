//! Envelopes: what leaves Trilith's hands unread and comes back unchanged (`runtime` invariants; translation
//! contract §8). `tl1.` + base64url of key id, nonce and ciphertext; tenant and purpose are bound to it.

use std::{
    fmt, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use sha2::{Digest, Sha256};
use trilith_core::{Error, ErrorKind, ErrorOrigin, Sealer};

const PREFIX: &str = "tl1.";
const KEY: usize = 32;
const KEY_ID: usize = 4;
const NONCE: usize = 24;

/// Why there is no sealing key.
#[derive(Debug)]
pub enum SealError {
    /// The key file cannot be read or made.
    File(PathBuf, io::Error),
    /// The key file does not hold 32 bytes in hexadecimal text, one key a line.
    Malformed(PathBuf),
    /// There is something else than a file in its place.
    NoFile(PathBuf),
    /// Others on this machine could read the key file.
    Exposed(PathBuf),
    /// The system gave no randomness.
    NoRandomness,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "the sealing key {}: {error}", path.display()),
            Self::Malformed(path) => write!(
                f,
                "the sealing key {} must hold 64 hexadecimal digits a line; the first line seals, all open",
                path.display()
            ),
            Self::NoFile(path) => write!(
                f,
                "the sealing key {} is no file; name a file in seal.key_file, which is made if it is missing",
                path.display()
            ),
            Self::Exposed(path) => write!(
                f,
                "the sealing key {} can be read by others; run: chmod 600 {}",
                path.display(),
                path.display()
            ),
            Self::NoRandomness => f.write_str("the system gave no randomness for a sealing key"),
        }
    }
}

impl std::error::Error for SealError {}

struct SealKey {
    id: [u8; KEY_ID],
    cipher: XChaCha20Poly1305,
}

/// Seals with the newest key and opens with every key it knows.
pub struct EnvelopeSealer {
    keys: Vec<SealKey>,
}

impl fmt::Debug for EnvelopeSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvelopeSealer({} keys)", self.keys.len())
    }
}

impl EnvelopeSealer {
    /// A sealer with a key that lives as long as the process.
    ///
    /// # Errors
    /// The system gave no randomness.
    pub fn ephemeral() -> Result<Self, SealError> {
        Ok(Self::with_keys(&[fresh_key()?]))
    }

    /// A sealer with the keys of a file; makes the file, readable by its owner alone, if there is none.
    ///
    /// # Errors
    /// The file cannot be read or made, is malformed, or others can read it.
    pub fn from_file(path: &Path) -> Result<Self, SealError> {
        let fail = |error| SealError::File(path.into(), error);
        if let Some(keys) = read_keys(path)? {
            return Ok(Self::with_keys(&keys));
        }
        let key = fresh_key()?;
        match publish(path, &key) {
            Ok(()) => Ok(Self::with_keys(&[key])),
            // Another process was faster: its key counts.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let keys = read_keys(path)?.ok_or_else(|| fail(error))?;
                Ok(Self::with_keys(&keys))
            }
            Err(error) => Err(fail(error)),
        }
    }

    fn with_keys(keys: &[[u8; KEY]]) -> Self {
        let keys = keys
            .iter()
            .map(|key| {
                let digest = Sha256::digest(key);
                let mut id = [0; KEY_ID];
                id.copy_from_slice(&digest[..KEY_ID]);
                SealKey { id, cipher: XChaCha20Poly1305::new(Key::from_slice(key)) }
            })
            .collect();
        Self { keys }
    }
}

impl Sealer for EnvelopeSealer {
    fn seal(&self, tenant: &str, purpose: &str, secret: &[u8]) -> Result<String, Error> {
        let unsealed = || Error::internal("reasoning could not be sealed; try again");
        let key = self.keys.first().ok_or_else(unsealed)?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| unsealed())?;
        let bound = bound(tenant, purpose);
        let sealed = key
            .cipher
            .encrypt(XNonce::from_slice(&nonce), Payload { msg: secret, aad: &bound })
            .map_err(|_| unsealed())?;
        let mut whole = Vec::with_capacity(KEY_ID + NONCE + sealed.len());
        whole.extend_from_slice(&key.id);
        whole.extend_from_slice(&nonce);
        whole.extend_from_slice(&sealed);
        let mut text = String::with_capacity(PREFIX.len() + whole.len().div_ceil(3) * 4);
        text.push_str(PREFIX);
        URL_SAFE_NO_PAD.encode_string(&whole, &mut text);
        Ok(text)
    }

    fn open(&self, tenant: &str, purpose: &str, envelope: &str) -> Result<Vec<u8>, Error> {
        // One answer for every cause, so that nothing can be learned from it.
        let refused = || {
            // Which field it came in, the caller of this port knows.
            Error::new(
                ErrorKind::BadRequest,
                ErrorOrigin::Caller,
                "this sealed content cannot be opened: it is changed, cut, or not yours",
            )
            .with_code("invalid_encrypted_content")
        };
        let text = envelope.strip_prefix(PREFIX).ok_or_else(refused)?;
        let whole = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused())?;
        let (id, rest) = whole.split_first_chunk::<KEY_ID>().ok_or_else(refused)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or_else(refused)?;
        let bound = bound(tenant, purpose);
        self.keys
            .iter()
            .filter(|key| key.id == *id)
            .find_map(|key| {
                let payload = Payload { msg: sealed, aad: &bound };
                key.cipher.decrypt(XNonce::from_slice(nonce), payload).ok()
            })
            .ok_or_else(refused)
    }
}

fn bound(tenant: &str, purpose: &str) -> Vec<u8> {
    [PREFIX.as_bytes(), purpose.as_bytes(), b"\0", tenant.as_bytes()].concat()
}

fn fresh_key() -> Result<[u8; KEY], SealError> {
    let mut key = [0; KEY];
    getrandom::fill(&mut key).map_err(|_| SealError::NoRandomness)?;
    Ok(key)
}

fn read_keys(path: &Path) -> Result<Option<Vec<[u8; KEY]>>, SealError> {
    let fail = |error| SealError::File(path.into(), error);
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() {
        return Err(SealError::NoFile(path.into()));
    }
    if exposed(&metadata) {
        return Err(SealError::Exposed(path.into()));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(fail)?;
    let keys: Option<Vec<_>> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(unhex).collect();
    match keys {
        Some(keys) if !keys.is_empty() => Ok(Some(keys)),
        _ => Err(SealError::Malformed(path.into())),
    }
}

#[cfg(unix)]
fn exposed(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn exposed(_: &fs::Metadata) -> bool {
    false
}

/// Makes the key file, whole from the moment at which it can be seen: it is written beside its place and linked
/// there, which fails if another process was faster.
fn publish(path: &Path, key: &[u8; KEY]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    // A name of its own, also among processes that share a folder over a network.
    name.push(format!(".{}", hex(&Sha256::digest(key)[..8])));
    let beside = PathBuf::from(name);
    let write = |place: &Path| {
        create_private(place).and_then(|mut file| {
            writeln!(file, "{}", hex(key))?;
            file.sync_all()
        })
    };
    // A key that could not be written beside is not written in place either: half of one would be there to stay.
    let linked = write(&beside).map(|()| fs::hard_link(&beside, path));
    fs::remove_file(&beside).ok();
    match linked? {
        // Some file systems know no links.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write(path),
        linked => linked,
    }
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; KEY]> {
    if text.len() != KEY * 2 || !text.is_ascii() {
        return None;
    }
    let mut key = [0; KEY];
    for (slot, place) in key.iter_mut().zip((0..KEY).map(|n| n * 2)) {
        *slot = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests;
