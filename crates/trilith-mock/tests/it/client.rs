//! A client on the bare socket, and a mock to talk to.

use std::{io, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use trilith_core::DialectId;
use trilith_mock::{Options, Recorder, Script, serve};

pub(crate) fn chat(stream: bool) -> String {
    format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],"stream":{stream}}}"#)
}

pub(crate) fn responses(stream: bool) -> String {
    format!(r#"{{"model":"m","input":"hi","stream":{stream}}}"#)
}

pub(crate) fn messages(stream: bool) -> String {
    let body = chat(stream);
    format!(r#"{{"max_tokens":100,{}"#, body.trim_start_matches('{'))
}

pub(crate) fn completions(stream: bool) -> String {
    format!(r#"{{"model":"m","prompt":"hi","stream":{stream}}}"#)
}

pub(crate) struct Mock {
    address: String,
    pub(crate) recorder: Recorder,
    _server: JoinSet<()>,
}

impl Mock {
    pub(crate) async fn start(script: &str, dialect: DialectId) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let recorder = Recorder::memory();
        let dialect = trilith_dialect::dialect(dialect).unwrap();
        let options = Options { record: Some(recorder.clone()), ..Options::new(dialect) };
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Script::parse("test.mock", script).unwrap(), options));
        Self { address, recorder, _server: server }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client { stream: TcpStream::connect(&self.address).await.unwrap(), inbox: Vec::new() }
    }

    pub(crate) async fn wait_for(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..500 {
            if let Some(line) = self.recorder.lines().into_iter().find(|line| wanted(line)) {
                return line;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not recorded: {:?}", self.recorder.lines());
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its end.
    pub(crate) whole: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    inbox: Vec<u8>,
}

impl Client {
    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: m\r\nauthorization: Bearer k\r\ncontent-length: {length}\r\n\r\n"
        );
        self.raw(head.as_bytes()).await;
        self.raw(body.as_bytes()).await;
    }

    pub(crate) async fn request(&mut self, method: &str, path: &str, body: &str) -> Answer {
        self.send(method, path, body).await;
        self.answer().await.unwrap()
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Answer {
        self.try_post(path, body).await.unwrap()
    }

    pub(crate) async fn try_post(&mut self, path: &str, body: &str) -> io::Result<Answer> {
        self.send("POST", &format!("/v1{path}"), body).await;
        self.answer().await
    }

    pub(crate) async fn read_until(&mut self, text: &str) {
        while !self.inbox.windows(text.len()).any(|window| window == text.as_bytes()) {
            assert!(self.more().await.unwrap(), "the end came first");
        }
    }

    async fn more(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.inbox).await? > 0)
    }

    async fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(at) = self.inbox.windows(2).position(|window| window == b"\r\n") {
                let line: Vec<u8> = self.inbox.drain(..at + 2).collect();
                return Ok(Some(String::from_utf8_lossy(&line[..at]).into_owned()));
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    async fn exactly(&mut self, count: usize, body: &mut Vec<u8>) -> io::Result<bool> {
        while self.inbox.len() < count {
            if !self.more().await? {
                body.append(&mut self.inbox);
                return Ok(false);
            }
        }
        body.extend(self.inbox.drain(..count));
        Ok(true)
    }

    pub(crate) async fn answer(&mut self) -> io::Result<Answer> {
        let first = self.line().await?.expect("an answer");
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        while let Some(line) = self.line().await?.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new(), whole: true };
        let mut body = Vec::new();
        if let Some(length) = answer.header("content-length") {
            let length = length.parse().unwrap();
            answer.whole = self.exactly(length, &mut body).await?;
        } else if answer.header("transfer-encoding").is_some() {
            answer.whole = self.chunks(&mut body).await?;
        } else {
            while self.more().await? {}
            body.append(&mut self.inbox);
        }
        answer.body = body;
        Ok(answer)
    }

    async fn chunks(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let Some(line) = self.line().await? else { return Ok(false) };
            let size = usize::from_str_radix(&line, 16).unwrap();
            let whole = size == 0 || self.exactly(size, body).await?;
            let end = self.line().await?;
            if size == 0 {
                return Ok(end.is_some());
            }
            if !whole {
                return Ok(false);
            }
        }
    }
}
