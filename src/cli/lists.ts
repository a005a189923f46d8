import type { Command } from "commander"
import { escapeControls } from "../base/untrusted-text.ts"
import type { LoadedLists } from "../check/domain-lookup.ts"
import {
  type DomainExplanation,
  type ExplainedLevel,
  type ExplainedListing,
  explainDomain,
  listingsOfLevel,
  sinceLabel,
  untilLabel,
} from "../check/explain-domain.ts"
import type { OpenPackResult, Pack } from "../check/lists/pack/pack.ts"
import type { WaitingLists } from "../check/refresh/lists-in-force.ts"
import type { RefreshResult } from "../check/refresh/refresh.ts"
import { askedAtMs, BUILT_IN, isUseless, type SourceState } from "../check/refresh/refresh-state.ts"
import { leftOutMessages } from "../check/refresh/source-validation.ts"
import { ROUTES } from "../contract/routes.ts"
import { listsBuild, type RepoCheckout } from "./lists-build.ts"
import {
  inUseText,
  LISTS_BUSY,
  type ListsInForceDeps,
  registerInForceCommands,
  waitingJson,
  waitingText,
} from "./lists-in-force.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** Dependencies of the `lists` commands. */
export type ListsCommandDeps = ListsRefreshDeps &
  ListsInForceDeps & {
    /** Opens the active lists with their manifest and refresh state. */
    readonly loadLists: () => Promise<LoadedLists>
    /** The newest lists, if the servers of this data directory wait for them. */
    readonly readWaiting: () => Promise<WaitingLists | null>
    /** Opens the pack in a file, or the active one for null. Null: there is no such file, or it is empty. */
    readonly openPack: (path: string | null) => Promise<OpenPackResult | null>
    /** The checkout in which lists are built; null in the executable, which has no `lists build`. */
    readonly checkout: RepoCheckout | null
  }

