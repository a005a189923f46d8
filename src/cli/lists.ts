import { parseSubject } from "../check/address/parse.ts"
import type { Opened, Pack } from "../check/lists/domain-set.ts"
import { explain, type Level } from "../check/lists/explain.ts"
import { LISTING_RULES } from "../check/lists/listing-rules.ts"
import type { Manifest } from "../check/lists/manifest.ts"
import type { Listing } from "../check/lists/pack-contents.ts"
import type { Lists } from "../check/lists.ts"
import type { Checkout } from "./lists-build.ts"
import { CommandFailure, json, type Output, shown, table } from "./output.ts"

/** What the commands about lists need. */
export type ListsTools = {
  /** The lists in use. */
  readonly open: () => Promise<Lists>
  /** A pack in a file; null: there is no such file, or it is empty. */
  readonly openFile: (path: string) => Promise<Opened | null>
  /** What the lists in use were built from. */
  readonly manifest: () => Promise<Manifest>
  /** Where lists are built; null in the executable, which carries the result only. */
  readonly checkout: Checkout | null
}

/** `lists info`: version, sets and sources. */
export async function listsState(output: Output, lists: ListsTools, asJson: boolean): Promise<void> {
  const { pack } = await lists.open()
  const { sources } = await lists.manifest()
  const { version, builtAt, entries } = pack
  if (asJson) return json(output, { version, built_at: builtAt, entries, sources })
  output.line(`version ${version}, sources as of ${builtAt.slice(0, 10)}`)
  output.line("")
  table(output, [["set", "entries"], ...Object.entries(entries).map(([set, count]) => [set, String(count)])])
  output.line("")
  const rows = Object.entries(sources).map(([id, { set, trust, kept, read, licence }]) => [
    id,
    set,
    trust,
    `${kept} of ${read}`,
    licence,
  ])
  table(output, [["source", "set", "trust", "kept", "licence"], ...rows])
}

/** `lists lookup DOMAIN`: at each level of the name the sets, the sources that list it, and the rule that dropped it. */
export async function listsLookup(output: Output, lists: ListsTools, text: string, asJson: boolean): Promise<void> {
  const { pack } = await lists.open()
  const { domain, registrable } = parseSubject(text.includes("@") ? "email" : "domain", text, "")
  if (domain === null) throw new CommandFailure("That is no domain.", 2)
  const levels = explain(pack, domain, registrable)
  if (asJson) return json(output, { domain, sets: pack.listed(domain, registrable).sets, levels })
  for (const level of levels) describeLevel(output, level)
  if (levels.every(({ decides }) => !decides)) output.line("No set holds the domain.")
}

function describeLevel(output: Output, { name, sets, listings, patterns, decides }: Level): void {
  const held = sets.length === 0 ? "in no set" : `in ${sets.join(", ")}${decides ? " (decides)" : ""}`
  output.line(`${shown(name)}: ${held}`)
  const all = [
    ...listings,
    ...patterns.flatMap(({ pattern, listings: own }) =>
      own.map(one => ({ ...one, source: `${one.source} as ${pattern}` })),
    ),
  ]
  table(
    output,
    all.map(({ source, set, outcome }) => [`  ${source}`, set, whatBecame(outcome)]),
  )
}

const whatBecame = (outcome: Listing["outcome"]): string =>
  outcome === "kept" ? "kept" : `dropped: ${LISTING_RULES[outcome]}`

/** `lists verify [FILE]`: reads every byte of a pack. */
export async function listsVerify(
  output: Output,
  lists: ListsTools,
  file: string | null,
  asJson: boolean,
): Promise<void> {
  const pack = file === null ? (await lists.open()).pack : await packIn(lists, file)
  const verified = pack.verify()
  if (!verified.ok) throw new CommandFailure(verified.says)
  if (asJson) return json(output, { ok: true, version: pack.version, entries: pack.entries })
  output.line(`The lists ${pack.version} are whole.`)
}

async function packIn(lists: ListsTools, file: string): Promise<Pack> {
  const opened = await lists.openFile(file)
  if (opened === null) throw new CommandFailure("There is no such file, or it is empty.")
  if (opened.kind === "refused") throw new CommandFailure(`${opened.says} ${opened.remedy}`)
  return opened.pack
}
