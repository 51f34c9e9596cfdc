// Loads the plugin for OpenClaw into a stub of its host, with the real program: openclaw.mjs PROGRAM PLUGIN
//
// The stub has the functions of the host that the plugin uses, in our own words, and refuses everything else.

import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const [program, plugin] = process.argv.slice(2).map((path) => resolve(path))
const folder = mkdtempSync(join(tmpdir(), "saddlebag-openclaw-"))
const root = join(folder, "store")
const workspace = join(folder, "work")
const installed = join(folder, "plugin")

/** Puts the plugin where the host would install it, with the host's package beside it. */
function install() {
  for (const path of [root, join(workspace, ".git")]) mkdirSync(path, { recursive: true })
  cpSync(plugin, installed, { recursive: true })
  const host = join(installed, "node_modules", "openclaw")
  mkdirSync(host, { recursive: true })
  const exports = { "./plugin-sdk/plugin-entry": "./entry.js" }
  writeFileSync(join(host, "package.json"), JSON.stringify({ name: "openclaw", type: "module", exports }))
  writeFileSync(join(host, "entry.js"), "export const definePluginEntry = (entry) => entry\n")
}

/** Returns a host that has the functions of a release. */
function host(config, { hasCapability = true } = {}) {
  const found = { hooks: new Map(), tools: new Map(), options: new Map(), warnings: [] }
  const api = {
    pluginConfig: config,
    logger: { warn: (text) => found.warnings.push(text) },
    registerTool: (factory, { names }) => names.forEach((name) => found.tools.set(name, factory)),
    on: (name, handler, options) => {
      assert.ok(!found.hooks.has(name), `${name} is registered twice`)
      found.hooks.set(name, handler)
      found.options.set(name, options)
    },
  }
  if (hasCapability) api.registerMemoryCapability = (capability) => (found.capability = capability)
  else {
    api.registerMemoryPromptSection = (promptBuilder) => (found.capability = { ...found.capability, promptBuilder })
    api.registerMemoryFlushPlan = (resolver) => (found.capability = { ...found.capability, flushPlanResolver: resolver })
  }
  return { api, found }
}

const context = { sessionId: "s-1", sessionKey: "agent:main", agentId: "main", workspaceDir: workspace }
const settings = { program, root, timeoutMs: 15_000 }

async function use(found, name, args) {
  const answer = await found.tools.get(name)(context).execute("call-1", args)
  assert.equal(answer.content.length, 1)
  assert.equal(answer.content[0].type, "text")
  return { text: answer.content[0].text, isError: answer.isError === true }
}

function agreesWithItsManifest(entry, found) {
  const manifest = JSON.parse(readFileSync(join(plugin, "openclaw.plugin.json"), "utf8"))
  const { name, version, type, openclaw, files } = JSON.parse(readFileSync(join(plugin, "package.json"), "utf8"))
  assert.equal(manifest.id, entry.id)
  assert.deepEqual([manifest.kind, entry.kind], ["memory", "memory"])
  assert.deepEqual([...found.tools.keys()].sort(), [...manifest.contracts.tools].sort())
  assert.deepEqual([version, type, openclaw.extensions], [manifest.version, "module", ["./index.js"]])
  assert.ok(name && files.includes("openclaw.plugin.json"))
  const shipped = readdirSync(plugin).filter((file) => file !== "package.json")
  assert.deepEqual([...files].sort(), shipped.sort())
  assert.deepEqual(Object.keys(manifest.uiHints).sort(), Object.keys(manifest.configSchema.properties).sort())
}

async function toolsCallTheProgram(found) {
  const stored = await use(found, "memory_store", { title: "Staging port", content: "It is 8443.", tags: ["ops"] })
  assert.match(stored.text, /^Remembered in .*facts\/staging-port\.md$/)
  assert.deepEqual(stored, { text: stored.text, isError: false })
  const hits = await use(found, "memory_search", { query: "which port has staging?", limit: 999 })
  assert.match(hits.text, /facts\/staging-port\.md[^]*8443/)
  const note = await use(found, "memory_get", { name: "facts/staging-port.md" })
  assert.match(note.text, /It is 8443\./)
  assert.match(readFileSync(join(root, "projects", readdirSync(join(root, "projects"))[0], "facts/staging-port.md"), "utf8"), /provenance: agent/)
  assert.equal((await use(found, "memory_get", { name: "missing" })).isError, true)
  assert.equal((await use(found, "memory_search", {})).isError, true)
  const odd = await use(found, "memory_store", { title: "; touch x && $(touch y)", content: "`quoted` \"text\"\n--root /" })
  assert.equal(odd.isError, false)
}

