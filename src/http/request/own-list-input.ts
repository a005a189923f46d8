import { isJsonObject, ownMember } from "../../base/untrusted-text.ts"
import { parseAddressOrDomain } from "../../check/address/parse-subject.ts"
import { LIMITS } from "../../contract/limits.ts"
import { OWN_LIST_PAGE_ENTRIES } from "../../contract/own-lists-schema.ts"
import { parseEntry } from "../../customers/own-lists/entries.ts"
import { INPUT_FAULTS_MAX, type InputFault, invalidInput, NOT_AN_OBJECT, Problem } from "../response/problem.ts"
import { parseJsonBody } from "./body.ts"
import { parameterCountFault, uriParameters } from "./request-url.ts"

/** An entry as it was sent, with its note; empty: none. */
export type SentEntry = { readonly entry: string; readonly note: string }

/**
 * Reads the entries of a body. Throws `batch_too_large` for too many, whatever else is wrong, else `invalid_input` with the places of all
 * that are no text. What an entry says is not validated here: an invalid one is told as that.
 */
export function parseSentEntries(body: unknown): readonly SentEntry[] {
  if (!isJsonObject(body)) throw invalidInput([NOT_AN_OBJECT])
  const entries = ownMember(body, "entries")
  if (!Array.isArray(entries) || entries.length === 0) throw invalidInput([NO_ENTRIES])
  if (entries.length > LIMITS.ownListRequestEntriesMax) throw tooManyEntries()
  const read = entries.map(readEntry)
  const faults = read.flatMap((entry, index) =>
    entry === null ? [{ pointer: `/entries/${index}`, detail: NO_TEXT }] : [],
  )
  const [first, ...others] = faults
  if (first !== undefined) throw invalidInput([first, ...others.slice(0, INPUT_FAULTS_MAX - 1)])
  return read.flatMap(entry => entry ?? [])
}

/** The entries that the query of a DELETE names, for clients that send no body with it; null: it names none. */
export function parseQueryEntries(url: string): readonly SentEntry[] | null {
  const named = uriParameters(url).filter(({ name }) => name === "entry")
  assertReadable(url)
  return named.length === 0 ? null : named.map(({ value }) => ({ entry: value ?? "", note: "" }))
}

/** Throws `invalid_input` when the body of a DELETE names entries too, beside those of the query: one of the two would count for nothing. */
export function assertNamesNoEntries(request: Request, body: Uint8Array): void {
  if (body.length === 0 || ownMember(parseJsonBody(request, body), "entries") === undefined) return
  const detail = "Entries are named by `entry` in the query and by `entries` in the body. Send one of them."
  throw invalidInput([
    { parameter: "entry", detail },
    { pointer: "/entries", detail },
  ])
}

/** Which entries of a list are asked for. */
export type OwnListInput = {
  /** The stored form of the only one; null: all. */
  readonly entry: string | null
  readonly after: string
  readonly limit: number
}

/** Reads the query of a list. Throws `invalid_input`. */
export function parseOwnListQuery(url: string): OwnListInput {
  const sent = uriParameters(url)
  assertReadable(url)
  const textOf = (parameter: string): string | null => {
    const [first, another] = sent.filter(({ name }) => name === parameter)
    if (another === undefined) return first?.value ?? null
    throw invalidInput([{ parameter, detail: `\`${parameter}\` is given more than once.` }])
  }
  return ownListInput({ entry: textOf("entry"), after: textOf("after"), limit: textOf("limit") })
}

type SentInput = { readonly [N in "entry" | "after" | "limit"]: string | null }

/** Reads the parameters of a list; null: one is absent. Throws `invalid_input`. */
export const ownListInput = ({ entry, after, limit }: SentInput): OwnListInput => ({
  ...{ entry: readWanted(entry), after: readPlace(after), limit: readLimit(limit) },
})

function readEntry(sent: unknown): SentEntry | null {
  if (typeof sent === "string") return { entry: sent, note: "" }
  const entry = ownMember(sent, "entry")
  const note = ownMember(sent, "note") ?? ""
  return typeof entry === "string" && typeof note === "string" ? { entry, note } : null
}

function readWanted(text: string | null): string | null {
  if (text === null) return null
  const entry = parseEntry(text, parseAddressOrDomain)
  if (entry !== null) return entry.storedText
  throw invalidInput([{ parameter: "entry", detail: "`entry` is not an address, a domain or `*.` with a domain." }])
}

function readPlace(text: string | null): string {
  if (text === null || text === "") return ""
  if (parseEntry(text, parseAddressOrDomain)?.storedText === text) return text
  throw invalidInput([{ parameter: "after", detail: "`after` is not the `next` of a page." }])
}

function readLimit(text: string | null): number {
  if (text === null) return OWN_LIST_PAGE_ENTRIES
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= LIMITS.ownListPageEntriesMax) return limit
  const detail = `\`limit\` must be a whole number from 1 to ${LIMITS.ownListPageEntriesMax}.`
  throw invalidInput([{ parameter: "limit", detail }])
}

function assertReadable(url: string): void {
  const sent = uriParameters(url)
  const tooMany = parameterCountFault(sent)
  if (tooMany !== null) throw invalidInput([tooMany])
  if (sent.some(({ name, value }) => name === null || value === null))
    throw invalidInput([{ detail: "The query is not UTF-8." }])
}

const NO_ENTRIES: InputFault = {
  pointer: "/entries",
  detail: `\`entries\` must be an array of 1 to ${LIMITS.ownListRequestEntriesMax} entries.`,
}

const NO_TEXT = "An entry must be a string, or an object with the string `entry` and maybe the string `note`."

/** The problem 413 `batch_too_large` of a change of a list. */
const tooManyEntries = (): Problem =>
  new Problem("batch_too_large", `A request changes at most ${LIMITS.ownListRequestEntriesMax} entries.`, {
    limit: LIMITS.ownListRequestEntriesMax,
  })
