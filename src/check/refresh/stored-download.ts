import { createHash } from "node:crypto"
import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { CacheValidators } from "../../base/fetch.ts"
import { parseJson } from "../../base/text.ts"
import type { DownloadedSource } from "../lists/sources/source-bundle.ts"
import { type LeftOutNames, NONE_LEFT_OUT } from "./source-validation.ts"

/**
 * The last valid download of a source is a text file: one line of JSON about it, then one entry per line in the order of
 * the source. An entry that was added after the first download is followed by a tab and the day on which it was added.
 */
const FileHead = Type.Object({
  /** Format 1 has no `left_out`. */
  format: Type.Union([Type.Literal(1), Type.Literal(2)]),
  url: Type.String(),
  etag: Type.Union([Type.String(), Type.Null()]),
  last_modified: Type.Union([Type.String(), Type.Null()]),
  /** The day on which the entries last changed. */
  date: Type.String(),
  misshapen: Type.Integer(),
  ends_cleanly: Type.Boolean(),
  /** The names that no such list may hold, which are not among the entries. */
  left_out: Type.Optional(Type.Object({ count: Type.Integer({ minimum: 0 }), names: Type.Array(Type.String()) })),
  /** SHA-256 of this line without this member, and of the lines below. */
  sha256: Type.String(),
})

type FileHead = Static<typeof FileHead>

/** The last valid download of a source, and where it is from. */
export type StoredDownload = {
  readonly source: DownloadedSource
  readonly url: string
  /** The validators for the next conditional request. */
  readonly validators: CacheValidators
  /** Whether the text ended with a line feed. If it did, a later text without one was truncated. */
  readonly endsWithNewline: boolean
  /** The names that were left out of its entries. */
  readonly leftOut: LeftOutNames
}

/** The text of the file of a download. */
export function formatDownload({ source, url, validators, endsWithNewline, leftOut }: StoredDownload): string {
  const { entries, malformedCount, date, addedOn } = source
  const lines = entries.map(entry => (addedOn.has(entry) ? `${entry}\t${addedOn.get(entry)}` : entry)).join("\n")
  const head: Omit<FileHead, "sha256"> = {
    format: 2,
    url,
    etag: validators.etag,
    last_modified: validators.lastModified,
    date,
    misshapen: malformedCount,
    ends_cleanly: endsWithNewline,
    left_out: { count: leftOut.count, names: [...leftOut.names] },
  }
  return `${JSON.stringify({ ...head, sha256: fileSha256(head, lines) })}\n${lines}`
}

/** Parses the text of such a file; null: it is not one, or it was changed since it was written. */
export function parseDownload(text: string): StoredDownload | null {
  const end = text.indexOf("\n")
  const head = end < 0 ? null : parseJson(text.slice(0, end))
  const lines = text.slice(end + 1)
  if (!Value.Check(FileHead, head)) return null
  const { sha256, ...rest } = head
  if (sha256 !== fileSha256(rest, lines)) return null
  const entries: string[] = []
  const addedOn = new Map<string, string>()
  for (const line of lines === "" ? [] : lines.split("\n")) {
    const [entry = "", day] = line.split("\t", 2)
    entries.push(entry)
    if (day !== undefined) addedOn.set(entry, day)
  }
  return {
    source: { entries, malformedCount: head.misshapen, date: head.date, addedOn },
    url: head.url,
    validators: { etag: head.etag, lastModified: head.last_modified },
    endsWithNewline: head.ends_cleanly,
    leftOut: head.left_out ?? NONE_LEFT_OUT,
  }
}

const fileSha256 = (head: Omit<FileHead, "sha256">, lines: string): string =>
  createHash("sha256")
    .update(`${JSON.stringify(head)}\n${lines}`)
    .digest("hex")
