import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { createAccount, findAccount } from "../../../src/customers/accounts/accounts.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { acceptTerms, countUnaccepted, currentTermsVersion, publishTerms } from "../../../src/customers/terms/terms.ts"
import { TermsCache } from "../../../src/customers/terms/terms-cache.ts"
import { noticeEndsAtMs } from "../../../src/customers/terms/terms-notices.ts"
import { freshStore, random, tempLog } from "../temp-store.ts"

setDefaultTimeout(300_000)

const DAY_MS = 86_400_000

/**
 * The real parts beside a model. The model knows no time but when a notice ends: what an account has accepted is how
 * many publications it has seen.
 */
function worlds(store: OpenStore) {
  const log = tempLog(store)
  log.now = 100 * DAY_MS
  const published: { readonly isMaterial: boolean; readonly endsAtMs: number }[] = []
  const accounts: { readonly id: string; seenCount: number }[] = []
  const stateOf = (seenCount: number) => {
    const first = published.slice(seenCount).find(({ isMaterial }) => isMaterial)
    if (first === undefined) return "accepted"
    return log.now < first.endsAtMs ? "grace" : "not_accepted"
  }
  return { log, published, accounts, stateOf }
}
type Worlds = ReturnType<typeof worlds>
type Step = (both: Worlds) => Promise<void>

const publish =
  (isMaterial: boolean): Step =>
  async ({ log, published }) => {
    const wanted = { version: `${published.length}`, url: "https://example.com/", isMaterial }
    const made = await publishTerms(log, wanted)
    if (made.kind === "published") published.push({ isMaterial, endsAtMs: noticeEndsAtMs(made.terms) })
  }

const makeAccount: Step = async ({ log, published, accounts }) => {
  const termsVersion = await currentTermsVersion(log.store)
  const made = await createAccount(log, random, { email: `a${accounts.length}@x.com`, tier: 0, termsVersion })
  if (made.kind === "created") accounts.push({ id: made.account.id, seenCount: published.length })
}

const accept =
  (which: number): Step =>
  async ({ log, published, accounts }) => {
    const account = accounts[which % accounts.length]
    if (account === undefined) return
    await acceptTerms(log, account.id)
    account.seenCount = published.length
  }

const moveClock =
  (ms: number): Step =>
  async ({ log }) => {
    log.now = Math.max(0, log.now + ms)
  }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.boolean().map(publish),
    fc.constant(makeAccount),
    fc.nat(5).map(accept),
    fc.integer({ min: -20 * DAY_MS, max: 40 * DAY_MS }).map(moveClock),
  ),
  { maxLength: 30 },
)

test("an account owes the material terms published since it was made or accepted, however the clock runs, and the count agrees", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async taken => {
      await using temporary = await freshStore()
      const both = worlds(temporary.store)
      for (const step of taken) await step(both)
      const { log, accounts, stateOf } = both
      const held = new TermsCache(log.store, log.clock, () => undefined)
      await held.load()
      for (const { id, seenCount } of accounts) {
        const account = await findAccount(log.store, id)
        expect(account && held.stateOf(account).kind).toBe(stateOf(seenCount))
      }
      const owing = accounts.filter(({ seenCount }) => stateOf(seenCount) !== "accepted")
      expect(await countUnaccepted(log.store)).toBe(owing.length)
    }),
    { numRuns: 40 },
  )
})
