//! Measures the body scan and the event splitter: `cargo run --release --example scan_speed`.
#![expect(clippy::print_stdout, reason = "the figures are the program's output")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use trilith_dialect::frame::sse::{Boundary, Splitter, write_event};
use trilith_dialect::scan::{Limits, scan};

/// Chat bodies of about 50 KB as agents send them: 20 tools, a long instruction, turns with code in them.
fn agent_body() -> String {
    let mut body = String::from(
        "{\"model\":\"gpt-5\",\"stream\":true,\"messages\":[{\"role\":\"system\",\"content\":\"",
    );
    for rule in 0..60 {
        write!(body, "{rule}. Read the file before you change it, keep its style and say what you did.\\n")
            .ok();
    }
    body.push_str("\"}");
    for turn in 0..36 {
        write!(
            body,
            ",{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"call_{turn:024}\",\"type\":\"function\",\
             \"function\":{{\"name\":\"read_file\",\"arguments\":\"{{\\\"path\\\":\\\"src/part_{turn}.rs\\\",\\\"limit\\\":200}}\"}}}}]}},\
             {{\"role\":\"tool\",\"tool_call_id\":\"call_{turn:024}\",\"content\":\""
        )
        .ok();
        for line in 0..10 {
            write!(
                body,
                "    let value_{line} = map.get(\\\"key_{line}\\\").copied().unwrap_or_default();\\n"
            )
            .ok();
        }
        body.push_str("\"}");
    }
    body.push_str("],\"tools\":[");
    for tool in 0..20 {
        let comma = if tool == 0 { "" } else { "," };
        write!(
            body,
            "{comma}{{\"type\":\"function\",\"function\":{{\"name\":\"tool_{tool}\",\"description\":\"Does one thing and reports \
             the outcome as text; fails when the path lies outside of the workspace.\",\"parameters\":{{\"type\":\"object\",\
             \"properties\":{{\"path\":{{\"type\":\"string\",\"description\":\"Absolute path of the file\"}},\"limit\":{{\"type\":\
             \"integer\",\"minimum\":1,\"maximum\":2000}},\"mode\":{{\"type\":\"string\",\"enum\":[\"fast\",\"exact\",\"dry\"]}}}},\
             \"required\":[\"path\",\"mode\"],\"additionalProperties\":false}}}}}}"
        )
        .ok();
    }
    body.push_str("],\"temperature\":0.2,\"stream_options\":{\"include_usage\":true}}");
    body
}

/// A stream of 180-byte chunks.
fn stream() -> Vec<u8> {
    let mut out = Vec::new();
    for token in 0..500 {
        let data = format!(
            "{{\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-5\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" t{token}\"}},\"finish_reason\":null}}]}}"
        );
        write_event(&mut out, None, data.as_bytes());
    }
    out
}

/// The quickest of many rounds: other work on the machine only ever slows a round down.
fn measure(name: &str, bytes: usize, mut round: impl FnMut()) {
    let mut best = Duration::MAX;
    for _ in 0..2000 {
        best = best.min(timed(&mut round));
    }
    let rate = bytes as f64 / best.as_secs_f64() / 1e9;
    println!("{name:<34} {bytes:>7} bytes {:>8.1} µs {rate:>6.2} GB/s", best.as_secs_f64() * 1e6);
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the real clock")]
fn timed(round: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    round();
    start.elapsed()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let compact = agent_body();
    let value: serde_json::Value = serde_json::from_str(&compact)?;
    let pretty = serde_json::to_string_pretty(&value)?;
    let limits = Limits::default();
    for (name, body) in [("compact", &compact), ("indented", &pretty)] {
        measure(&format!("scan, {name} agent body"), body.len(), || {
            let _ = black_box(scan(black_box(body.as_bytes()), &limits));
        });
        measure(&format!("serde_json RawValue, {name}"), body.len(), || {
            let _ = black_box(serde_json::from_slice::<&RawValue>(black_box(body.as_bytes())));
        });
    }
    let stream = stream();
    measure("Splitter, 500 events in one chunk", stream.len(), || {
        let _ = Splitter::default().push(black_box(&stream), |frame| {
            black_box(frame);
        });
    });
    measure("Splitter, chunks of 1000 bytes", stream.len(), || {
        let mut splitter = Splitter::default();
        for chunk in stream.chunks(1000) {
            let _ = splitter.push(black_box(chunk), |frame| {
                black_box(frame);
            });
        }
    });
    measure("Boundary, 500 events in one chunk", stream.len(), || {
        let _ = Boundary::default().push(black_box(&stream), |data| {
            black_box(data);
        });
    });
    Ok(())
}
