import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { FILLABLE_SETS } from "../sets.ts"

/** How far a source is believed. `highest` and `high` are trusted: they can be one of two witnesses. */
const TRUST_LEVELS = ["highest", "high", "medium", "low"] as const

/** The shapes in which a source is written; each has a reader in formats.ts. */
const SOURCE_FORMATS = [
  "curated",
  "lines",
  "json",
  "script_json",
  "script_text",
  "script_words",
  "csv",
  "tree",
] as const

export type SourceFormat = (typeof SOURCE_FORMATS)[number]

const literalUnion = <const T extends readonly string[]>(values: T) =>
  Type.Union(values.map(value => Type.Literal(value)))
const CLOSED = { additionalProperties: false }
const NON_EMPTY_TEXT = Type.String({ minLength: 1 })
const ISO_DATE = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" })

const CatalogueSource = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" }),
    set: Type.Unsafe<(typeof FILLABLE_SETS)[number]>(literalUnion(FILLABLE_SETS)),
    trust: Type.Unsafe<(typeof TRUST_LEVELS)[number]>(literalUnion(TRUST_LEVELS)),
    from: Type.Object(
      {
        /** Where a refresh downloads it; absent: the source is built in. What is downloaded is not there before. */
        url: Type.Optional(Type.String({ pattern: "^https://" })),
        /** The npm package that carries the file; absent: the file is ours, and its path starts at the repository. */
        package: Type.Optional(NON_EMPTY_TEXT),
        /** The file, or for `tree` the folder; for a URL the name of what lies there. */
        file: NON_EMPTY_TEXT,
        format: Type.Unsafe<SourceFormat>(literalUnion(SOURCE_FORMATS)),
        /** `json`, `script_json`: the path to the entries (read-json.ts); `csv`: the column; `script_text`: the variable. */
        at: Type.Optional(NON_EMPTY_TEXT),
        /** Only so many entries, from the first on; absent: all. */
        first: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      CLOSED,
    ),
    /** These three stand in the header of a curated file, and here for every other. */
    licence: Type.Optional(NON_EMPTY_TEXT),
    origin: Type.Optional(NON_EMPTY_TEXT),
    /** The day that the entries are of: the source's own date where it has one, else the day its version was pinned. */
    date: Type.Optional(ISO_DATE),
    /** Sources whose entries are copied into this one: an entry in both has one witness. */
    copies: Type.Optional(Type.Array(NON_EMPTY_TEXT, { minItems: 1 })),
    /** The built-in source that this download is a newer copy of: once it is there, that one's entries are left out. */
    renews: Type.Optional(NON_EMPTY_TEXT),
  },
  CLOSED,
)

const CatalogueSchema = Type.Object(
  {
    format: Type.Literal(1),
    /** The providers that most people use, most used first: the first targets of a pack. */
    providers_first: Type.Array(NON_EMPTY_TEXT, { uniqueItems: true }),
    sources: Type.Array(CatalogueSource, { minItems: 1 }),
  },
  CLOSED,
)

/** One row of the catalogue: which set a file fills, how to read it, and how far to believe it. */
export type CatalogueSource = Static<typeof CatalogueSource>

/** The catalogue's rows, or everything that is wrong with it. */
export type ParseCatalogueResult =
  | {
      readonly kind: "catalogue"
      readonly sources: readonly CatalogueSource[]
      readonly topProviders: readonly string[]
    }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/** Reads the text of data/catalogue.json. It never throws; every fault is named. */
export function parseCatalogue(json: string): ParseCatalogueResult {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (notJson) {
    return { kind: "refused", faults: [`catalogue: ${String(notJson)}`] }
  }
  if (!Value.Check(CatalogueSchema, value)) {
    const faults = [...Value.Errors(CatalogueSchema, value)].map(({ path, message }) => `catalogue${path}: ${message}`)
    return { kind: "refused", faults }
  }
  const faults = value.sources.flatMap((row, at) => sourceFaults(row, at, value.sources))
  return faults.length > 0
    ? { kind: "refused", faults }
    : { kind: "catalogue", sources: value.sources, topProviders: value.providers_first }
}

/** The path of a source's file, from the repository's root. */
export const sourcePath = ({ from }: CatalogueSource): string =>
  from.package === undefined ? from.file : `node_modules/${from.package}/${from.file}`

/** Whether the source comes from a refresh, and so is not there before the first. */
export const isDownloaded = ({ from }: CatalogueSource): boolean => from.url !== undefined

/** Whether the source is written by hand in this repository: it beats every other. */
export const isCurated = ({ from }: CatalogueSource): boolean => from.format === "curated"

/** Whether the source can be one of two witnesses. */
export const isTrusted = ({ trust }: CatalogueSource): boolean => trust === "highest" || trust === "high"

const FORMATS_WITH_AT: ReadonlySet<SourceFormat> = new Set(["json", "script_json", "script_text", "csv"])

function sourceFaults(row: CatalogueSource, at: number, rows: readonly CatalogueSource[]): readonly string[] {
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
    FORMATS_WITH_AT.has(row.from.format) !== (row.from.at !== undefined) &&
      `${here}: "at" does not suit ${row.from.format}`,
    /(^|\/)\.\.(\/|$)|^\//.test(row.from.file) && `${here}: the file is outside the repository or the package`,
    ...(row.copies ?? []).map(id => !rows.some(other => other.id === id) && `${here}: copies the unknown source ${id}`),
  ]
  return faults.filter(fault => fault !== false)
}
