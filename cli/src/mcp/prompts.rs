//! Prompts of the memory protocol, which a person can add to a conversation by name.

use rmcp::model::{ContentBlock, ErrorData, GetPromptResult, Prompt, PromptMessage, Role};
use saddlebag::context::ContextReply;
use saddlebag::journal::{FLUSH_PROMPT, REFLECT_PROMPT};
use saddlebag::tools::{ToolSet, memory_prompt};

/// Prompt that the server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Protocol,
    Reflect,
    Flush,
}

const ALL: [Named; 3] = [Named::Protocol, Named::Reflect, Named::Flush];

impl Named {
    fn name(self) -> &'static str {
        match self {
            Self::Protocol => "memory-protocol",
            Self::Reflect => "reflect",
            Self::Flush => "flush-before-compaction",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Protocol => "The memory block and how to use it, for the start of a conversation.",
            Self::Reflect => "Look back over the conversation and keep what a later one will need.",
            Self::Flush => "Keep what would be lost when the conversation is compacted.",
        }
    }
}

pub(crate) fn list() -> Vec<Prompt> {
    ALL.into_iter().map(|prompt| Prompt::new(prompt.name(), Some(prompt.description()), None)).collect()
}

pub(crate) fn named(name: &str) -> Result<Named, ErrorData> {
    ALL.into_iter().find(|prompt| prompt.name() == name).ok_or_else(|| {
        let names = ALL.map(Named::name).join(", ");
        ErrorData::invalid_params(format!("unknown prompt `{}`; one of {names}", name.escape_debug()), None)
    })
}

/// Returns the message of a prompt. The message of the protocol begins with the memory block, and explains the tools of these sets.
pub(crate) fn message(prompt: Named, block: Option<ContextReply>, sets: &[ToolSet]) -> GetPromptResult {
    let text = match prompt {
        Named::Protocol => {
            let block = block.and_then(|reply| reply.block).map(|block| format!("{block}\n\n"));
            format!("{}{}", block.unwrap_or_default(), memory_prompt(sets))
        }
        Named::Reflect => REFLECT_PROMPT.to_string(),
        Named::Flush => FLUSH_PROMPT.to_string(),
    };
    let message = PromptMessage::new(Role::User, ContentBlock::text(text));
    GetPromptResult::new(vec![message]).with_description(prompt.description())
}
