// Written by `saddlebag setup`. `saddlebag setup opencode --remove` removes this file.
//
// OpenCode has no hooks in its configuration, so this plugin runs `saddlebag hook` at the events of a session. The
// memory block goes into the system prompt, and what is recalled for a prompt goes into the prompt. If the program
// fails, the session goes on without memory.

import { spawn } from "node:child_process";

const PROGRAM = ["saddlebag"];

// Milliseconds after which a run is stopped. A run takes a few.
const TIMEOUT = 10_000;

export const Saddlebag = async ({ directory, worktree }) => {
  // The block of each session. It is made once, so that the prompt cache of the model stays valid.
  const blocks = new Map();

  function run(event, session, fields = {}) {
    const payload = JSON.stringify({
      saddlebag_hook: 1,
      client: "opencode",
      event,
      session,
      project: worktree && worktree !== "/" ? worktree : directory,
      ...fields,
    });
    return new Promise((resolve) => {
      const [command, ...options] = PROGRAM;
      const child = spawn(command, [...options, "hook", event, "--client", "opencode"], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: TIMEOUT,
        windowsHide: true,
      });
      let answer = "";
      child.stdout.setEncoding("utf8").on("data", (part) => (answer += part));
      child.stdin.on("error", () => {});
      child.on("error", () => resolve(""));
      child.on("close", () => {
        try {
          resolve(JSON.parse(answer).text ?? "");
        } catch {
          resolve("");
        }
      });
      child.stdin.end(payload);
    });
  }

  function block(session, source) {
    if (source || !blocks.has(session)) {
      blocks.set(session, run("start", session, { source: source ?? "startup" }));
    }
    return blocks.get(session);
  }

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id;
      if (!session) return;
      if (event.type === "session.created" && !event.properties?.info?.parentID) await block(session);
      if (event.type === "session.compacted") await block(session, "compact");
      if (event.type === "session.idle") await run("stop", session);
      if (event.type === "session.deleted") {
        blocks.delete(session);
        await run("end", session);
      }
    },

    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      const text = prompt && (await run("prompt", input.sessionID, { prompt }));
      if (text) {
        const { id, sessionID, messageID } = texts[0];
        output.parts.push({ id: `${id}-saddlebag`, sessionID, messageID, type: "text", text, synthetic: true });
      }
    },

    "tool.execute.after": async (input, output) => {
      const { tool, sessionID, callID, args } = input;
      const result = { output: output.output, metadata: output.metadata };
      await run("tool", sessionID, { tool, call: callID, input: args ?? {}, result });
    },

    "experimental.chat.system.transform": async (input, output) => {
      const text = input.sessionID && (await block(input.sessionID));
      if (text) output.system.push(text);
    },

    "experimental.session.compacting": async (input, output) => {
      const text = await run("compact", input.sessionID);
      if (text) output.context.push(text);
    },

    dispose: async () => {
      await Promise.all([...blocks.keys()].map((session) => run("end", session)));
    },
  };
};