/** Registers the group `lists`. */
export function registerListsCommands(root: Command, output: Output, lists: ListsCommandDeps): void {
  const group = root.command("lists").description("Show, look up, update and pin the lists.")
  group
    .command("info")
    .description("Show the version, sets and sources of the lists.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => listsInfo(output, lists, asJson))
  group
    .command("lookup")
    .description("Show what the lists say about a domain, and which sources list it.")
    .argument("<domain>", "a domain, or an address")
    .option(...JSON_FLAG, false)
    .action((domain, { json: asJson }) => listsLookup(output, lists, domain, asJson))
  if (lists.checkout !== null) registerBuild(group, output, lists.checkout)
  group
    .command("verify")
    .description("Check every byte of the lists.")
    .argument("[file]", "a pack, default the lists in use")
    .option(...JSON_FLAG, false)
    .action((file, { json: asJson }) => listsVerify(output, lists, file ?? null, asJson))
  registerRefreshCommands(group, output, lists)
  registerInForceCommands(group, output, lists)
}

function registerBuild(group: Command, output: Output, checkout: RepoCheckout): void {
  group
    .command("build")
    .description("Build the lists from their sources.")
    .option("--quiet", "print only changes", false)
    .option("--check", "fail if the result differs from data/manifest.json", false)
    .option("--shrink", "accept lists that lost a fifth of their entries", false)
    .option(...JSON_FLAG, false)
    .action(options => listsBuild(output, checkout, options))
}

/** `lists info`: version, sets and sources, how the last refresh went, and why a source was of no use. */
export async function listsInfo(output: Output, lists: ListsCommandDeps, asJson: boolean): Promise<void> {
  const {
    lists: { pack },
    manifest: { sources },
    refreshState,
  } = await lists.loadLists()
  const waiting = await lists.readWaiting()
  const { version, builtAt, entryCounts } = pack
  const refreshed = {
    refreshed_at: isoInstant(refreshState.refreshed_at_ms),
    asked_at: isoInstant(askedAtMs(refreshState)),
    pinned: refreshState.pinned,
    waiting: waitingJson(waiting),
    sources: refreshState.sources,
  }
  if (asJson)
    return printJson(output, {
      version,
      built_at: builtAt,
      entries: entryCounts,
      sources,
      refresh: refreshed,
      packs: refreshState.packs,
    })
  output.line(`version ${version}, sources as of ${builtAt.slice(0, 10)}`)
  output.line(refreshed.refreshed_at === null ? "never refreshed" : `refreshed ${refreshed.refreshed_at}`)
  if (waiting !== null) output.line(waitingText(waiting))
  if (refreshState.pinned !== null) output.line(`${refreshState.pinned} is pinned, until \`lists unpin\``)
  output.line("")
  printTable(output, [["set", "entries"], ...Object.entries(entryCounts).map(([set, count]) => [set, String(count)])])
  output.line("")
  const rows = Object.entries(sources).map(([id, { set, trust, kept, read, date, licence }]) => [
    id,
    set,
    trust,
    `${kept} of ${read}`,
    date === "" ? "never there" : date,
    refreshState.sources[id]?.outcome ?? "",
    licence,
  ])
  printTable(output, [["source", "set", "trust", "kept", "of", "last refresh", "licence"], ...rows])
  const faulty = Object.entries(refreshState.sources).filter(([, state]) => sourceMessage(state) !== "")
  if (faulty.length > 0) output.line("")
  for (const [id, state] of faulty) output.line(`${id} ${state.outcome}: ${sourceMessage(state)}`)
}

/** Why a source was of no use, and which of its names were left out; empty: it was of use as it is. */
function sourceMessage(state: SourceState): string {
  return [escapeControls(state.says), leftOutMessages(state)].filter(message => message !== "").join(" ")
}

const isoInstant = (atMs: number): string | null => (atMs === 0 ? null : new Date(atMs).toISOString())

/**
 * `lists lookup DOMAIN`: what the lists say of a name and which entry decides, at each of its levels the sources that list it,
 * since when, under which licence and what dropped it, and how a mistake is reported.
 */
export async function listsLookup(
  output: Output,
  lists: ListsCommandDeps,
  text: string,
  asJson: boolean,
): Promise<void> {
  const found = explainDomain(await lists.loadLists(), text)
  if (found.kind === "no_domain") throw new CommandError(`This is not a domain. ${found.message}`, 2)
  const { domain, category, reason, message, entry, sets, levels } = found
  if (asJson) return printJson(output, { domain, category, reason, entry, sets, levels: levels.map(levelJson) })
  output.line(`${domain}: ${category} (${reason})`)
  output.line(message)
  for (const level of levels) printLevel(output, level)
  printReporting(output, found)
}

const levelJson = ({ listings, patterns, ...level }: ExplainedLevel) => ({
  ...level,
  listings: listings.map(listingJson),
  patterns: patterns.map(({ pattern, listings: own }) => ({ pattern, listings: own.map(listingJson) })),
})

const listingJson = (listing: ExplainedListing) => {
  const { set, source, outcome, since, onOrBefore, lastSeen = null, countsUntil = null, licence, origin } = listing
  const days = { since, on_or_before: onOrBefore, last_seen: lastSeen, counts_until: countsUntil }
  return { set, source, outcome, ...days, licence, origin }
}

function printLevel(output: Output, level: ExplainedLevel): void {
  const { name, sets, decides } = level
  const held = sets.length === 0 ? "in no set" : `in ${sets.join(", ")}${decides ? " (decides)" : ""}`
  output.line("")
  output.line(`${name}: ${held}`)
  const rows = listingsOfLevel(level).map(listing => [
    `  ${listing.entry === name ? listing.source : `${listing.source} as ${listing.entry}`}`,
    listing.set,
    [sinceLabel(listing), untilLabel(listing)].filter(label => label !== "").join(", "),
    listing.licence,
    becameLabel(listing),
  ])
  if (rows.length > 0) printTable(output, [["  source", "set", "since", "licence", "became"], ...rows])
}

function becameLabel({ dropReason, basis }: ExplainedListing): string {
  if (dropReason !== null) return `dropped: ${dropReason}`
  return basis === null ? "kept" : `kept: ${basis}`
}

/** How a mistake is reported: to the operator, by the operator, and where the sources come from. */
function printReporting(output: Output, { domain, category, levels }: DomainExplanation): void {
  const { method, path } = ROUTES.postFeedback
  output.line("")
  if (category === "invalid") output.line("This comes from the Public Suffix List. A report cannot change it.")
  else {
    output.line("If this is a mistake:")
    output.line(`  ${method} ${path} with a key, \`domain\` and \`expected_category\` reports it to the operator.`)
    const isHeldAgainst = category === "disposable" || category === "relay"
    if (isHeldAgainst) output.line(`  \`mailkind allow add ${domain}\` removes it from the sets disposable and relay.`)
    else output.line(`  \`mailkind block add ${domain}\` blocks it.`)
  }
  const origins = new Map(levels.flatMap(listingsOfLevel).map(({ source, origin }) => [source, origin]))
  if (origins.size === 0) return
  output.line("Report mistakes of the sources at:")
  printTable(
    output,
    [...origins].map(([source, origin]) => [`  ${source}`, origin]),
  )
}

/** `lists verify [FILE]`: reads every byte of a pack; without a file, of the one in place, for which none stands in. */
export async function listsVerify(
  output: Output,
  lists: ListsCommandDeps,
  file: string | null,
  asJson: boolean,
): Promise<void> {
  const pack = await openPackOrFail(lists, file)
  const verified = pack.verify()
  if (!verified.ok) throw new CommandError(verified.message)
  if (asJson) return printJson(output, { ok: true, version: pack.version, entries: pack.entryCounts })
  output.line(`The lists ${pack.version} are undamaged.`)
}

async function openPackOrFail(lists: ListsCommandDeps, file: string | null): Promise<Pack> {
  const opened = await lists.openPack(file)
  if (opened === null) throw new CommandError("The file does not exist or is empty.")
  if (opened.kind === "refused") throw new CommandError(`${opened.message} ${opened.remedy}`)
  return opened.pack
}

/** What the commands that change the lists in use need. */
type ListsRefreshDeps = {
  /** Refreshes the lists of the data directory. `only`: the id or URL of one source; null: all. */
  readonly refresh: (only: string | null) => Promise<RefreshResult | "unknown" | "busy">
}

const UNKNOWN_SOURCE = "This is not a URL or the id of a downloaded source. `lists update` shows these ids."
/** Registers `lists update` with the group. */
export function registerRefreshCommands(group: Command, output: Output, deps: ListsRefreshDeps): void {
  group
    .command("update")
    .description("Download the sources and use the new lists. Servers use them within seconds.")
    .option("--source <id or url>", "one source: its id, a mirror, or your own list")
    .option(...JSON_FLAG, false)
    .action(({ source, json: asJson }) => listsUpdate(output, deps, source ?? null, asJson))
}

/**
 * `lists update`: what became of each source, and the version in use. It fails when none of the sources that were asked for
 * was of use, or no pack could be made. Lists are made of the last good copies all the same, such as those that an operator
 * went back from.
 */
async function listsUpdate(
  output: Output,
  { refresh }: ListsRefreshDeps,
  only: string | null,
  asJson: boolean,
): Promise<void> {
  const refreshed = await refresh(only)
  if (refreshed === "busy") {
    if (asJson) printJson(output, { version: null, sources: {}, faults: [], is_busy: true })
    throw new CommandError(LISTS_BUSY)
  }
  if (refreshed === "unknown") throw new CommandError(UNKNOWN_SOURCE, 2)
  const { sources, activated, pinned, faults } = refreshed
  const version = activated === BUILT_IN ? activated : (activated?.version ?? null)
  if (asJson) printJson(output, { version, pinned, sources, faults })
  else {
    const rows = Object.entries(sources).map(([id, state]) => [id, state.outcome, sourceMessage(state)])
    printTable(output, [["source", "became", "why"], ...rows])
    output.line(version === null ? "The lists in use are the same." : inUseText(version))
    if (pinned !== null) output.line("They are pinned. What was downloaded is used after `lists unpin`.")
  }
  if (faults.length > 0) throw new CommandError(["the lists could not be built:", ...faults].join("\n  "))
  if (Object.values(sources).every(isUseless)) throw new CommandError("No source could be used.")
}
