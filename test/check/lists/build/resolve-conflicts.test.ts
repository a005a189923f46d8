import { expect, test } from "bun:test"
import { buildPack } from "../../../../src/check/lists/build/build-pack.ts"
import { LISTING_RULE_NAMES, type ListingOutcome } from "../../../../src/check/lists/listing-rules.ts"
import { readSourceBundle } from "../../../../src/check/lists/sources/source-bundle.ts"
import { openedPack } from "../pack/small-pack.ts"
import { type FakeSource, fakeSourceFiles } from "../sources/fake-source-files.ts"
import { buildPackFromFiles } from "./build-pack-from-files.ts"

/** The outcome of the first name of the first source. */
function outcome(sources: Readonly<Record<string, FakeSource>>): ListingOutcome | "absent" {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  const built = buildPackFromFiles(catalogue, shelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  const [[id, first] = ["", { names: [] }]] = Object.entries(sources)
  const listing = openedPack(built.bytes)
    .listingsOf(first.names[0] ?? "")
    .find(({ source }) => source === id)
  return listing?.outcome ?? "absent"
}

const high = (set: string, ...names: string[]): FakeSource => ({ set, trust: "high", names })
const highest = (set: string, ...names: string[]): FakeSource => ({ set, trust: "highest", names })
/** A source of disposable names that is put together from others. */
const copied = (trust: "highest" | "high", ...names: string[]): FakeSource => ({
  ...{ set: "disposable", trust, names },
  witness: "aggregator",
})
/** A source that lists names of other kinds too. */
const mixed = (set: string, ...names: string[]): FakeSource => ({
  ...medium(set, ...names),
  needsSecondSource: true,
  witness: "aggregator",
})
const medium = (set: string, ...names: string[]): FakeSource => ({ set, trust: "medium", names })
const low = (set: string, ...names: string[]): FakeSource => ({ set, trust: "low", names })
const curated = (set: string, ...names: string[]): FakeSource => ({ set, trust: "curated", names })

/** Sources that cause each rule, and next to them the same sources with the one change that avoids it. */
const CASES: readonly (readonly [ListingOutcome | "absent", Readonly<Record<string, FakeSource>>])[] = [
  ["kept", { a: high("disposable", "acme.com") }],
  ["public_suffix", { a: high("disposable", "edu.pl") }],
  ["public_suffix", { a: curated("personal", "github.io") }],
  ["kept", { a: curated("education_suffix", "edu.pl") }],
  ["never_list", { a: high("disposable", "acme.com"), b: curated("never_disposable", "acme.com") }],
  ["kept", { a: high("disposable", "x.acme.com"), b: curated("never_disposable", "acme.com") }],
  ["under_government_suffix", { a: high("disposable", "dallas.gov"), b: curated("government_suffix", "gov") }],
  ["under_government_suffix", { a: high("personal", "ci.x.tx.us"), b: curated("government_suffix", "ci.*.*.us") }],
  ["under_education_suffix", { a: high("disposable", "pw.edu.pl"), b: curated("education_suffix", "edu.pl") }],
  // Where anyone can register, a trusted disposable source is believed, and no suffix source makes the suffix a closed one.
  ["kept", { a: high("disposable", "x.edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  ["under_education_suffix", { a: medium("disposable", "x.edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  ["under_education_suffix", { a: low("disposable", "x.edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  ["under_education_suffix", { a: high("personal", "x.edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  ["open_suffix", { a: high("education_suffix", "edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  ["open_suffix", { a: curated("education_suffix", "edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  ["kept", { a: high("education_suffix", "ac.kg"), b: curated("open_education_suffix", "edu.kg") }],
  // A source of mixed names counts only beside a second source of its set, and opposes nothing.
  ["needs_second_source", { a: mixed("personal", "acme.com") }],
  ["needs_second_source", { a: mixed("personal", "acme.com"), b: medium("personal", "other.com") }],
  ["needs_second_source", { a: mixed("personal", "acme.com"), b: low("disposable", "acme.com") }],
  ["needs_second_source", { a: mixed("personal", "acme.com"), b: mixed("personal", "acme.com") }],
  ["kept", { a: mixed("personal", "acme.com"), b: medium("personal", "acme.com") }],
  ["kept", { a: mixed("personal", "acme.com"), b: curated("personal", "acme.com") }],
  ["kept", { a: low("disposable", "acme.com"), b: mixed("personal", "acme.com") }],
  // A removal by curators outranks every source of lower trust, unless one of their trust lists the name.
  ["removed_by_curator", { a: low("disposable", "acme.com"), b: high("removed_disposable", "acme.com") }],
  ["removed_by_curator", { a: medium("disposable", "acme.com"), b: high("removed_disposable", "acme.com") }],
  ["removed_by_curator", { a: high("disposable", "acme.com"), b: highest("removed_disposable", "acme.com") }],
  ["kept", { a: high("disposable", "acme.com"), b: high("removed_disposable", "acme.com") }],
  // Aggregators do not outlast a removal, whatever their trust and number, unless a witness of its trust lists the name.
  ["removed_by_curator", { a: copied("highest", "acme.com"), b: medium("removed_disposable", "acme.com") }],
  [
    "removed_by_curator",
    {
      a: copied("high", "acme.com"),
      b: high("removed_disposable", "acme.com"),
      c: copied("highest", "acme.com"),
      d: copied("high", "acme.com"),
      e: medium("disposable", "acme.com"),
    },
  ],
  [
    "kept",
    {
      a: copied("high", "acme.com"),
      b: high("removed_disposable", "acme.com"),
      d: high("disposable", "acme.com"),
    },
  ],
  [
    "kept",
    {
      a: low("disposable", "acme.com"),
      b: high("removed_disposable", "acme.com"),
      c: highest("disposable", "acme.com"),
    },
  ],
  ["kept", { a: low("disposable", "x.acme.com"), b: high("removed_disposable", "acme.com") }],
  ["popular_needs_two", { a: high("disposable", "acme.com"), b: curated("popular", "acme.com") }],
  ["kept", { a: high("disposable", "acme.com"), b: high("disposable", "acme.com"), c: curated("popular", "acme.com") }],
  [
    "popular_needs_two",
    { a: high("disposable", "acme.com"), b: low("disposable", "acme.com"), c: curated("popular", "acme.com") },
  ],
  [
    "popular_needs_two",
    {
      a: high("disposable", "acme.com"),
      b: copied("high", "acme.com"),
      c: curated("popular", "acme.com"),
    },
  ],
  ["popular_needs_two", { a: high("disposable", "acme.com"), b: curated("organisation", "acme.com") }],
  ["popular_needs_two", { a: high("disposable", "jobs.acme.com"), b: curated("organisation", "acme.com") }],
  ["popular_needs_two", { a: high("disposable", "acme.com"), b: high("education", "acme.com") }],
  ["kept", { a: low("disposable", "acme.com") }],
  ["low_trust_only_if_unopposed", { a: low("disposable", "acme.com"), b: high("personal", "acme.com") }],
  ["kept", { a: low("disposable", "acme.com"), b: medium("personal", "acme.com") }],
  ["kept", { a: low("disposable", "acme.com"), b: high("personal", "acme.com"), c: high("disposable", "acme.com") }],
  ["low_trust_only_if_unopposed", { a: low("disposable", "x.acme.com"), b: curated("personal", "acme.com") }],
  ["low_trust_only_if_unopposed", { a: low("disposable", "x.acme.com"), b: curated("never_disposable", "acme.com") }],
  ["low_trust_only_if_unopposed", { a: medium("education", "acme.com"), b: curated("popular", "acme.com") }],
  ["kept", { a: high("education", "acme.com"), b: curated("popular", "acme.com") }],
  ["deny_list", { a: high("personal", "acme.com"), b: curated("not_personal", "acme.com") }],
  ["kept", { a: curated("personal", "acme.com"), b: curated("not_personal", "acme.com") }],
  ["organisation_wins", { a: high("personal", "acme.com"), b: curated("organisation", "acme.com") }],
  ["organisation_wins", { a: high("education", "acme.com"), b: curated("organisation", "acme.com") }],
  ["kept", { a: curated("organisation", "acme.com"), b: curated("education", "acme.com") }],
  ["stopped", { a: high("education", "x.acme.com"), b: high("not_education", "acme.com") }],
  ["kept", { a: curated("education", "acme.com"), b: high("not_education", "acme.com") }],
  ["relay_wins", { a: high("disposable", "acme.com"), b: high("relay", "acme.com") }],
  ["relay_wins", { a: high("disposable", "jane.acme.com"), b: curated("relay", "acme.com") }],
  ["relay_wins", { a: curated("personal", "acme.com"), b: curated("relay", "acme.com") }],
  ["curated_government_wins", { a: high("personal", "x.acme.com"), b: curated("government", "acme.com") }],
  ["curated_education_wins", { a: high("personal", "acme.com"), b: curated("education", "acme.com") }],
  ["curated_personal_wins", { a: high("disposable", "acme.com"), b: curated("personal", "acme.com") }],
  ["curated_personal_wins", { a: curated("organisation", "acme.com"), b: curated("personal", "acme.com") }],
  ["kept", { a: high("education", "x.acme.com"), b: curated("personal", "acme.com") }],
  // What curators say of the name itself is more than what others say of its parent.
  ["kept", { a: curated("personal", "x.acme.com"), b: high("relay", "acme.com") }],
  ["relay_wins", { a: high("personal", "x.acme.com"), b: high("relay", "acme.com") }],
  ["curated_education_wins", { a: curated("personal", "x.acme.com"), b: curated("education", "acme.com") }],
  ["government_wins", { a: high("disposable", "acme.com"), b: high("government", "acme.com") }],
  ["disposable_beats_long_tail", { a: high("personal", "acme.com"), b: high("disposable", "acme.com") }],
  [
    "disposable_beats_long_tail",
    {
      a: medium("personal", "acme.com"),
      b: high("disposable", "acme.com"),
      c: curated("never_disposable", "acme.com"),
    },
  ],
  ["education_beats_long_tail", { a: high("personal", "acme.com"), b: high("education", "acme.com") }],
  ["redundant", { a: high("education", "mit.edu"), b: curated("education_suffix", "edu") }],
  ["redundant", { a: high("disposable", "x.acme.com"), b: medium("disposable", "acme.com") }],
  // A weak listing can be contradicted, so it does not stand in for a better one.
  ["kept", { a: low("disposable", "x.acme.com"), b: copied("highest", "acme.com") }],
  // And it takes nothing from the better one of its parent.
  ["redundant", { a: copied("highest", "x.acme.com"), b: low("disposable", "acme.com") }],
  ["kept", { a: high("education", "x.edu.kg"), b: curated("open_education_suffix", "edu.kg") }],
  [
    "redundant",
    { a: high("education", "mit.edu"), b: curated("education_suffix", "edu"), c: high("personal", "mit.edu") },
  ],
  ["under_government_suffix", { a: high("education", "af.mil"), b: curated("government_suffix", "mil") }],
  ["kept", { a: curated("education", "usma.mil"), b: curated("government_suffix", "mil") }],
  ["kept", { a: high("disposable", "x.github.io"), b: high("disposable", "github.io") }],
  // A registrable name can be the parent of a public suffix; it does not match names registered there.
  ["kept", { a: high("disposable", "x.s3.amazonaws.com"), b: high("disposable", "amazonaws.com") }],
  // A suffix is told as the reason of what is under it, also below another one.
  ["kept", { a: curated("education_suffix", "k12.edu"), b: curated("education_suffix", "edu") }],
]

for (const [index, [expected, sources]] of CASES.entries())
  test(`rules, case ${index}: ${Object.values(sources)
    .map(({ trust, set, names }) => `${trust} ${set} ${names}`)
    .join(" + ")} gives ${expected}`, () => {
    expect(outcome(sources)).toBe(expected)
  })

test("every listing rule has a case", () => {
  const ofNames = ["malformed", "unknown_tld"]
  const missing = LISTING_RULE_NAMES.filter(
    rule => !ofNames.includes(rule) && !CASES.some(([expected]) => expected === rule),
  )
  expect(missing).toEqual([])
})

test("an operator's own list overrules a never-list that was downloaded, and none that is built in", () => {
  const { catalogue, shelf } = fakeSourceFiles({
    a: high("disposable", "acme.com"),
    b: high("never_disposable", "acme.com"),
    c: curated("never_disposable", "other.com"),
  })
  const read = readSourceBundle(catalogue, shelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  const outcomeOf = (own: boolean, curatedNames: readonly string[]): ListingOutcome | undefined => {
    const sources = read.bundle.sources.map(source => {
      const { id, from } = source.row
      if (id === "b") return { ...source, row: { ...source.row, from: { ...from, url: "https://b.example/" } } }
      if (id === "c") return { ...source, entries: curatedNames }
      return own
        ? { ...source, row: { ...source.row, from: { ...from, url: "https://a.example/", file: "" } } }
        : source
    })
    const built = buildPack({ ...read.bundle, sources })
    if (built.kind === "refused") throw new Error(built.faults.join("\n"))
    return openedPack(built.bytes)
      .listingsOf("acme.com")
      .find(({ source }) => source === "a")?.outcome
  }
  expect([outcomeOf(true, []), outcomeOf(false, []), outcomeOf(true, ["acme.com"])]).toEqual([
    "kept",
    "never_list",
    "never_list",
  ])
})
