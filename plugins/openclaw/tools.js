// The tools of the model. Each is a tool of the program; the program checks the arguments and escapes the answer.

import { call } from "./program.js"

const text = (description, extra = {}) => ({ type: "string", description, ...extra })
const object = (required, properties) => ({ type: "object", additionalProperties: false, required, properties })

/** Most hits of a search. */
const MAX_HITS = 20

/** Searches notes, logs and entries. */
async function search(settings, folder, { query, limit }) {
  const bounded = Math.min(Math.max(Math.trunc(limit ?? 5), 1), MAX_HITS)
  return call(settings, folder, "mem_recall", { query: String(query ?? ""), limit: bounded })
}

/** Reads a part of a note, an entry or another file by its path, title or key. */
async function get(settings, folder, { name, cursor }) {
  return call(settings, folder, "mem_show", { name: String(name ?? ""), ...(cursor ? { cursor } : {}) })
}

async function store(settings, folder, { title, content, kind, tags, provenance }) {
  const args = { title: String(title ?? ""), content: String(content ?? "") }
  if (kind) args.kind = kind
  if (tags) args.tags = tags
  if (provenance) args.provenance = provenance
  return call(settings, folder, "mem_remember", args)
}

/** Tools of the model. `runs` is the tool of the program, as its hook knows it. */
export const TOOLS = [
  {
    name: "memory_search",
    label: "Memory Search",
    description: "Search long-term memory: notes, logs and facts. Returns passages with their paths and keys.",
    parameters: object(["query"], {
      query: text("A question, or words"),
      limit: { type: "integer", minimum: 1, maximum: MAX_HITS, description: "Maximum number of hits; 5 without it" },
    }),
    runs: "mem_recall",
    run: search,
  },
  {
    name: "memory_get",
    label: "Memory Get",
    description: "Read a note or a fact of memory.",
    parameters: object(["name"], {
      name: text("Path, title or key"),
      cursor: text("Cursor that the page before ended with"),
    }),
    runs: "mem_show",
    run: get,
  },
  {
    name: "memory_store",
    label: "Memory Store",
    description: "Keep a fact or a decision in long-term memory as a note.",
    parameters: object(["title", "content"], {
      title: text("One line that says what the note is about"),
      content: text("The note, in Markdown"),
      kind: text("fact without it", { enum: ["fact", "decision"] }),
      tags: { type: "array", items: { type: "string" }, maxItems: 32 },
      provenance: text("tool: a tool wrote the content, not you; it then waits for a person", { enum: ["agent", "tool"] }),
    }),
    runs: "mem_remember",
    run: store,
  },
]

/** Returns a tool as the host wants it, for the folder of an agent. */
export function forHost(tool, settings, folder) {
  return {
    name: tool.name,
    label: tool.label,
    description: tool.description,
    parameters: tool.parameters,
    async execute(_id, args) {
      let answer
      try {
        answer = await tool.run(settings, folder, args ?? {})
      } catch (failure) {
        answer = { text: `memory is not available: ${failure.message}`, isError: true }
      }
      return {
        content: [{ type: "text", text: answer.text }],
        details: { ok: !answer.isError },
        ...(answer.isError ? { isError: true } : {}),
      }
    },
  }
}
