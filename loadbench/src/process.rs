//! The processes under measurement: start, readiness, CPU time, memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;

/// How long a subject may take until its first answer.
const START_LIMIT: Duration = Duration::from_secs(15);
/// Time between two attempts to get the first answer.
const POLL: Duration = Duration::from_micros(500);

/// A running subject; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    clock: ClockId,
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// From the start of the process to its first answer to `GET /health`.
    pub(crate) start_up: Duration,
}

impl Process {
    /// Starts `command`, whose output goes to `log`, and waits for an answer on `addr`.
    ///
    /// The error is a text for the report.
    pub(crate) fn start(mut command: Command, addr: SocketAddr, log: &Path) -> Result<Self, String> {
        let output = File::create(log).map_err(|e| format!("{}: {e}", log.display()))?;
        let copy = output.try_clone().map_err(|e| e.to_string())?;
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(copy)
            .spawn()
            .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
        let pid = Pid::from_raw(i32::try_from(child.id()).map_err(|e| e.to_string())?);
        let clock = clock_getcpuclockid(pid).map_err(|e| format!("CPU clock: {e}"));
        // The guard exists before the waiting, so that a subject that never answers is ended too.
        let mut process = Self { child, clock: ClockId::CLOCK_MONOTONIC, addr, start_up: Duration::ZERO };
        process.clock = clock?;
        while !answers(addr) {
            if let Ok(Some(status)) = process.child.try_wait() {
                return Err(format!("ended at its start ({status}): {}", log_tail(log)));
            }
            if started.elapsed() > START_LIMIT {
                return Err(format!("no answer on {addr}: {}", log_tail(log)));
            }
            thread::sleep(POLL);
        }
        process.start_up = started.elapsed();
        Ok(process)
    }

    /// CPU time of all its threads since it started, ended threads included.
    pub(crate) fn cpu(&self) -> Duration {
        self.clock.now().map(Duration::from).unwrap_or_default()
    }

    /// Resident memory in bytes now.
    pub(crate) fn resident(&self) -> Option<u64> {
        self.status_kib("VmRSS:")
    }

    /// Most resident memory in bytes so far.
    pub(crate) fn peak_resident(&self) -> Option<u64> {
        self.status_kib("VmHWM:")
    }

    fn status_kib(&self, field: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answers(addr: SocketAddr) -> bool {
    let ask = || -> io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&addr, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(
            format!("GET /health HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut start = [0; 9];
        stream.read_exact(&mut start)?;
        Ok(start.starts_with(b"HTTP/1.1 "))
    };
    ask().unwrap_or(false)
}

fn log_tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(4)..).unwrap_or_default().join(" / ")
}

/// A loopback address whose port was free a moment ago.
pub(crate) fn free_addr() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// A folder that is removed with everything in it when dropped.
#[derive(Debug)]
pub(crate) struct WorkFolder(pub(crate) PathBuf);

impl WorkFolder {
    /// Makes a fresh folder below the system's temporary one.
    pub(crate) fn new() -> io::Result<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("trilith-bench-{}-{number}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system's own cleaning.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_that_ends_at_once_is_reported_with_its_last_words() {
        let folder = WorkFolder::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such key >&2; exit 3"]);
        let fault = Process::start(command, free_addr().unwrap(), &folder.0.join("log")).unwrap_err();
        assert!(fault.contains("exit status: 3") && fault.contains("no such key"), "{fault}");
    }

    #[test]
    fn a_missing_binary_is_reported() {
        let folder = WorkFolder::new().unwrap();
        let missing = folder.0.join("none");
        let fault = Process::start(Command::new(missing), free_addr().unwrap(), &folder.0.join("log2"));
        assert!(fault.unwrap_err().contains("none"));
    }
}
