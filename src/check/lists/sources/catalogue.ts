import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { FILLABLE_SETS, isSetName } from "../sets.ts"

/** How much a source is trusted when sources contradict each other. */
const TRUST_LEVELS = ["highest", "high", "medium", "low"] as const

/** The file formats of sources; each has a reader in source-formats.ts. */
const SOURCE_FORMATS = [
  "curated",
  "lines",
  "names",
  "json",
  "script_json",
  "script_text",
  "script_words",
  "csv",
  "tree",
] as const

/** What a large download is, which is read as a stream; large-sources.ts has a reader of each. */
const LARGE_FORMATS = ["ror_dump", "swot_archive", "csv_column"] as const
export type LargeFormat = (typeof LARGE_FORMATS)[number]

export type SourceFormat = (typeof SOURCE_FORMATS)[number]

const literalUnion = <const T extends readonly string[]>(values: T) =>
  Type.Union(values.map(value => Type.Literal(value)))
const CLOSED = { additionalProperties: false }
const NON_EMPTY_TEXT = Type.String({ minLength: 1 })
const HTTPS_URL = Type.String({ pattern: "^https://" })
const ISO_DATE = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" })

const CatalogueSource = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" }),
    set: Type.Unsafe<(typeof FILLABLE_SETS)[number]>(literalUnion(FILLABLE_SETS)),
    trust: Type.Unsafe<(typeof TRUST_LEVELS)[number]>(literalUnion(TRUST_LEVELS)),
    from: Type.Object(
      {
        /** Where a refresh downloads it; absent: the source is built in. A download is empty before the first refresh. */
        url: Type.Optional(HTTPS_URL),
        /** The npm package that contains the file; absent: the path of the file is relative to the repository. */
        package: Type.Optional(NON_EMPTY_TEXT),
        /** The file, or for `tree` the folder; for a URL the end of its path, by which a mirror is recognised. */
        file: NON_EMPTY_TEXT,
        format: Type.Unsafe<SourceFormat>(literalUnion(SOURCE_FORMATS)),
        /**
         * `json`, `script_json`: the path to the entries (`readJson`); `csv`: the column, and which rows (`readCsvColumn`);
         * `script_text`: the variable.
         */
        at: Type.Optional(NON_EMPTY_TEXT),
        /** The download is large: a stream reader makes a list for each `part` of it, and rows with the same URL share it. */
        large: Type.Optional(Type.Unsafe<LargeFormat>(literalUnion(LARGE_FORMATS))),
        part: Type.Optional(NON_EMPTY_TEXT),
        /** The URL is that of an index, in which this path leads to the URLs of files; the first with `file` in its path is downloaded. */
        latest: Type.Optional(NON_EMPTY_TEXT),
        /** Entries that contain this text are left out, since they are no names: a page on a host that others own. */
        without: Type.Optional(NON_EMPTY_TEXT),
        /** Only the first so many entries; absent: all. */
        first: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      CLOSED,
    ),
    /** A curated file has licence, origin and date in its header; all other sources have them here. */
    licence: Type.Optional(NON_EMPTY_TEXT),
    origin: Type.Optional(NON_EMPTY_TEXT),
    /** The date of the entries: the source's own date if it has one, else the day on which its version was pinned. */
    date: Type.Optional(ISO_DATE),
    /**
     * What an entry of the source proves. `sufficient`: its maintainers look at every entry, so no other source is needed.
     * `aggregator`: it is compiled from other lists, so it is no witness of its own. Absent: it is one independent witness.
     */
    witness: Type.Optional(Type.Union([Type.Literal("sufficient"), Type.Literal("aggregator")])),
    /** The source lists names of other kinds too: an entry counts only if a source of its set that is no aggregator has it too. */
    needs_second_source: Type.Optional(Type.Literal(true)),
    /** People take names out of the source one by one: a name that is gone outranks sources of less trust. */
    tracks_removals: Type.Optional(Type.Literal(true)),
    /** A good download is not asked for again before so many days; absent: each refresh asks. */
    every_days: Type.Optional(Type.Integer({ minimum: 2 })),
    /** The built-in source of which this is a newer version: after the first download its entries are left out. */
    renews: Type.Optional(NON_EMPTY_TEXT),
    /**
     * The source publishes only what is abused now, so its downloads are added to each other: a name counts for so many days after
     * it was last seen. `names`: how many a download has, which bounds the first one. Absent: a download replaces the one before.
     */
    window: Type.Optional(
      Type.Object(
        {
          days: Type.Integer({ minimum: 1 }),
          names: Type.Integer({ minimum: 1 }),
          /** Where earlier windows are: a list of commits since `{since}`, by `{page}`, and the window of each `{commit}`. */
          past: Type.Optional(Type.Object({ commits: HTTPS_URL, file: HTTPS_URL }, CLOSED)),
        },
        CLOSED,
      ),
    ),
    /**
     * How many names that no such list may hold a download is known to list. They are left out, and with more than these it is
     * refused; absent: as many as any download may list.
     */
    never_listed_max: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  CLOSED,
)