async function theCapabilityIsTaken(found) {
  const { promptBuilder, flushPlanResolver } = found.capability
  const lines = promptBuilder({ availableTools: new Set(["memory_search"]) })
  assert.ok(lines.every((line) => typeof line === "string") && lines.join("\n").includes("memory_search"))
  assert.deepEqual(promptBuilder({ availableTools: new Set(["exec"]) }), [])
  assert.equal(flushPlanResolver({}), null)
}

/** A host runs these while a session lives. */
async function aSessionIsRecorded(found) {
  const on = (name, event, ctx = context) => found.hooks.get(name)(event, ctx)
  await on("session_start", { sessionId: "s-1" })
  await on("before_prompt_build", { prompt: "why is the port 8443?", messages: [] })
  on("after_tool_call", { toolName: "exec", toolCallId: "c1", params: { command: "make test" }, error: "exit code 2" })
  // Only a file that exists is named in the note.
  writeFileSync(join(workspace, "tax.py"), "rate = 19\n")
  on("after_tool_call", { toolName: "write", toolCallId: "c2", params: { path: join(workspace, "tax.py"), content: "PRIVATE CONTENT" } })
  on("after_tool_call", { toolName: "exec", toolCallId: "c3", params: { command: "make test" } })
  await on("before_compaction", { messageCount: 3 })
  await on("session_end", { sessionId: "s-1", reason: "reset" })
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const texts = files.map((file) => readFileSync(join(file.parentPath ?? file.path, file.name), "utf8"))
  assert.ok(texts.some((text) => text.includes("why is the port 8443?") && text.includes("tax.py") && text.includes("make test")), "a note of the session")
  assert.ok(texts.some((text) => text.includes("origin-client: openclaw")), "the note names another client")
  assert.ok(!texts.some((text) => text.includes("PRIVATE CONTENT")), "the content of a file is stored")
  const next = { ...context, sessionId: "s-2" }
  await on("session_start", { sessionId: "s-2" }, next)
  const answer = await on("before_prompt_build", { prompt: "which port has staging?", currentUserMessage: "which port has staging?" }, next)
  assert.match(answer.appendSystemContext, /why is the port 8443\?/)
  assert.match(answer.prependContext, /8443/)
  const again = await on("before_prompt_build", { prompt: "and again: which port has staging?" }, next)
  assert.equal(again.appendSystemContext, answer.appendSystemContext)
  assert.ok(!again.prependContext?.includes("It is 8443."), "a note twice in a session")
}

async function aProgramThatFailsStopsNothing(entry) {
  const slow = join(folder, "slow.sh")
  writeFileSync(slow, "#!/bin/sh\nexec sleep 60\n")
  chmodSync(slow, 0o755)
  const loud = join(folder, "loud.sh")
  writeFileSync(loud, "#!/bin/sh\nexec yes\n")
  chmodSync(loud, 0o755)
  const cases = [[join(folder, "missing"), /cannot be run/]]
  if (process.platform !== "win32") cases.push([slow, /did not answer within 500 ms/], [loud, /more than 262144 bytes/])
  else console.error("left out: programs that are slow or write too much, which are shell scripts here")
  for (const [program, reason] of cases) {
    const { api, found } = host({ program, root, timeoutMs: 500 })
    entry.register(api)
    const started = Date.now()
    const answer = await use(found, "memory_search", { query: "x" })
    assert.equal(answer.isError, true)
    assert.match(answer.text, reason)
    assert.equal(await found.hooks.get("before_prompt_build")({ prompt: "hello there" }, context), undefined)
    await found.hooks.get("session_end")({}, context)
    assert.ok(Date.now() - started < 8_000, `${program} held the host up`)
    assert.ok(found.warnings.length >= 1 && found.warnings.length <= 2, found.warnings)
  }
}

try {
  install()
  const { default: entry } = await import(pathToFileURL(join(installed, "index.js")).href)
  const { api, found } = host(settings)
  assert.equal(entry.register(api), undefined, "register must not be asynchronous")
  agreesWithItsManifest(entry, found)
  await theCapabilityIsTaken(found)
  assert.deepEqual(found.capability.providerFlushPlanResolver({}).persistenceToolNames, ["memory_store"])
  const old = host(settings, { hasCapability: false })
  entry.register(old.api)
  await theCapabilityIsTaken(old.found)
  const quiet = host({ ...settings, recall: false, record: false })
  entry.register(quiet.api)
  assert.deepEqual([...quiet.found.hooks.keys()], [])
  await toolsCallTheProgram(found)
  if (spawnSync(program, ["help", "hook"]).status === 0) await aSessionIsRecorded(found)
  else console.error("left out: the session of the plugin for OpenClaw, because this program has no `hook`")
  await aProgramThatFailsStopsNothing(entry)
  assert.deepEqual(found.warnings, [])
  console.log(`OpenClaw plugin: ${found.tools.size} tools, ${found.hooks.size} hooks`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
