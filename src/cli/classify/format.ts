/** How inputs and results stand in a file. */
export const FORMATS = ["text", "csv", "ndjson"] as const
export type Format = (typeof FORMATS)[number]

/** What a file's name says of its format. */
const ENDINGS: Readonly<Record<string, Format>> = { csv: "csv", tsv: "csv", ndjson: "ndjson", jsonl: "ndjson" }

/**
 * The formats of inputs and of results. `asked` is that of the results, and of inputs too whose file's name does not say
 * otherwise; null: as the inputs are.
 */
export function formatsOf(path: string, asked: Format | null): { readonly from: Format; readonly to: Format } {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  const from = (Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : asked) ?? "text"
  return { from, to: asked ?? from }
}
