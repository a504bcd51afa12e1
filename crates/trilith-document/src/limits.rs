//! What a worker may use, told to the system by the worker itself before it reads anything.

use std::{fs, os::fd::RawFd};

use nix::sys::resource::{Resource, setrlimit};

/// Bytes of address space, the program itself included.
const MEMORY: u64 = 1 << 30;
/// Seconds of processor time.
const CPU_SECONDS: u64 = 10;
/// File descriptors: the three it was started with.
const DESCRIPTORS: u64 = 3;

/// The first descriptor that is not input, output or errors.
const FIRST_OTHER: RawFd = 3;

/// Closes what whoever started the server had open and handed down.
fn close_others() {
    let Ok(open) = fs::read_dir("/dev/fd") else { return };
    let open: Vec<RawFd> = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor >= FIRST_OTHER) {
        // The one that listed them is among them, and closed already.
        nix::unistd::close(descriptor).ok();
    }
}

/// Takes from this process what reading a document does not need. There is no way back.
///
/// # Errors
/// The system refuses, which it does not for limits that become lower.
pub(crate) fn confine() -> nix::Result<()> {
    close_others();
    setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY)?;
    setrlimit(Resource::RLIMIT_CPU, CPU_SECONDS, CPU_SECONDS)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, 0, 0)?;
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS)?;
    setrlimit(Resource::RLIMIT_NPROC, 0, 0)
}
