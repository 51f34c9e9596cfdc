// Runs the program saddlebag: without a shell, with a time limit, and with bounded output.

import { spawn } from "node:child_process"

/** Most bytes of an answer. The program's own pages are smaller. */
const MAX_ANSWER = 256 * 1024
/** Most bytes of an error that are shown. */
const MAX_ERROR = 2_000
/** Version of the format of `saddlebag hook`, which docs/hooks.md describes. */
const FORMAT = 1

/** Settings of the plugin, with their defaults. */
export function settings(config = {}) {
  return {
    program: config.program || process.env.SADDLEBAG_PROGRAM || "saddlebag",
    root: config.root,
    project: config.project,
    agent: config.agent,
    recall: config.recall !== false,
    record: config.record !== false,
    timeoutMs: config.timeoutMs ?? 6_000,
  }
}

/**
 * Runs the program with `input` on its standard input. Resolves to its standard output. Rejects if it cannot be run,
 * takes too long or writes too much; an exit code is not an error, because the answer says what failed.
 */
export function run({ program, timeoutMs }, words, input) {
  return new Promise((resolve, reject) => {
    const parts = []
    let size = 0
    let error = ""
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true, shell: false })
    const stop = (reason) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      reject(new Error(reason))
    }
    const timer = setTimeout(() => stop(`${program} did not answer within ${timeoutMs} ms`), timeoutMs)
    child.on("error", (failure) => {
      clearTimeout(timer)
      reject(new Error(`${program} cannot be run: ${failure.message}`))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, output: Buffer.concat(parts).toString("utf8"), error })
    })
    child.stdout.on("data", (part) => {
      size += part.length
      if (size > MAX_ANSWER) stop(`the answer of ${program} has more than ${MAX_ANSWER} bytes`)
      else parts.push(part)
    })
    child.stderr.setEncoding("utf8").on("data", (part) => {
      if (error.length < MAX_ERROR) error = (error + part).slice(0, MAX_ERROR)
    })
    // The program may end before it has read everything.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

/** Options of the program for a folder. */
function options({ root, project, agent }, folder) {
  const words = []
  if (root) words.push("--root", root)
  if (project || folder) words.push("--project", project || folder)
  if (agent) words.push("--agent", agent)
  return words
}

/** Runs a tool of the memory. Resolves to the text for the model, and true if the tool failed. */
export async function call(settings, folder, tool, args) {
  const words = [...options(settings, folder), "--json", "tools", tool, "-"]
  const { output, error } = await run(settings, words, JSON.stringify(args))
  let answer
  try {
    answer = JSON.parse(output)
  } catch {
    throw new Error(error.trim() || `${settings.program} gave no answer`)
  }
  return { text: String(answer.text ?? ""), isError: Boolean(answer.is_error), structured: answer.structured ?? null }
}

/** Reports an event of a session. Resolves to the text for the model, which is empty if there is nothing to say. */
export async function hook(settings, folder, event, fields) {
  const payload = { saddlebag_hook: FORMAT, client: "openclaw", event, project: settings.project || folder, ...fields }
  const { output } = await run(settings, [...options(settings, folder), "hook", event], JSON.stringify(payload))
  if (!output.trim()) return ""
  const answer = JSON.parse(output)
  return typeof answer.text === "string" ? answer.text : ""
}
