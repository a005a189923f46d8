import { createHash } from "node:crypto"
import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { CacheValidators } from "../../base/fetch.ts"
import { parseJson } from "../../base/text.ts"
import type { DownloadedSource } from "../lists/sources/source-bundle.ts"
import type { WindowHistory } from "./new-entries.ts"
import { type LeftOutNames, NONE_LEFT_OUT, type UnreadableLines } from "./source-validation.ts"

/**
 * The last valid download of a source is a text file: one line of JSON about it, then one entry per line in the order of
 * the source. An entry that was added after the first download is followed by a tab and the day on which it was added. An entry
 * of a window source is followed by the days on which it was first and last seen.
 */
const FileHead = Type.Object({
  /** Format 1 has neither `left_out` nor last days. */
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
  /** The lines that cannot be read; absent: there are none, or the format does not tell their lines. */
  unreadable: Type.Optional(
    Type.Object({ count: Type.Integer({ minimum: 1 }), first_line: Type.Integer({ minimum: 1 }) }),
  ),
  /** The names that were taken out, with the day; absent: the source does not track removals. */
  removed: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** The windows that were taken; absent: the source is no window source. */
  window: Type.Optional(
    Type.Object({
      sha256: Type.String(),
      taken: Type.Array(
        Type.Object({
          day: Type.String(),
          names: Type.Integer({ minimum: 0 }),
          added: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
          days: Type.Integer({ minimum: 1 }),
        }),
      ),
      /** The day down to which windows of the past were filled in; absent: none were. */
      filledTo: Type.Optional(Type.String()),
    }),
  ),
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
  /** Its lines that cannot be read; null: there are none, or their lines are not known. */
  readonly unreadable: UnreadableLines | null
  /** What is known of the windows of a window source; null: it is a list. */
  readonly window: WindowHistory | null
}

/** The text of the file of a download. */
export function formatDownload({
  source,
  url,
  validators,
  endsWithNewline,
  leftOut,
  unreadable,
  window,
}: StoredDownload): string {
  const { entries, malformedCount, date, addedOn, lastSeenOn, removedOn } = source
  const lineOf = (entry: string): string => {
    const [firstDay, lastDay] = [addedOn.get(entry), lastSeenOn?.get(entry)]
    if (firstDay === undefined) return entry
    return lastDay === undefined ? `${entry}\t${firstDay}` : `${entry}\t${firstDay}\t${lastDay}`
  }
  const lines = (addedOn.size === 0 ? entries : entries.map(lineOf)).join("\n")
  const head: Omit<FileHead, "sha256"> = {
    format: 2,
    url,
    etag: validators.etag,
    last_modified: validators.lastModified,
    date,
    misshapen: malformedCount,
    ends_cleanly: endsWithNewline,
    left_out: { count: leftOut.count, names: [...leftOut.names] },
    ...(unreadable === null ? {} : { unreadable }),
    ...(removedOn === undefined ? {} : { removed: Object.fromEntries(removedOn) }),
    ...(window === null ? {} : { window: { ...window, taken: [...window.taken] } }),
  }
  return `${JSON.stringify({ ...head, sha256: fileSha256(head, lines) })}\n${lines}`
}

/**
 * Parses the text of such a file. Its entries are cut out of the text each time that they are read, since a refresh has many files
 * and reads few of them at once. Null: it is not one, or it was changed since it was written.
 */
export function parseDownload(text: string): StoredDownload | null {
  const end = text.indexOf("\n")
  const head = end < 0 ? null : parseJson(text.slice(0, end))
  const lines = text.slice(end + 1)
  if (!Value.Check(FileHead, head)) return null
  const { sha256, ...rest } = head
  if (sha256 !== fileSha256(rest, lines)) return null
  const { addedOn, lastSeenOn } = daysOfLines(lines)
  return {
    source: {
      ...{ malformedCount: head.misshapen, date: head.date, addedOn },
      get entries() {
        return lines === "" ? [] : lines.split("\n").map(entryOfLine)
      },
      ...(head.window === undefined ? {} : { lastSeenOn }),
      ...(head.removed === undefined ? {} : { removedOn: new Map(Object.entries(head.removed)) }),
    },
    url: head.url,
    validators: { etag: head.etag, lastModified: head.last_modified },
    endsWithNewline: head.ends_cleanly,
    leftOut: head.left_out ?? NONE_LEFT_OUT,
    unreadable: head.unreadable ?? null,
    window: head.window ?? null,
  }
}

/** The days in lines. Only lines with a tab are cut out of the text. */
function daysOfLines(lines: string) {
  const addedOn = new Map<string, string>()
  const lastSeenOn = new Map<string, string>()
  for (let tab = lines.indexOf("\t"); tab >= 0; ) {
    const end = lines.indexOf("\n", tab)
    const line = lines.slice(lines.lastIndexOf("\n", tab) + 1, end < 0 ? lines.length : end)
    const [entry = "", firstDay, lastDay] = line.split("\t", 3)
    if (firstDay !== undefined) addedOn.set(entry, firstDay)
    if (lastDay !== undefined) lastSeenOn.set(entry, lastDay)
    tab = end < 0 ? -1 : lines.indexOf("\t", end)
  }
  return { addedOn, lastSeenOn }
}

function entryOfLine(line: string): string {
  const tab = line.indexOf("\t")
  return tab < 0 ? line : line.slice(0, tab)
}

const fileSha256 = (head: Omit<FileHead, "sha256">, lines: string): string =>
  createHash("sha256")
    .update(`${JSON.stringify(head)}\n`)
    .update(lines)
    .digest("hex")
