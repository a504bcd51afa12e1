//! The process's own tables.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::super::Flags;
use super::super::model::{
    Fetch, Limits, Local, Log, LogFormat, Seal, Server, Store, StoreUrl, Sync, Timeouts,
};
use super::super::problem::At;
use super::super::values::check;
use super::super::walk::Section;
use super::Build;

impl Build {
    pub(super) fn server(&mut self, section: &Section, flags: &Flags) -> Server {
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let listen = self.flag_or_key(section, "listen", "--listen", flags.listen.as_ref());
        let listen = listen.and_then(|text| check::parse_address(&text)).unwrap_or(nowhere);
        let admin = self.text(section, "admin_listen").and_then(|text| check::parse_address(&text));
        if admin == Some(listen) && listen.port() != 0 {
            let at = self.place(section, "admin_listen");
            self.complain(
                at,
                section.shown("admin_listen"),
                "is the address of the API itself",
                "choose another port, or \"\" for no admin listener",
            );
        }
        Server {
            listen,
            admin_listen: admin,
            max_body_bytes: self.number(section, "max_body_bytes").unwrap_or_default(),
            max_depth: self.number(section, "max_depth").unwrap_or_default(),
            max_concurrent: self.number(section, "max_concurrent").unwrap_or_default(),
            workers: self.number(section, "workers").and_then(NonZeroUsize::new),
            header_timeout: self.duration(section, "header_timeout").unwrap_or_default(),
            drain_timeout: self.duration(section, "drain_timeout").unwrap_or_default(),
        }
    }

    pub(super) fn store(&mut self, section: &Section, flags: &Flags) -> Store {
        let url = self.flag_or_key(section, "url", "--store", flags.store.as_ref());
        let sync = self.text(section, "sync");
        let days: u64 = self.number(section, "retention_days").unwrap_or_default();
        Store {
            url: url.and_then(|text| check::parse_store(&text).ok()).unwrap_or(StoreUrl::Memory),
            sync: if sync.as_deref() == Some("full") { Sync::Full } else { Sync::Normal },
            retention: Duration::from_secs(days.saturating_mul(86_400)),
        }
    }

    pub(super) fn log(&mut self, section: &Section) -> Log {
        let format = self.text(section, "format");
        Log {
            format: if format.as_deref() == Some("json") { LogFormat::Json } else { LogFormat::Text },
            level: self.text(section, "level").unwrap_or_default(),
        }
    }

    pub(super) fn limits(&mut self, section: &Section) -> Limits {
        Limits {
            timeouts: Timeouts {
                connect: self.duration(section, "connect").unwrap_or_default(),
                first_byte: self.duration(section, "first_byte").unwrap_or_default(),
                idle: self.duration(section, "idle").unwrap_or_default(),
            },
            retries: self.number(section, "retries").unwrap_or_default(),
            max_requests: self.number(section, "max_requests").filter(|most| *most > 0),
            max_choices: self.number(section, "max_choices").unwrap_or_default(),
            max_answer_bytes: self.number(section, "max_answer_bytes").unwrap_or_default(),
        }
    }

    pub(super) fn local(&mut self, section: &Section, flags: &Flags) -> Option<Local> {
        let model = self.flag_or_key(section, "model", "--model", flags.model.as_ref());
        let name = self.text(section, "name");
        let context = self.number(section, "context");
        let threads = self.number(section, "threads");
        let Some(model) = model.map(PathBuf::from) else {
            if !section.present.is_empty() && !section.present.contains("model") && flags.model.is_none() {
                let help = "add `model = \"FILE.gguf\"`, start with --model FILE, or leave `[local]` out";
                self.complain(section.at, section.shown("model"), "is missing", help);
            }
            return None;
        };
        let name = name.or_else(|| {
            let stem = model.file_stem()?.to_str()?;
            check::model_name(stem).is_ok().then(|| stem.to_owned())
        });
        if name.is_none() && !section.present.contains("name") {
            let at = if flags.model.is_some() { At::Flag("--model") } else { self.place(section, "model") };
            let message = "the file's name cannot be the model's name";
            self.complain(at, section.shown("name"), message, "add `name = \"…\"` to `[local]`");
        }
        Some(Local { model, name: name.unwrap_or_default(), context, threads })
    }

    pub(super) fn seal(&mut self, section: &Section) -> Seal {
        Seal { key_file: self.path(section, "key_file") }
    }

    pub(super) fn fetch(&mut self, section: &Section) -> Option<Fetch> {
        let hosts = |name| {
            let list = self.list(section, name).unwrap_or_default();
            list.into_iter().map(|host| host.to_ascii_lowercase()).collect()
        };
        let ports = self.list(section, "ports").unwrap_or_default();
        let fetch = Fetch {
            hosts: hosts("hosts"),
            private_hosts: hosts("private_hosts"),
            ports: ports.iter().filter_map(|port| port.parse().ok()).collect(),
            http: self.flag(section, "http"),
            max_bytes: self.number(section, "max_bytes").unwrap_or_default(),
            time: self.duration(section, "time").unwrap_or_default(),
            at_once: self.number(section, "at_once").unwrap_or_default(),
        };
        self.flag(section, "enabled").then_some(fetch)
    }
}
