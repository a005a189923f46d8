import { createHash } from "node:crypto"
import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { jsonIn } from "../../base/json.ts"
import type { Validators } from "../../base/web.ts"
import type { Copy } from "../lists/stock.ts"

/**
 * The last good copy of a source, as a text file: a line of JSON about it, then one entry a line in the source's order,
 * with a tab and the day behind it where it came in after the first copy.
 */
const Head = Type.Object({
  format: Type.Literal(1),
  url: Type.String(),
  etag: Type.Union([Type.String(), Type.Null()]),
  last_modified: Type.Union([Type.String(), Type.Null()]),
  /** The day on which the entries last changed. */
  date: Type.String(),
  misshapen: Type.Integer(),
  ends_cleanly: Type.Boolean(),
  /** SHA-256 of this line without it, and of the lines below. */
  sha256: Type.String(),
})

type Head = Static<typeof Head>

/** A copy and where it is from. */
export type HeldCopy = {
  readonly copy: Copy
  readonly url: string
  /** What the server wants to be asked with, so that it can say that nothing changed. */
  readonly validators: Validators
  /** The text ended in a line end: one that then does not was cut off. */
  readonly endsCleanly: boolean
}

/** The text of the file of a copy. */
export function copyText({ copy, url, validators, endsCleanly }: HeldCopy): string {
  const { entries, misshapen, date, since } = copy
  const lines = entries.map(entry => (since.has(entry) ? `${entry}\t${since.get(entry)}` : entry)).join("\n")
  const head: Omit<Head, "sha256"> = {
    format: 1,
    url,
    etag: validators.etag,
    last_modified: validators.lastModified,
    date,
    misshapen,
    ends_cleanly: endsCleanly,
  }
  return `${JSON.stringify({ ...head, sha256: sha256Of(head, lines) })}\n${lines}`
}

/** Reads the text of such a file; null: it is none, or not as it was written. */
export function readCopy(text: string): HeldCopy | null {
  const end = text.indexOf("\n")
  const head = end < 0 ? null : jsonIn(text.slice(0, end))
  const lines = text.slice(end + 1)
  if (!Value.Check(Head, head)) return null
  const { sha256, ...rest } = head
  if (sha256 !== sha256Of(rest, lines)) return null
  const entries: string[] = []
  const since = new Map<string, string>()
  for (const line of lines === "" ? [] : lines.split("\n")) {
    const [entry = "", day] = line.split("\t", 2)
    entries.push(entry)
    if (day !== undefined) since.set(entry, day)
  }
  return {
    copy: { entries, misshapen: head.misshapen, date: head.date, since },
    url: head.url,
    validators: { etag: head.etag, lastModified: head.last_modified },
    endsCleanly: head.ends_cleanly,
  }
}

const sha256Of = (head: Omit<Head, "sha256">, lines: string): string =>
  createHash("sha256")
    .update(`${JSON.stringify(head)}\n${lines}`)
    .digest("hex")
