import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseAddressOrDomain, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { parseEntry } from "../../../src/customers/own-lists/entries.ts"
import {
  OWN_LIST_CACHE_BOUNDS,
  OwnListCache,
  type OwnListLookup,
} from "../../../src/customers/own-lists/own-list-cache.ts"
import {
  addEntries,
  type ListOwner,
  listEntries,
  OWN_LISTS,
  removeEntries,
} from "../../../src/customers/own-lists/own-lists.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"

/** Block and allow lists as anybody would write them: entries as texts, each tried in turn. */
class ReferenceLists {
  readonly #entries = new Map<string, Set<string>>()

  /** The entries of a list, such as `own block`. */
  on(list: string): Set<string> {
    const entries = this.#entries.get(list) ?? new Set()
    this.#entries.set(list, entries)
    return entries
  }

  /** What the lists say of a domain or a normalized address. */
  lookup(input: string): OwnListLookup {
    const byAccount = this.#has("own block", input) ? "account" : null
    return {
      blockedBy: this.#has("operator block", input) ? "operator" : byAccount,
      isAllowed: this.#has("own allow", input),
      isOperatorAllowed: this.#has("operator allow", input),
    }
  }

  #has(list: string, text: string): boolean {
    return [...this.on(list)].some(entry => covers(entry, text))
  }
}

function covers(entry: string, requests: string): boolean {
  const domain = requests.slice(requests.indexOf("@") + 1)
  if (entry.includes("@")) return entry === requests || entry === requests.replace(/\+[^@]*/, "")
  if (entry.startsWith("*.")) return domain.endsWith(entry.slice(1))
  return domain === entry || domain.endsWith(`.${entry}`)
}

const label = fc.constantFrom("a", "b", "ab", "xn--bcher-kva")
const domain = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.constantFrom("com", "co.uk", "a"))
  .map(([labels, top]) => [...labels, top].join("."))
const address = fc.tuple(fc.constantFrom("jane", "jane+x", "jane+y", "joan", "a"), domain).map(parts => parts.join("@"))
const entry = fc.oneof(
  domain,
  address,
  domain.map(name => `*.${name}`),
)
const step = fc.record({
  owner: fc.constantFrom("own", "other", "operator"),
  list: fc.constantFrom(...OWN_LISTS),
  texts: fc.array(entry, { minLength: 1, maxLength: 4 }),
  isAdded: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test("a standing is what the entries on the lists say one by one, after any additions and removals", async () => {
  const log = tempLog(await tempStore())
  const other = { accountId: await newAccount(log, "other@example.com") }
  let round = 0
  const steps = fc.array(step, { maxLength: 8 })
  const questions = fc.array(fc.oneof(domain, address), { minLength: 1, maxLength: 8 })
  const law = fc.asyncProperty(steps, questions, async (taken, requests) => {
    const own = { accountId: await newAccount(log, `own${round++}@example.com`) }
    const owners = { own, other, operator: "operator" } as const
    const lists = new OwnListCache(log.store, OWN_LIST_CACHE_BOUNDS)
    const naive = new ReferenceLists()
    const standing = (text: string) =>
      lists.lookup(own.accountId, parseSubject(text.includes("@") ? "email" : "domain", text, ""))
    for (const one of taken) {
      await take({ ...log, notify: changes => lists.applyChanges(changes) }, owners[one.owner], one)
      note(naive, one)
      // Something is held, so that the next step has something to drop.
      await standing("a.com")
    }
    for (const text of requests) expect(await standing(text)).toEqual(naive.lookup(text))
    for (const owner of [other, "operator"] as const) await empty(log, owner)
  })
  await fc.assert(law, { numRuns: 150 })
}, 30_000)

async function take(log: AttributedLog, owner: ListOwner, { list, texts, isAdded }: Step): Promise<void> {
  const entries = texts.map(text => parseEntry(text, parseAddressOrDomain)).filter(parsed => parsed !== null)
  expect(entries).toHaveLength(texts.length)
  await (isAdded ? addEntries : removeEntries)(log, owner, list, entries)
}

function note(naive: ReferenceLists, { owner, list, texts, isAdded }: Step): void {
  const on = naive.on(`${owner} ${list}`)
  for (const text of texts) {
    if (isAdded) on.add(text)
    else on.delete(text)
  }
}

/** Rounds know nothing of each other. */
async function empty(log: AttributedLog, owner: ListOwner): Promise<void> {
  for (const list of OWN_LISTS)
    await removeEntries(log, owner, list, await listEntries(log.store, owner, list, "", 1000))
}
