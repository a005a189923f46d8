import type { Opened, Pack } from "../check/lists/domain-set.ts"
import type { KnownLists } from "../check/lists.ts"
import {
  type DomainLookUp,
  type KnownLevel,
  type KnownListing,
  listingsAt,
  lookUp,
  sinceWords,
} from "../check/look-up.ts"
import { ROUTES } from "../contract/routes.ts"
import type { Checkout } from "./lists-build.ts"
import type { RefreshTools } from "./lists-update.ts"
import { CommandFailure, json, type Output, shown, table } from "./output.ts"

/** What the commands about lists need. */
export type ListsTools = RefreshTools & {
  /** The lists in place, and where they come from. */
  readonly known: () => Promise<KnownLists>
  /** The pack in a file, or (null) the one in place; null: there is no such file, or it is empty. */
  readonly open: (path: string | null) => Promise<Opened | null>
  /** Where lists are built; null in the executable, which carries the result only. */
  readonly checkout: Checkout | null
}

/** `lists info`: version, sets and sources, how the last refresh went, and why a source was of no use. */
export async function listsState(output: Output, lists: ListsTools, asJson: boolean): Promise<void> {
  const {
    lists: { pack },
    manifest: { sources },
    state,
  } = await lists.known()
  const { version, builtAt, entries } = pack
  const refreshed = { refreshed_at: timeOf(state.refreshed_at_ms), is_paused: state.is_paused, sources: state.sources }
  if (asJson)
    return json(output, { version, built_at: builtAt, entries, sources, refresh: refreshed, packs: state.packs })
  output.line(`version ${version}, sources as of ${builtAt.slice(0, 10)}`)
  output.line(refreshed.refreshed_at === null ? "never refreshed" : `refreshed ${refreshed.refreshed_at}`)
  if (state.is_paused) output.line("an operator went back: no schedule refreshes them until `lists update`")
  output.line("")
  table(output, [["set", "entries"], ...Object.entries(entries).map(([set, count]) => [set, String(count)])])
  output.line("")
  const rows = Object.entries(sources).map(([id, { set, trust, kept, read, date, licence }]) => [
    id,
    set,
    trust,
    `${kept} of ${read}`,
    date === "" ? "never there" : date,
    state.sources[id]?.outcome ?? "",
    licence,
  ])
  table(output, [["source", "set", "trust", "kept", "of", "last refresh", "licence"], ...rows])
  const faulty = Object.entries(state.sources).filter(([, { says }]) => says !== "")
  if (faulty.length > 0) output.line("")
  for (const [id, { outcome, says }] of faulty) output.line(`${id} ${outcome}: ${shown(says)}`)
}

const timeOf = (atMs: number): string | null => (atMs === 0 ? null : new Date(atMs).toISOString())

/**
 * `lists lookup DOMAIN`: what the lists say of a name and which entry decides, at each of its levels the sources that list it,
 * since when, under which licence and what dropped it, and how a mistake is reported.
 */
export async function listsLookup(output: Output, lists: ListsTools, text: string, asJson: boolean): Promise<void> {
  const found = lookUp(await lists.known(), text)
  if (found.kind === "no_domain") throw new CommandFailure(`That is no domain. ${found.says}`, 2)
  const { domain, category, reason, says, entry, sets, levels } = found
  if (asJson) return json(output, { domain, category, reason, entry, sets, levels: levels.map(toldLevel) })
  output.line(`${domain}: ${category} (${reason})`)
  output.line(says)
  for (const level of levels) describeLevel(output, level)
  describeReports(output, found)
}

const toldLevel = ({ listings, patterns, ...level }: KnownLevel) => ({
  ...level,
  listings: listings.map(toldListing),
  patterns: patterns.map(({ pattern, listings: own }) => ({ pattern, listings: own.map(toldListing) })),
})

const toldListing = ({ set, source, outcome, since, onOrBefore, licence, origin }: KnownListing) => ({
  ...{ set, source, outcome, since, on_or_before: onOrBefore, licence, origin },
})

function describeLevel(output: Output, level: KnownLevel): void {
  const { name, sets, decides } = level
  const held = sets.length === 0 ? "in no set" : `in ${sets.join(", ")}${decides ? " (decides)" : ""}`
  output.line("")
  output.line(`${name}: ${held}`)
  const rows = listingsAt(level).map(listing => [
    `  ${listing.entry === name ? listing.source : `${listing.source} as ${listing.entry}`}`,
    listing.set,
    sinceWords(listing),
    listing.licence,
    listing.droppedBy === null ? "kept" : `dropped: ${listing.droppedBy}`,
  ])
  if (rows.length > 0) table(output, [["  source", "set", "since", "licence", "became"], ...rows])
}

/** How a mistake is reported: to the operator, by the operator, and where the sources come from. */
function describeReports(output: Output, { domain, category, levels }: DomainLookUp): void {
  const { method, path } = ROUTES.postFeedback
  output.line("")
  if (category === "invalid")
    output.line("Where a name stands is told by the Public Suffix List: no report changes it.")
  else {
    output.line("If that is a mistake:")
    output.line(`  ${method} ${path} with a key, \`domain\` and \`expected_category\` reports it to the operator.`)
    const isHeldAgainst = category === "disposable" || category === "relay"
    if (isHeldAgainst) output.line(`  \`mailkind allow add ${domain}\` takes it out of the sets disposable and relay.`)
    else output.line(`  \`mailkind block add ${domain}\` has it blocked.`)
  }
  const origins = new Map(levels.flatMap(listingsAt).map(({ source, origin }) => [source, origin]))
  if (origins.size === 0) return
  output.line("The sources come from, and are put right at:")
  table(
    output,
    [...origins].map(([source, origin]) => [`  ${source}`, origin]),
  )
}

/** `lists verify [FILE]`: reads every byte of a pack; without a file, of the one in place, for which none stands in. */
export async function listsVerify(
  output: Output,
  lists: ListsTools,
  file: string | null,
  asJson: boolean,
): Promise<void> {
  const pack = await packIn(lists, file)
  const verified = pack.verify()
  if (!verified.ok) throw new CommandFailure(verified.says)
  if (asJson) return json(output, { ok: true, version: pack.version, entries: pack.entries })
  output.line(`The lists ${pack.version} are whole.`)
}

async function packIn(lists: ListsTools, file: string | null): Promise<Pack> {
  const opened = await lists.open(file)
  if (opened === null) throw new CommandFailure("There is no such file, or it is empty.")
  if (opened.kind === "refused") throw new CommandFailure(`${opened.says} ${opened.remedy}`)
  return opened.pack
}
