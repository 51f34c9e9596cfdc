//! [`Lines`]: one JSON-RPC message a line, over standard input and output.
//!
//! Unlike the SDK's transport, it answers invalid messages: a line that is not JSON, a line that is not a request,
//! and a line over the limit. A line over the limit is skipped without being stored.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::message::{self, Refused};

pub(crate) struct Lines<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<W>>,
    /// Beginning of an incomplete line. It survives a `receive` that is dropped.
    line: Vec<u8>,
    /// True if the line is over the limit and is skipped up to its end.
    is_passed_over: bool,
    max_bytes: usize,
    /// True if a request has opened the session.
    is_open: bool,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(crate) fn new(input: R, output: W, max_bytes: usize) -> Self {
        let (input, output) = (BufReader::new(input), Arc::new(Mutex::new(output)));
        Self { input, output, line: Vec::new(), is_passed_over: false, max_bytes, is_open: false }
    }

    /// Reads one line within the limit. Returns `None` at the end of the input. A last line without a line end is not
    /// a message.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let taken = part.len() + usize::from(end.is_some());
            if !self.is_passed_over && self.line.len() + part.len() <= self.max_bytes {
                self.line.extend_from_slice(part);
            } else if !self.is_passed_over {
                self.line = Vec::new();
                self.is_passed_over = true;
            }
            self.input.consume(taken);
            if end.is_none() {
                continue;
            }
            if std::mem::take(&mut self.is_passed_over) {
                self.refuse(too_large(self.max_bytes), None);
                continue;
            }
            return Ok(Some(std::mem::take(&mut self.line)));
        }
    }

    /// Answers an invalid message. The whole answer is written, even if nobody waits for it.
    fn refuse(&self, error: ErrorData, id: Option<RequestId>) {
        tracing::debug!(code = error.code.0, "message refused");
        let output = self.output.clone();
        tokio::spawn(async move {
            let message = TxJsonRpcMessage::<RoleServer>::error(error, id);
            if let Err(error) = write(&output, &message).await {
                tracing::debug!(%error, "cannot write");
            }
        });
    }

    /// Returns true if the session accepts a message. Until a request has opened the session, only requests are
    /// accepted. The SDK would end the session on anything else.
    fn takes(&mut self, message: &ClientJsonRpcMessage) -> bool {
        if let (false, JsonRpcMessage::Request(request)) = (self.is_open, message) {
            let has_metadata =
                || request.request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
            self.is_open = match &request.request {
                ClientRequest::InitializeRequest(_) => true,
                ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
                _ => has_metadata(),
            };
            return true;
        }
        self.is_open
    }
}

/// Returns the error for a message over the limit.
pub(crate) fn too_large(max_bytes: usize) -> ErrorData {
    let message = format!("the message has more than {max_bytes} bytes; send less at once");
    ErrorData::invalid_request(message, None)
}

/// Parses a line. Returns a message, `None` if the line needs no answer, or the reason why it is invalid.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refused> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    match message::read(line) {
        Ok(message) => Ok(Some(message)),
        Err(refused) if refused.is_notification => {
            tracing::debug!(code = refused.error.code.0, "notification dropped");
            Ok(None)
        }
        Err(refused) => Err(refused),
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.next_line().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::error!(%error, "cannot read");
                    return None;
                }
            };
            match parse(&line) {
                Ok(Some(message)) if self.takes(&message) => return Some(message),
                Ok(_) => {}
                Err(Refused { error, id, .. }) => self.refuse(error, id),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}
