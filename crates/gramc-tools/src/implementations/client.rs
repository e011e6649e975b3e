//! Tools that the host program executes.

use crate::invocation::{
    AnswerFuture, Implementation, Invocation, InvocationError, InvocationErrorKind,
};

/// A tool that the host program or the MCP client executes, and hands the result of back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client;

impl Implementation for Client {
    fn kind(&self) -> &'static str {
        "Client"
    }

    /// Never gives an answer: the host has it.
    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let detail = format!("the tool `{}` is executed by the host program", invocation.tool);
        let error = InvocationError::new(InvocationErrorKind::HostExecuted, detail);
        Box::pin(std::future::ready(Err(error)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use super::*;
    use crate::implementations::testing::invocation;

    #[tokio::test]
    async fn the_host_has_the_answer() {
        let error = Client.invoke(invocation("pick", "{}")).await.unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::HostExecuted);
        assert_eq!(error.detail, "the tool `pick` is executed by the host program");
    }
}
