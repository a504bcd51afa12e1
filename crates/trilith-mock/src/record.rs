//! What was asked, kept as one JSON object for each line.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

use crate::http::Request;

/// Where requests are recorded: `{"method", "path", "headers", "body"}`, and
/// `{"event": "disconnected", "request": N}` for a client that left before the end of its answer (requests count
/// from 1). Bodies that are not JSON are recorded as text. Credentials are recorded too: a test wants to see
/// which ones were sent.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Mutex<Place>>);

#[derive(Debug)]
enum Place {
    File(File),
    Memory(Vec<Value>),
}

impl Recorder {
    /// Records into a file, which is emptied first.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn file(path: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Place::File(File::create(path)?)))))
    }

    /// Records into memory, for [`Recorder::lines`].
    pub fn memory() -> Self {
        Self(Arc::new(Mutex::new(Place::Memory(Vec::new()))))
    }

    /// What was recorded in memory until now, oldest first; nothing for a recorder with a file.
    pub fn lines(&self) -> Vec<Value> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Place::Memory(lines) => lines.clone(),
            Place::File(_) => Vec::new(),
        }
    }

    pub(crate) fn request(&self, request: &Request) -> io::Result<()> {
        let mut headers = serde_json::Map::new();
        for (name, value) in &request.headers {
            match headers.get_mut(name) {
                // The same header twice: joined as HTTP allows.
                Some(Value::String(known)) => known.push_str(&format!(", {value}")),
                _ => drop(headers.insert(name.clone(), Value::String(value.clone()))),
            }
        }
        let body = serde_json::from_slice(&request.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&request.body).into_owned()));
        self.add(json!({ "method": request.method, "path": request.path, "headers": headers, "body": body }))
    }

    pub(crate) fn disconnected(&self, number: u64) -> io::Result<()> {
        self.add(json!({ "event": "disconnected", "request": number }))
    }

    fn add(&self, line: Value) -> io::Result<()> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Place::Memory(lines) => {
                lines.push(line);
                Ok(())
            }
            Place::File(file) => file.write_all(format!("{line}\n").as_bytes()),
        }
    }
}
