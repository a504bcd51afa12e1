//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trilith_core::DialectId;

/// One gateway for every LLM API, with the state of the Responses API in it.
#[derive(Debug, Parser)]
#[command(name = "trilith", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer requests.
    Serve(ServeOptions),
    /// Read the configuration and say what is wrong with it.
    Check(ConfigOptions),
    /// Say what another dialect makes of a request or an answer, and what is lost; nothing is sent.
    Translate(TranslateOptions),
    /// List the models that callers can name, and those that the providers offer.
    Models(ConfigOptions),
    /// Play a script as an upstream, for tests.
    Mock(MockOptions),
    /// Print every configuration key with its meaning, or a file to begin with.
    Config(DescribeOptions),
    /// Do one piece of work for a server that started this process.
    #[command(hide = true)]
    Worker(WorkerOptions),
}

/// Where the configuration comes from.
#[derive(Debug, Args)]
pub(crate) struct ConfigOptions {
    /// The configuration file; trilith.toml in this folder if there is one.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// `trilith serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) config: ConfigOptions,
    /// Where to listen, over server.listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Where responses are kept, over store.url: sqlite:FILE or memory:
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A GGUF file to answer with, over local.model.
    #[arg(long, value_name = "GGUF")]
    pub(crate) model: Option<String>,
}

/// `trilith translate`.
#[derive(Debug, Args)]
pub(crate) struct TranslateOptions {
    /// The dialect of FILE.
    #[arg(long, value_enum)]
    pub(crate) from: DialectName,
    /// The dialect to print.
    #[arg(long, value_enum)]
    pub(crate) to: DialectName,
    /// FILE is an event stream of an answer; print the other dialect's stream.
    #[arg(long)]
    pub(crate) stream: bool,
    /// FILE is a whole answer instead of a request.
    #[arg(long, conflicts_with = "stream")]
    pub(crate) response: bool,
    /// What to translate; - reads standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `trilith mock`.
#[derive(Debug, Args)]
pub(crate) struct MockOptions {
    /// The script to play.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The dialect to play it in.
    #[arg(long, value_enum)]
    pub(crate) dialect: DialectName,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9100")]
    pub(crate) listen: String,
    /// Where to write down each request, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

/// `trilith config`.
#[derive(Debug, Args)]
pub(crate) struct DescribeOptions {
    /// Print a commented file to begin with instead.
    #[arg(long)]
    pub(crate) sample: bool,
}

/// `trilith worker`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WorkerOptions {
    /// The work.
    #[arg(value_enum)]
    pub(crate) work: Work,
}

/// What a worker can do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Work {
    /// Write the text of the PDF on standard input to standard output.
    PdfText,
}

/// The dialects that this version speaks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DialectName {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// OpenAI Completions, the older wire.
    Completions,
}

impl From<DialectName> for DialectId {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Chat => Self::Chat,
            DialectName::Responses => Self::Responses,
            DialectName::Messages => Self::Messages,
            DialectName::Completions => Self::Completions,
        }
    }
}
