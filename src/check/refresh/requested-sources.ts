import { createHash } from "node:crypto"
import { isDownloaded } from "../lists/sources/catalogue.ts"
import { type LoadedSource, NO_LATER_ENTRIES, type SourceBundle } from "../lists/sources/source-bundle.ts"
import type { RefreshState } from "./refresh-state.ts"

/** A source with the address that it is asked for at. */
export type RequestedSource = { readonly source: LoadedSource; readonly url: string }

/**
 * The sources that a refresh asks for, by id: those of the catalogue, at the operator's own addresses where there are some,
 * and the operator's own lists of disposable domains, one name a line. Those are all addresses whose id is no source of the
 * catalogue, and those that an earlier refresh was told of.
 */
export function requestedSources(
  { sources }: SourceBundle,
  urls: ReadonlyMap<string, string>,
  { sources: before }: RefreshState,
): ReadonlyMap<string, RequestedSource> {
  const wanted = new Map<string, RequestedSource>()
  for (const source of sources) {
    const { id, from } = source.row
    if (isDownloaded(source.row)) wanted.set(id, { source, url: urls.get(id) ?? from.url ?? "" })
  }
  const told = Object.entries(before).flatMap(([id, { url }]) =>
    id.startsWith(OWN_PREFIX) ? [[id, url] as const] : [],
  )
  const taken = new Set(sources.map(({ row }) => row.id))
  for (const [id, url] of [...told, ...urls])
    if (!taken.has(id)) wanted.set(id, { source: createOwnSource(id, url), url })
  return wanted
}

/**
 * The id of the source that an id or a URL means, and where it is asked for this time: a URL that ends in the file name of a
 * source is a mirror of it, any other is an operator's own list. Null: it is neither an id of these nor a URL.
 */
export function resolveSource(
  wanted: ReadonlyMap<string, RequestedSource>,
  text: string,
): { readonly id: string; readonly url: string } | null {
  const named = wanted.get(text)
  if (named !== undefined) return { id: text, url: named.url }
  const url = URL.parse(text)
  if (url === null) return null
  const { href } = url
  const known = [...wanted.values()].find(one => URL.parse(one.url)?.href === href)
  const mirrored = known ?? [...wanted.values()].find(({ source }) => hasFileName(url, source.row.from.file))
  return { id: mirrored?.source.row.id ?? ownSourceId(href), url: href }
}

/** Whether a URL ends in the name of a file; an operator's own list has none. */
const hasFileName = ({ pathname }: URL, file: string): boolean =>
  file !== "" && [file, encodeURIComponent(file)].includes(pathname.slice(pathname.lastIndexOf("/") + 1))

/**
 * What a state keeps of sources: those that are asked for the next time too. An address of an operator's own list that was
 * told once and gave nothing is forgotten: it may be a slip.
 */
export function retainedSources(
  wanted: ReadonlyMap<string, RequestedSource>,
  { sources: before }: RefreshState,
  now: RefreshState["sources"],
  isHeld: (id: string) => boolean,
): RefreshState["sources"] {
  const isKept = (id: string): boolean => {
    const isToldNow = id.startsWith(OWN_PREFIX) && !Object.hasOwn(before, id)
    return wanted.has(id) && (!isToldNow || isHeld(id))
  }
  return Object.fromEntries(Object.entries({ ...before, ...now }).filter(([id]) => isKept(id)))
}

const OWN_PREFIX = "own-"
const ownSourceId = (url: string): string =>
  `${OWN_PREFIX}${createHash("sha256").update(url).digest("hex").slice(0, 8)}`

/** An operator's own list: believed like a good one, since somebody has chosen it. */
const createOwnSource = (id: string, url: string): LoadedSource => ({
  row: {
    id,
    set: "disposable",
    trust: "high",
    from: { url, file: "", format: "lines" },
    licence: "the operator's",
    origin: "the operator's own list",
  },
  header: null,
  entries: [],
  misshapen: 0,
  date: null,
  since: NO_LATER_ENTRIES,
})
