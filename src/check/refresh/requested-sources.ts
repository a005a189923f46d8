import { createHash } from "node:crypto"
import { isDownloaded } from "../lists/sources/catalogue.ts"
import { type LoadedSource, NO_LATER_ENTRIES, type SourceBundle } from "../lists/sources/source-bundle.ts"
import type { RefreshState } from "./refresh-state.ts"

/** A source and the URL from which it is downloaded. */
export type RequestedSource = { readonly source: LoadedSource; readonly url: string }

/**
 * The sources that refreshes download, by id: those of the catalogue, from the operator's URLs if there are some, and the
 * operator's own lists of disposable domains. A URL whose id is not in the catalogue is an own list; own
 * lists that earlier refreshes were given by URL are in the state.
 */
export function requestedSources(
  { sources }: SourceBundle,
  urls: ReadonlyMap<string, string>,
  { sources: before }: RefreshState,
): ReadonlyMap<string, RequestedSource> {
  const requested = new Map<string, RequestedSource>()
  for (const source of sources) {
    const { id, from } = source.row
    if (isDownloaded(source.row)) requested.set(id, { source, url: urls.get(id) ?? from.url ?? "" })
  }
  const earlier = Object.entries(before).flatMap(([id, { url }]) =>
    id.startsWith(OWN_PREFIX) ? [[id, url] as const] : [],
  )
  const catalogueIds = new Set(sources.map(({ row }) => row.id))
  for (const [id, url] of [...earlier, ...urls])
    if (!catalogueIds.has(id)) requested.set(id, { source: createOwnSource(id, url), url })
  return requested
}

/**
 * The source that an id or a URL refers to, and the URL for this download. A URL that ends with the file name of a source is
 * a mirror of it; any other URL is an operator's own list. Null: the text is neither a known id nor a URL.
 */
export function resolveSource(
  requested: ReadonlyMap<string, RequestedSource>,
  text: string,
): { readonly id: string; readonly url: string } | null {
  const byId = requested.get(text)
  if (byId !== undefined) return { id: text, url: byId.url }
  const url = URL.parse(text)
  if (url === null) return null
  const { href } = url
  const sources = [...requested.values()]
  const match =
    sources.find(one => URL.parse(one.url)?.href === href) ??
    // Several rows share a large download, so its mirrors are named by their ids.
    sources.find(({ source: { row } }) => row.from.large === undefined && hasFileName(url, row.from.file))
  return { id: match?.source.row.id ?? ownSourceId(href), url: href }
}

/** Whether a URL ends with the file name of a source, and with folders if its name has them. Own lists have no file name. */
function hasFileName({ pathname }: URL, file: string): boolean {
  const encoded = file.split("/").map(encodeURIComponent).join("/")
  return file !== "" && [file, encoded].some(name => pathname.endsWith(`/${name}`))
}

/**
 * The source states to keep: those of sources that the next refresh downloads too. An own list that was given by URL for the
 * first time and has no valid download is dropped, since the URL may be mistyped.
 */
export function retainedSources(
  requested: ReadonlyMap<string, RequestedSource>,
  { sources: before }: RefreshState,
  now: RefreshState["sources"],
  hasDownload: (id: string) => boolean,
): RefreshState["sources"] {
  const isRetained = (id: string): boolean => {
    const isNewOwnList = id.startsWith(OWN_PREFIX) && !Object.hasOwn(before, id)
    return requested.has(id) && (!isNewOwnList || hasDownload(id))
  }
  return Object.fromEntries(Object.entries({ ...before, ...now }).filter(([id]) => isRetained(id)))
}

const OWN_PREFIX = "own-"
const ownSourceId = (url: string): string =>
  `${OWN_PREFIX}${createHash("sha256").update(url).digest("hex").slice(0, 8)}`

/** An operator's own list. It is trusted, since the operator has chosen it. */
const createOwnSource = (id: string, url: string): LoadedSource => ({
  row: {
    id,
    set: "disposable",
    trust: "high",
    witness: "sufficient",
    from: { url, file: "", format: "names" },
    licence: "the operator's",
    origin: "the operator's own list",
  },
  header: null,
  entries: [],
  malformedCount: 0,
  date: null,
  addedOn: NO_LATER_ENTRIES,
})

/** Whether a source is a file of this host. */
export const isLocal = (url: string): boolean => /^file:/i.test(url)
