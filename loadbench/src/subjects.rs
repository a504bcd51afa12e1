//! What is compared: the processes and the routes through them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::load::Target;
use crate::process::{Process, free_addr};
use crate::wire::{Dialect, Scenario};

/// A program under measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Program {
    /// The scripted upstream, called without anything between.
    Upstream,
    /// The hyper floor.
    Hyper,
    /// The write-once floor.
    WriteOnce,
    /// Trilith.
    Trilith,
}

impl Program {
    /// Every program, the upstream first because the others need its address.
    pub(crate) const ALL: [Self; 4] = [Self::Upstream, Self::Hyper, Self::WriteOnce, Self::Trilith];

    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Hyper => "floor-hyper",
            Self::WriteOnce => "floor-write-once",
            Self::Trilith => "trilith",
        }
    }
}

/// One row of a table: a route from a caller's dialect to an upstream's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Subject {
    /// Its name in tables and for `--subject`.
    pub(crate) name: &'static str,
    /// The program that is measured.
    pub(crate) program: Program,
    /// What the caller speaks.
    pub(crate) caller: Dialect,
    /// What the upstream speaks.
    pub(crate) upstream: Dialect,
    /// The `store` member that the caller sends.
    pub(crate) store: Option<bool>,
}

const fn same(name: &'static str, program: Program, dialect: Dialect) -> Subject {
    Subject { name, program, caller: dialect, upstream: dialect, store: None }
}

const fn through(name: &'static str, caller: Dialect, upstream: Dialect) -> Subject {
    Subject { upstream, store: stored(caller, false), ..same(name, Program::Trilith, caller) }
}

/// Only callers of Responses say whether their answer is kept.
const fn stored(caller: Dialect, store: bool) -> Option<bool> {
    match caller {
        Dialect::Responses => Some(store),
        Dialect::Chat | Dialect::Messages => None,
    }
}

/// Every row, in the order of the tables.
pub(crate) const SUBJECTS: [Subject; 19] = [
    same("direct chat", Program::Upstream, Dialect::Chat),
    same("direct responses", Program::Upstream, Dialect::Responses),
    same("direct messages", Program::Upstream, Dialect::Messages),
    same("floor-write-once chat", Program::WriteOnce, Dialect::Chat),
    same("floor-write-once responses", Program::WriteOnce, Dialect::Responses),
    same("floor-write-once messages", Program::WriteOnce, Dialect::Messages),
    same("floor-hyper chat", Program::Hyper, Dialect::Chat),
    same("floor-hyper responses", Program::Hyper, Dialect::Responses),
    same("floor-hyper messages", Program::Hyper, Dialect::Messages),
    same("trilith chat → chat", Program::Trilith, Dialect::Chat),
    through("trilith responses → responses, store off", Dialect::Responses, Dialect::Responses),
    same("trilith messages → messages", Program::Trilith, Dialect::Messages),
    through("trilith chat → responses", Dialect::Chat, Dialect::Responses),
    through("trilith chat → messages", Dialect::Chat, Dialect::Messages),
    through("trilith responses → chat, store off", Dialect::Responses, Dialect::Chat),
    through("trilith responses → messages, store off", Dialect::Responses, Dialect::Messages),
    through("trilith messages → chat", Dialect::Messages, Dialect::Chat),
    through("trilith messages → responses", Dialect::Messages, Dialect::Responses),
    Subject {
        store: stored(Dialect::Responses, true),
        ..through("trilith responses → chat, store on", Dialect::Responses, Dialect::Chat)
    },
];

impl Subject {
    /// What the load generator sends to this subject, which listens on `addr`.
    pub(crate) fn target(&self, addr: SocketAddr, scenario: Scenario) -> Target {
        Target {
            addr,
            dialect: self.caller,
            scenario,
            model: format!("{}-up{}", self.upstream.name(), scenario.model_suffix()),
            store: self.store,
        }
    }

    /// Whether Trilith has to translate between two dialects.
    pub(crate) fn translates(&self) -> bool {
        self.caller != self.upstream
    }
}

/// How the programs are started.
#[derive(Debug)]
pub(crate) struct Launch {
    /// This benchmark's own binary, which contains the upstream and the floors.
    pub(crate) bench: PathBuf,
    /// The Trilith binary.
    pub(crate) trilith: PathBuf,
    /// Where configuration, logs and the database go.
    pub(crate) folder: PathBuf,
    /// Extra lines for the `[store]` table.
    pub(crate) store_lines: Vec<String>,
    /// Worker threads of the floors; 0 means one for each core.
    pub(crate) workers: usize,
}

impl Launch {
    /// Starts `program`; every one but the upstream needs the upstream's address.
    ///
    /// `run` tells apart the logs and databases of several starts.
    pub(crate) fn start(&self, program: Program, upstream: SocketAddr, run: &str) -> Result<Process, String> {
        let addr = free_addr().map_err(|e| e.to_string())?;
        let stem = format!("{}-{run}", program.name());
        let log = self.folder.join(format!("{stem}.log"));
        let command = match program {
            Program::Trilith => {
                let file = self.folder.join(format!("{stem}.toml"));
                let text = self.trilith_config(addr, upstream, &self.folder.join(format!("{stem}.db")));
                std::fs::write(&file, text).map_err(|e| e.to_string())?;
                let mut command = Command::new(&self.trilith);
                command.arg("serve").arg("--config").arg(&file);
                command
            }
            own => {
                let mut command = Command::new(&self.bench);
                command.arg(own.name()).arg("--listen").arg(addr.to_string());
                if own != Program::Upstream {
                    command.arg("--upstream").arg(upstream.to_string());
                    command.arg("--workers").arg(self.workers.to_string());
                }
                command
            }
        };
        Process::start(command, addr, &log)
    }

    fn trilith_config(&self, listen: SocketAddr, upstream: SocketAddr, database: &Path) -> String {
        let mut text = format!(
            "[server]\nlisten = \"{listen}\"\nadmin_listen = \"127.0.0.1:0\"\n\n\
             [store]\nurl = \"sqlite:{}\"\n",
            database.display()
        );
        for line in &self.store_lines {
            text.push_str(&format!("{line}\n"));
        }
        for dialect in Dialect::ALL {
            let name = dialect.name();
            text.push_str(&format!(
                "\n[[providers]]\nname = \"up-{name}\"\ndialect = \"{name}\"\n\
                 base_url = \"http://{upstream}/v1\"\n"
            ));
        }
        // Each name is given to the upstream under another one, so the splice is part of what is measured.
        for dialect in Dialect::ALL {
            for scenario in [Scenario::Burst, Scenario::Paced] {
                let (name, suffix) = (dialect.name(), scenario.model_suffix());
                text.push_str(&format!(
                    "\n[[models]]\nname = \"{name}-up{suffix}\"\n\
                     targets = [{{ provider = \"up-{name}\", model = \"{name}-bench-1{suffix}\" }}]\n"
                ));
            }
        }
        text
    }
}
