import { createHash } from "node:crypto"
import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { CacheValidators } from "../../base/fetch.ts"
import { parseJson } from "../../base/text.ts"
import type { DownloadedSource } from "../lists/sources/source-bundle.ts"

/**
 * The last good copy of a source, as a text file: a line of JSON about it, then one entry a line in the source's order,
 * with a tab and the day behind it where it came in after the first copy.
 */
const FileHead = Type.Object({
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

type FileHead = Static<typeof FileHead>

/** A copy and where it is from. */
export type StoredDownload = {
  readonly copy: DownloadedSource
  readonly url: string
  /** What the server wants to be asked with, so that it can say that nothing changed. */
  readonly validators: CacheValidators
  /** The text ended in a line end: one that then does not was cut off. */
  readonly endsCleanly: boolean
}

/** The text of the file of a copy. */
export function formatDownload({ copy, url, validators, endsCleanly }: StoredDownload): string {
  const { entries, misshapen, date, since } = copy
  const lines = entries.map(entry => (since.has(entry) ? `${entry}\t${since.get(entry)}` : entry)).join("\n")
  const head: Omit<FileHead, "sha256"> = {
    format: 1,
    url,
    etag: validators.etag,
    last_modified: validators.lastModified,
    date,
    misshapen,
    ends_cleanly: endsCleanly,
  }
  return `${JSON.stringify({ ...head, sha256: fileSha256(head, lines) })}\n${lines}`
}

/** Reads the text of such a file; null: it is none, or not as it was written. */
export function parseDownload(text: string): StoredDownload | null {
  const end = text.indexOf("\n")
  const head = end < 0 ? null : parseJson(text.slice(0, end))
  const lines = text.slice(end + 1)
  if (!Value.Check(FileHead, head)) return null
  const { sha256, ...rest } = head
  if (sha256 !== fileSha256(rest, lines)) return null
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

const fileSha256 = (head: Omit<FileHead, "sha256">, lines: string): string =>
  createHash("sha256")
    .update(`${JSON.stringify(head)}\n${lines}`)
    .digest("hex")
