// Memory for OpenCode. This file only runs `saddlebag hook` and hands its answer on; docs/hooks.md has the format.
//
// It goes into `.opencode/plugins/` of a project or `~/.config/opencode/plugins/`. SADDLEBAG_PROGRAM names the program
// if it is not in the PATH, and SADDLEBAG_HOOKS=off switches it off.

import { spawn } from "node:child_process"

const PROGRAM = process.env.SADDLEBAG_PROGRAM || "saddlebag"
/** Version of the format that the program reads. */
const FORMAT = 1
/** Time after which an answer is not waited for, in milliseconds. The program gives up before. */
const LIMIT = 6_000
/** Most characters of the output of a command that are handed on. The program looks for an error in them. */
const MAX_OUTPUT = 20_000
/** Arguments of tools that are handed on. The content of a file never is. */
const ARGUMENTS = ["filePath", "path", "command", "patchText", "key", "title", "target", "name", "from", "to", "provenance"]
/** Tools that write files or run commands. What memory says about the file or the command is asked before they run. */
const ACTING = ["edit", "write", "multiedit", "patch", "apply_patch", "bash"]
/** Most characters of an answer of the agent that are handed on. The program keeps fewer. */
const MAX_ANSWER = 4_000
/** Most messages whose author is kept. */
const MAX_MESSAGES = 256

/** Runs the program with a payload, and returns its text, or an empty one. It never fails. */
function run(event, fields) {
  return new Promise((resolve) => {
    let output = ""
    const done = () => {
      try {
        resolve(JSON.parse(output).text ?? "")
      } catch {
        resolve("")
      }
    }
    try {
      const child = spawn(PROGRAM, ["hook", event], { stdio: ["pipe", "pipe", "ignore"], timeout: LIMIT })
      child.on("error", () => resolve(""))
      child.on("close", done)
      child.stdout.setEncoding("utf8").on("data", (part) => (output += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ saddlebag_hook: FORMAT, client: "opencode", event, ...fields }))
    } catch {
      resolve("")
    }
  })
}

/** Returns the arguments of a tool without the content of any file. */
function shown(args) {
  return Object.fromEntries(ARGUMENTS.filter((name) => typeof args?.[name] === "string").map((name) => [name, args[name]]))
}

export const Saddlebag = async ({ directory, worktree }) => {
  const project = directory || worktree
  /** Text of each session for its system prompt: the start, and the answer to the last prompt. */
  const texts = new Map()
  /** Session above each session of a subagent. */
  const parents = new Map()
  /** Last messages of the agent, and its last answer in each session. */
  const ofAgent = new Set()
  const answers = new Map()
  /** Arguments of the calls in flight, and what memory says before each. */
  const calls = new Map()
  /** Runs whose answer nobody needs. */
  const running = new Set()

  const top = (session) => {
    let found = session
    while (parents.has(found)) found = parents.get(found)
    return found
  }
  const send = (event, session, fields) => run(event, { session, project, ...fields })
  const later = (...sent) => {
    const sending = send(...sent).finally(() => running.delete(sending))
    running.add(sending)
  }
  /** Begins a session once. OpenCode sends no event for a session that it goes on with. */
  const begin = (session, source) => {
    if (!texts.has(session)) {
      texts.set(session, { start: send("start", session, { source }), prompt: Promise.resolve("") })
    }
    return texts.get(session)
  }
  const used = (session, call, tool, args, fields) =>
    later("tool", top(session), { call, tool, input: shown(args), ...fields })

  return {
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      switch (event.type) {
        case "session.created": {
          const { id, parentID } = properties.info ?? {}
          if (parentID) parents.set(id, parentID)
          else if (id) begin(id, "startup")
          break
        }
        case "session.idle": {
          const session = properties.sessionID
          if (session && !parents.has(session)) later("stop", session, { answer: answers.get(session) })
          break
        }
        case "session.deleted": {
          const id = properties.info?.id
          if (texts.delete(id)) later("end", id)
          answers.delete(id)
          parents.delete(id)
          break
        }
        case "message.updated": {
          const { id, role } = properties.info ?? {}
          if (role !== "assistant" || !id) break
          if (ofAgent.size >= MAX_MESSAGES) ofAgent.delete(ofAgent.values().next().value)
          ofAgent.add(id)
          break
        }
        case "message.part.updated": {
          // A tool that fails has no `tool.execute.after`.
          const { type, tool, callID, sessionID, state, messageID, text } = properties.part ?? {}
          if (type === "text" && ofAgent.has(messageID) && text) answers.set(sessionID, String(text).slice(0, MAX_ANSWER))
          if (type === "tool" && state?.status === "error") {
            calls.delete(callID)
            used(sessionID, callID, tool, state.input, { error: String(state.error ?? "").slice(0, MAX_OUTPUT) })
          }
          break
        }
      }
    },

    "chat.message": async ({ sessionID, messageID }, { message, parts }) => {
      if (parents.has(sessionID)) return
      const prompt = (parts ?? [])
        .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
        .map((part) => part.text)
        .join("\n")
      const text = begin(sessionID, "resume")
      await text.start
      text.prompt = send("prompt", sessionID, { prompt, call: messageID ?? message?.id })
      await text.prompt
    },

    "experimental.chat.system.transform": async ({ sessionID } = {}, { system }) => {
      const text = texts.get(sessionID)
      if (!text) return
      for (const part of [await text.start, await text.prompt]) if (part) system.push(part)
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const asked = { call: callID, tool, input: shown(args) }
      // The tool does not wait for the answer.
      const said = ACTING.includes(tool) ? send("before-tool", top(sessionID), asked) : ""
      calls.set(callID, { args, said })
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      const call = calls.get(callID)
      calls.delete(callID)
      const { output, metadata } = result
      const exit = metadata?.exit
      const failed = typeof exit === "number" && exit !== 0
      const said = await call?.said
      used(sessionID, callID, tool, args ?? call?.args, {
        result: failed ? { exit, output: String(output ?? "").slice(-MAX_OUTPUT) } : {},
      })
      if (said) result.output = `${output ?? ""}\n\n${said}`
    },

    "experimental.session.compacting": async ({ sessionID }, { context }) => {
      await Promise.all(running)
      const text = await send("compact", sessionID)
      if (text) context.push(text)
    },

    dispose: async () => {
      await Promise.all(running)
      await Promise.all([...texts.keys()].map((session) => send("end", session)))
      texts.clear()
    },
  }
}