const CatalogueSchema = Type.Object(
  {
    format: Type.Literal(1),
    /** The providers that most people use, most used first: they are the first targets of a pack. */
    providers_first: Type.Array(NON_EMPTY_TEXT, { uniqueItems: true }),
    sources: Type.Array(CatalogueSource, { minItems: 1 }),
  },
  CLOSED,
)

/** One row of the catalogue: which set a file fills, how to read it, and how much to trust it. */
export type CatalogueSource = Static<typeof CatalogueSource>

/** The rows of a catalogue, or all its faults. */
export type ParseCatalogueResult =
  | {
      readonly kind: "catalogue"
      readonly sources: readonly CatalogueSource[]
      readonly topProviders: readonly string[]
    }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/** Parses the text of data/catalogue.json. It never throws and reports every fault. */
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
  const faults = value.sources.flatMap((row, index) => sourceFaults(row, index, value.sources))
  return faults.length > 0
    ? { kind: "refused", faults }
    : { kind: "catalogue", sources: value.sources, topProviders: value.providers_first }
}

/** The path of a source's file, relative to the repository. */
export const sourcePath = ({ from }: CatalogueSource): string =>
  from.package === undefined ? from.file : `node_modules/${from.package}/${from.file}`

/** Whether the source is downloaded by refreshes, and so is empty before the first one. */
export const isDownloaded = ({ from }: CatalogueSource): boolean => from.url !== undefined

/** Whether the source is an operator's own list, which has a URL and no file of a catalogue. */
export const isOperators = ({ from }: CatalogueSource): boolean => from.url !== undefined && from.file === ""

/** Whether the source is written by hand in this repository; such a source beats every other (`DECISIONS 17`). */
export const isCurated = ({ from }: CatalogueSource): boolean => from.format === "curated"

/** Whether the source is compiled from other lists, and so is no witness of its own (`DECISIONS 139`). */
export const isAggregator = ({ witness }: CatalogueSource): boolean => witness === "aggregator"

/** Whether the source is trusted more than the long tail; if it is no aggregator, it is one of two independent sources. */
export const isTrusted = ({ trust }: CatalogueSource): boolean => trust === "highest" || trust === "high"

/** The entries of a file that its row wants. */
export function wantedEntries({ from }: CatalogueSource, entries: readonly string[]): readonly string[] {
  const { without, first } = from
  const names = without === undefined ? entries : entries.filter(entry => !entry.includes(without))
  return first === undefined ? names : names.slice(0, first)
}

/** How much more a source is trusted than one of `low`: 0 to 3. */
export const trustRank = ({ trust }: Pick<CatalogueSource, "trust">): number =>
  TRUST_LEVELS.length - 1 - TRUST_LEVELS.indexOf(trust)

const FORMATS_WITH_AT: ReadonlySet<SourceFormat> = new Set(["json", "script_json", "script_text", "csv"])

/** What is wrong with how a file is read; null: nothing. */
function fromFault({ from: { format, at, large, part } }: CatalogueSource): string | null {
  if ((large === undefined) !== (part === undefined)) return "a large download has parts"
  if (large !== undefined && format !== "lines") return "a part of a large download is lines"
  const takesAt = large === "csv_column" || FORMATS_WITH_AT.has(format)
  return takesAt === (at !== undefined) ? null : `"at" does not suit ${large ?? format}`
}

function sourceFaults(row: CatalogueSource, index: number, rows: readonly CatalogueSource[]): readonly string[] {
  const here = `catalogue/sources/${index} (${row.id})`
  const described = [row.licence, row.origin, row.date].filter(field => field !== undefined).length
  const faults: (string | false)[] = [
    rows.findIndex(({ id }) => id === row.id) < index && `${here}: the id is taken`,
    isCurated(row) && described > 0 && `${here}: licence, origin and date stand in the curated file`,
    !isCurated(row) && !isDownloaded(row) && described < 3 && `${here}: licence, origin and date are needed`,
    isDownloaded(row) &&
      (row.licence === undefined || row.origin === undefined || row.date !== undefined) &&
      `${here}: licence and origin are needed, and the date comes with the download`,
    isDownloaded(row) &&
      (row.from.package !== undefined || isCurated(row) || row.from.format === "tree") &&
      `${here}: a download is one text from elsewhere`,
    row.renews !== undefined &&
      (!isDownloaded(row) ||
        !rows.some(other => other.id === row.renews && other.set === row.set && !isDownloaded(other))) &&
      `${here}: a download renews a built-in source of its set`,
    row.window !== undefined &&
      (!isDownloaded(row) || row.renews !== undefined || !isSetName(row.set)) &&
      `${here}: a window is a download of names that renews nothing`,
    fromFault(row) !== null && `${here}: ${fromFault(row)}`,
    /(^|\/)\.\.(\/|$)|^\//.test(row.from.file) && `${here}: the file is outside the repository or the package`,
  ]
  return faults.filter(fault => fault !== false)
}
