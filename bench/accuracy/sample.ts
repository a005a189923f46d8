import { SUBJECT_KINDS, type SubjectKind } from "../../src/check/address/subject.ts"
import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"

/** What a file of the sample holds. */
type FileSpec = {
  readonly columns: number
  /** What is wrong with a row of so many cells; null: nothing. */
  readonly fault: (first: string, second: string, third: string) => string | null
}

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/
const LOCAL_PART = /^[a-z0-9]+(?:[._+-][a-z0-9]+)*$/

const isKind = (text: string): text is SubjectKind => SUBJECT_KINDS.some(kind => kind === text)
const isCategory = (text: string): text is Category => CATEGORY_NAMES.some(name => name === text)

const DOMAINS: FileSpec = { columns: 2, fault: domain => (DOMAIN.test(domain) ? null : "no domain in lower case") }
const LOCAL_PARTS: FileSpec = { columns: 2, fault: local => (LOCAL_PART.test(local) ? null : "no local part") }

/** The files of a part of the labelled sample. */
const SAMPLE_FILES = {
  business: DOMAINS,
  personal: DOMAINS,
  disposable: DOMAINS,
  relay: DOMAINS,
  education: DOMAINS,
  government: DOMAINS,
  unknown: DOMAINS,
  invalid: { columns: 3, fault: (_, kind) => (isKind(kind) ? null : "no kind") },
  traps: { columns: 4, fault: trapFault },
  typos: { columns: 3, fault: typoFault },
  kept: DOMAINS,
  roles: LOCAL_PARTS,
  "not-roles": LOCAL_PARTS,
  complaints: { columns: 3, fault: complaintFault },
  "open-suffix": DOMAINS,
} as const satisfies Record<string, FileSpec>
export type SampleFile = keyof typeof SAMPLE_FILES
const SAMPLE_FILE_NAMES = Object.keys(SAMPLE_FILES) as readonly SampleFile[] // the keys are those of SAMPLE_FILES

/**
 * The parts of the sample, each a folder of data/sample, with the files that it has none of. What the program misses of
 * `tuned` is looked at, and lists and rules follow from it. Nobody looks at what it misses of `sealed`.
 */
export const SAMPLE_PARTS = {
  tuned: { lacks: ["complaints", "open-suffix"] },
  sealed: { lacks: ["unknown", "invalid", "traps"] },
} as const satisfies Record<string, { readonly lacks: readonly SampleFile[] }>
export type SamplePart = keyof typeof SAMPLE_PARTS
export const SAMPLE_PART_NAMES = Object.keys(SAMPLE_PARTS) as readonly SamplePart[] // the keys are those of SAMPLE_PARTS

/** The files that a part has. */
export function sampleFilesOf(part: SamplePart): readonly SampleFile[] {
  const lacks: readonly SampleFile[] = SAMPLE_PARTS[part].lacks
  return SAMPLE_FILE_NAMES.filter(file => !lacks.includes(file))
}

/** A text that a person has put into a category from their own knowledge. */
export type Labelled = {
  /** As it stands in the sample: a domain, or for `invalid` whatever was written. */
  readonly text: string
  /** What is asked about: somebody's address at a domain, or what is invalid as it stands. */
  readonly requests: { readonly kind: SubjectKind; readonly text: string }
  readonly label: Category
}

/** A labelled name with the category that others often put it into. */
export type Trap = Labelled & { readonly mistaken: Category }

/** A mistyped domain. */
export type Typo = { readonly text: string; readonly meant: string }

/** What a complaint says that a name is, when it says no category. */
const NOT_DISPOSABLE = "not disposable"

/** A name that lists call disposable, or called so, although its owner or a curator says that it is none. */
export type Complaint = Pick<Labelled, "text" | "requests"> & {
  /** What it really is; null: only that it is not disposable is known. */
  readonly label: Category | null
}

/** A part of the labelled sample: names whose category, slip or role is known from elsewhere than the lists. */
export type Sample = {
  /** Each text once. */
  readonly labelled: readonly Labelled[]
  readonly traps: readonly Trap[]
  readonly typos: readonly Typo[]
  /** Domains that are nobody's typo. */
  readonly kept: readonly string[]
  /** Local parts of role addresses. */
  readonly roles: readonly string[]
  /** Local parts that only look like one. */
  readonly notRoles: readonly string[]
  readonly complaints: readonly Complaint[]
  /** Throw-aways under education suffixes where anyone can register, and under hosts that hand out names for free. */
  readonly openSuffix: readonly Pick<Labelled, "text" | "requests">[]
}

const HEADER = ["says", "columns", "origin", "licence", "date"]

/** Reads a part of the sample, each file's text by its name; every malformed line and every contradiction is named. It never throws by itself. */
export function readSample(
  part: SamplePart,
  textOf: (file: SampleFile) => string,
):
  | { readonly kind: "sample"; readonly sample: Sample }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const faults: string[] = []
  const rows = Object.fromEntries(sampleFilesOf(part).map(file => [file, rowsOf(file, textOf(file), faults)]))
  const rowsIn = (file: SampleFile): readonly Row[] => rows[file] ?? []
  const labelled = CATEGORY_NAMES.flatMap(label => rowsIn(label).map(row => labelledRow(row, label)))
  const traps = rowsIn("traps").map(trapRow)
  const textsIn = (file: SampleFile): readonly string[] => rowsIn(file).map(([text]) => text)
  const throwAways = [...textsIn("disposable"), ...textsIn("open-suffix")]
  faults.push(
    ...contradictions(labelled, traps),
    ...inBoth(textsIn("typos"), textsIn("kept"), "a typo and kept"),
    ...inBoth(textsIn("roles"), textsIn("not-roles"), "a role and none"),
    ...inBoth(textsIn("complaints"), throwAways, "a complaint and a throw-away"),
  )
  if (faults.length > 0) return { kind: "refused", faults }
  const typos = rowsIn("typos").map(([text, meant]) => ({ text, meant }))
  const sample = {
    labelled,
    traps,
    typos,
    kept: textsIn("kept"),
    roles: textsIn("roles"),
    notRoles: textsIn("not-roles"),
    complaints: rowsIn("complaints").map(complaintRow),
    openSuffix: textsIn("open-suffix").map(text => ({ text, requests: atDomain(text) })),
  }
  return { kind: "sample", sample }
}

