import type { Entries } from "./entries.ts"
import { readJson } from "./read-json.ts"
import { readLines } from "./read-lines.ts"

const EXPORTED_JSON = /^\s*module\.exports\s*=\s*([[{][\s\S]*[\]}])\s*;?\s*$/
const WORD_LINE = /^\s+'((?:[^'\\]|\\.)*)',?$/

/** Reads a script that is `module.exports = ` and a JSON value, as JSON; `path` as in read-json.ts. */
export function readScriptJson(text: string, path: string): Entries {
  const json = EXPORTED_JSON.exec(text)?.[1]
  return json === undefined ? refused("no `module.exports = ` with a JSON value") : readJson(json, path)
}

/** Reads the lines of the text that a script holds as `var {variable} = "…"`, a string literal that is JSON too. */
export function readScriptText(text: string, variable: string): Entries {
  const opening = `var ${variable} = "`
  const starts = text.indexOf(opening) + opening.length - 1
  if (starts < opening.length - 1) return refused(`no variable ${variable} with a string`)
  const ends = text.indexOf("\n", starts)
  const literal = text.slice(starts, ends < 0 ? text.length : ends).replace(/;\s*$/, "")
  try {
    const held: unknown = JSON.parse(literal)
    return typeof held === "string" ? readLines(held) : refused(`${variable} is no string`)
  } catch (notJson) {
    return refused(`the string of ${variable}: ${String(notJson)}`)
  }
}

/** Reads the words of a script's arrays that stand one a line in single quotes; the same word may stand in several. */
export function readScriptWords(text: string): Entries {
  const entries = text.split("\n").flatMap(line => WORD_LINE.exec(line)?.[1] ?? [])
  return entries.length === 0
    ? refused("no line is a word in single quotes")
    : { kind: "entries", entries, misshapen: 0 }
}

const refused = (says: string): Entries => ({ kind: "refused", says })