/** The texts that stand in both parts: of names, mistyped names, domains that are none, and local parts. A sealed row must be new. */
export function repeatedTexts(tuned: Sample, sealed: Sample): readonly string[] {
  const held = new Set(textsOf(tuned))
  return textsOf(sealed).filter(text => held.has(text))
}

/** Every text of a part; a local part ends in `@`, so that it differs from a domain. */
function textsOf({ labelled, traps, typos, kept, roles, notRoles, complaints, openSuffix }: Sample): readonly string[] {
  const rows = [...labelled, ...traps, ...typos, ...complaints, ...openSuffix]
  return [...rows.map(({ text }) => text), ...kept, ...[...roles, ...notRoles].map(local => `${local}@`)]
}

/** A row has two to four cells; the ones after the second are empty where a file has fewer columns. */
type Row = readonly [string, string, string, string]

/** The rows of one file: under its header, sorted by their bytes, each first cell once. */
function rowsOf(file: SampleFile, text: string, faults: string[]): readonly Row[] {
  const lines = text.split("\n")
  if (lines.pop() !== "") faults.push(`${file}: the last line is cut short`)
  const header = HEADER.map((name, at) => lines[at]?.startsWith(`# ${name}: `) === true)
  if (header.includes(false)) faults.push(`${file}: the header is ${HEADER.join(", ")}`)
  const rows: Row[] = []
  let before = ""
  for (const [at, line] of lines.slice(HEADER.length).entries()) {
    const here = `${file}:${at + HEADER.length + 1}`
    const cells = line.split("\t")
    const [first = "", second = "", third = "", fourth = ""] = cells
    const fault = faultOf(file, cells) ?? (isAfter(line, before) ? null : "not sorted by bytes, or repeated")
    if (fault !== null) faults.push(`${here}: ${fault}: ${line}`)
    if (rows.at(-1)?.[0] === first) faults.push(`${here}: the name is there twice: ${first}`)
    rows.push([first, second, third, fourth])
    before = line
  }
  return rows
}

/** `LC_ALL=C sort`: by the bytes of UTF-8, which is not the order of JavaScript's strings. */
const isAfter = (line: string, before: string): boolean => Buffer.compare(Buffer.from(line), Buffer.from(before)) > 0

function faultOf(file: SampleFile, cells: readonly string[]): string | null {
  const { columns, fault } = SAMPLE_FILES[file]
  if (cells.length !== columns) return `not ${columns} columns`
  if (cells.some(cell => cell === "" || cell !== cell.trim())) return "an empty cell, or one with white space around it"
  const [first = "", second = "", third = ""] = cells
  return fault(first, second, third)
}

function trapFault(name: string, label: string, mistaken: string): string | null {
  if (!DOMAIN.test(name)) return "no domain in lower case"
  return isCategory(label) && isCategory(mistaken) && label !== mistaken ? null : "no two categories"
}

function complaintFault(name: string, label: string): string | null {
  if (!DOMAIN.test(name)) return "no domain in lower case"
  const isOther = isCategory(label) && label !== "disposable"
  return isOther || label === NOT_DISPOSABLE ? null : `neither another category nor ${NOT_DISPOSABLE}`
}

function typoFault(typed: string, meant: string): string | null {
  return DOMAIN.test(typed) && DOMAIN.test(meant) && typed !== meant ? null : "no two domains"
}

function labelledRow([text, kind]: Row, label: Category): Labelled {
  return { text, label, requests: label === "invalid" && isKind(kind) ? { kind, text } : atDomain(text) }
}

function trapRow([text, label, mistaken]: Row): Trap {
  // A row that names no categories is a fault already; what stands here then is read by nobody.
  const named = (cell: string): Category => (isCategory(cell) ? cell : "unknown")
  return { text, label: named(label), mistaken: named(mistaken), requests: atDomain(text) }
}

const complaintRow = ([text, label]: Row): Complaint => ({
  text,
  label: isCategory(label) ? label : null,
  requests: atDomain(text),
})

/** A caller has addresses, so a domain is asked about as somebody's there. */
const atDomain = (domain: string): Labelled["requests"] => ({ kind: "email", text: `jane@${domain}` })

/** A text may be in one category only; a trap may be in the sample too, under the same label. */
function contradictions(labelled: readonly Labelled[], traps: readonly Trap[]): readonly string[] {
  const labels = new Map<string, Category>()
  const faults: string[] = []
  for (const { text, label } of labelled) {
    const held = labels.get(text)
    if (held !== undefined) faults.push(`${text} is ${held} and ${label}`)
    labels.set(text, label)
  }
  for (const { text, label } of traps) {
    const held = labels.get(text) ?? label
    if (held !== label) faults.push(`${text} is ${held}, and ${label} among the traps`)
  }
  return faults
}

function inBoth(one: readonly string[], other: readonly string[], what: string): readonly string[] {
  const held = new Set(other)
  return one.filter(text => held.has(text)).map(text => `${text} is ${what}`)
}
