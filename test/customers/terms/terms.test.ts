import { describe, expect, test } from "bun:test"
import { createAccount, findAccount } from "../../../src/customers/accounts/accounts.ts"
import { latestChangeId } from "../../../src/customers/store/change-log/change-log.ts"
import {
  acceptTerms,
  countUnaccepted,
  currentTermsVersion,
  listTerms,
  previewPublication,
  publishTerms,
} from "../../../src/customers/terms/terms.ts"
import { noticeEndsAtMs } from "../../../src/customers/terms/terms-notices.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

const URL = "https://example.com/terms"

async function opened(path = tempPlace()) {
  const store = await tempStore(path)
  const log = tempLog(store)
  const publish = (version: string, isMaterial = false, url = URL) => publishTerms(log, { version, url, isMaterial })
  return { path, store, log, publish }
}

describe("publication", () => {
  test("terms are published with their date, told to others, and survive a restart", async () => {
    const { path, store, log, publish } = await opened()
    const terms = { version: "2026-01", url: URL, isMaterial: true, publishedAtMs: 5_000 }
    expect(await publish("2026-01", true)).toEqual({ kind: "published", terms, isNew: true })
    expect(log.received).toEqual([{ kind: "terms_published", subject: "2026-01" }])
    await store.close()
    expect(await listTerms(await tempStore(path))).toEqual([terms])
  })

  test("the same terms again are what they were, and nobody is told", async () => {
    const { store, log, publish } = await opened()
    const first = await publish("1", true, "https://Example.com/terms")
    log.now = 9_000
    expect(await publish("1", true)).toEqual({ ...first, isNew: false } as typeof first)
    expect(await listTerms(store)).toHaveLength(1)
    expect(await latestChangeId(store)).toBe(1)
    expect(log.received).toHaveLength(1)
  })

  test("other terms under a version that exists are refused, and nothing changes", async () => {
    const { store, publish } = await opened()
    const terms = { version: "1", url: URL, isMaterial: true, publishedAtMs: 5_000 }
    await publish("1", true)
    expect(await publish("1", false)).toEqual({ kind: "version_taken", terms })
    expect(await publish("1", true, `${URL}/2`)).toEqual({ kind: "version_taken", terms })
    expect(await listTerms(store)).toEqual([terms])
    expect(await latestChangeId(store)).toBe(1)
  })

  test.each(["1", "v2.0_b-1", "a".repeat(40), "..."])("%p can be a version", async version => {
    const { publish } = await opened()
    expect((await publish(version)).kind).toBe("published")
  })

  test.each(["", " ", "1 ", "a".repeat(41), 'a"b', "a\r\nb", "a\n", "ä", "a/b", "１"])(
    "%p can be no version, and nothing is stored",
    async version => {
      const { store, publish } = await opened()
      expect(await publish(version)).toEqual({ kind: "bad_version" })
      expect(await listTerms(store)).toEqual([])
    },
  )

  test("an address that terms cannot have is refused, and nothing is stored", async () => {
    const { store, publish } = await opened()
    expect(await publish("1", true, "example.com/terms")).toEqual({ kind: "bad_url" })
    expect(await listTerms(store)).toEqual([])
  })

  test("what was published later is dated later, in the same millisecond and when the clock was set back", async () => {
    const { store, log, publish } = await opened()
    await publish("b")
    await publish("a")
    log.now = 10
    await publish("c")
    log.now = 6_000
    await publish("d")
    const dates = (await listTerms(store)).map(({ version, publishedAtMs }) => `${version} ${publishedAtMs}`)
    expect(dates).toEqual(["d 6000", "c 5002", "a 5001", "b 5000"])
    expect(await currentTermsVersion(store)).toBe("d")
  })

  test("of many who publish one version at once, on two connections, one is new", async () => {
    const path = tempPlace()
    const [one, other] = [await opened(path), await opened(path)]
    const requests = Array.from({ length: 10 }, (_, n) => (n % 2 ? one : other).publish("1", true))
    const isNew = (await Promise.all(requests)).map(published => published.kind === "published" && published.isNew)
    expect(isNew.filter(Boolean)).toHaveLength(1)
    expect(await latestChangeId(one.store)).toBe(1)
  })

  test("without terms there is no current version", async () => {
    const { store } = await opened()
    expect(await currentTermsVersion(store)).toBeNull()
    expect(await listTerms(store)).toEqual([])
  })

  test("a notice is thirty days of 24 hours", () => {
    const terms = { version: "1", url: URL, isMaterial: true, publishedAtMs: Date.UTC(2026, 2, 1, 12) }
    expect(new Date(noticeEndsAtMs(terms)).toISOString()).toBe("2026-03-31T12:00:00.000Z")
  })
})

describe("acceptance", () => {
  test("the current terms are accepted, material or not, and others are told", async () => {
    const { store, log, publish } = await opened()
    const id = await newAccount(log)
    await publish("1", true)
    await publish("2")
    log.received.length = 0
    log.now = 7_000
    expect(await acceptTerms(log, id)).toMatchObject({
      kind: "accepted",
      terms: { version: "2" },
      acceptedAtMs: 7_000,
      isNew: true,
    })
    expect(await findAccount(store, id)).toMatchObject({ acceptedTermsVersion: "2", acceptedTermsAtMs: 7_000 })
    expect(log.received).toEqual([{ kind: "account_changed", subject: id }])
  })

  test("accepting twice is accepting once, at the first time; but this process drops what it holds of the account", async () => {
    const { store, log, publish } = await opened()
    const id = await newAccount(log)
    await publish("1", true)
    log.now = 7_000
    const first = await acceptTerms(log, id)
    const upTo = await latestChangeId(store)
    log.now = 8_000
    log.received.length = 0
    expect(await acceptTerms(log, id)).toEqual({ ...first, isNew: false } as typeof first)
    expect(await latestChangeId(store)).toBe(upTo)
    expect(log.received).toEqual([{ kind: "account_changed", subject: id }])
  })

  test("nothing is accepted before terms are published, nor for an account that does not exist", async () => {
    const { store, log, publish } = await opened()
    const id = await newAccount(log)
    const before = await findAccount(store, id)
    log.now = 7_000
    expect(await acceptTerms(log, id)).toEqual({ kind: "none_published" })
    expect(await acceptTerms(log, "acc_x")).toEqual({ kind: "unknown_account" })
    expect(await findAccount(store, id)).toEqual(before)
    await publish("1", true)
    expect(await acceptTerms(log, "acc_x")).toEqual({ kind: "unknown_account" })
    expect(log.received).toEqual([{ kind: "terms_published", subject: "1" }])
  })

  test("an acceptance is not dated before what it accepts", async () => {
    const { log, publish } = await opened()
    const id = await newAccount(log)
    log.now = 6_000
    await publish("1", true)
    log.now = 10
    expect(await acceptTerms(log, id)).toMatchObject({ acceptedAtMs: 6_000 })
  })

  test("an account that was made before its first terms, by a clock that was ahead, has not accepted them", async () => {
    const { store, log, publish } = await opened()
    const [ahead, before] = [await newAccount(log, "a@x.com"), await newAccount(log, "b@x.com")]
    log.now = 4_000
    const other = await newAccount(log, "c@x.com")
    await publish("1", true)
    expect(await countUnaccepted(store)).toBe(3)
    const times = [ahead, before, other].map(async id => (await findAccount(store, id))?.acceptedTermsAtMs)
    expect(await Promise.all(times)).toEqual([3_999, 3_999, 3_999])
    expect(log.received.filter(({ kind }) => kind === "account_changed").map(({ subject }) => subject)).toEqual(
      expect.arrayContaining([ahead, before, other]),
    )
  })

  test("a publication leaves the time alone at which an account accepted a version", async () => {
    const { store, log, publish } = await opened()
    await publish("1", true)
    log.now = 9_000
    const wanted = { email: "a@x.com", tier: 0, termsVersion: await currentTermsVersion(store) }
    const made = await createAccount(log, random, wanted)
    log.now = 7_000
    await publish("2", true)
    expect(made).toMatchObject({ kind: "created", account: { acceptedTermsAtMs: 9_000 } })
    if (made.kind === "created") expect(await findAccount(store, made.account.id)).toEqual(made.account)
    expect(await countUnaccepted(store)).toBe(1)
  })
})

test("accounts are counted that have yet to accept material terms", async () => {
  const { store, log, publish } = await opened()
  expect(await countUnaccepted(store)).toBe(0)
  const ids = [await newAccount(log, "a@x.com"), await newAccount(log, "b@x.com")]
  expect(await countUnaccepted(store)).toBe(0)
  log.now = 6_000
  await publish("1")
  expect(await countUnaccepted(store)).toBe(0)
  await publish("2", true)
  expect(await countUnaccepted(store)).toBe(2)
  await acceptTerms(log, ids[0] ?? "")
  expect(await countUnaccepted(store)).toBe(1)
  await publish("3")
  expect(await countUnaccepted(store)).toBe(1)
  await publish("4", true)
  expect(await countUnaccepted(store)).toBe(2)
  log.now = 9_000
  await newAccount(log, "made-since@x.com")
  expect(await countUnaccepted(store)).toBe(2)
  await store.run("UPDATE accounts SET accepted_terms_version = NULL, accepted_terms_at_ms = NULL")
  expect(await countUnaccepted(store)).toBe(3)
})

test("what a publication would come to is told as it then does, and nothing is published", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  const wanted = { version: "1", url: "https://a.example/terms", isMaterial: true }
  const weigh = (more: Partial<typeof wanted> = {}) => previewPublication(store, log.clock, { ...wanted, ...more })
  const weighed = await weigh({ url: "HTTPS://A.example/terms" })
  expect(weighed).toEqual({ kind: "publishable", terms: { ...wanted, publishedAtMs: 5_000 } })
  expect(await listTerms(store)).toEqual([])
  const published = await publishTerms(log, wanted)
  expect(published).toMatchObject({ kind: "published", terms: { ...wanted, publishedAtMs: 5_000 } })
  expect(await weigh()).toEqual(await publishTerms(log, wanted))
  for (const other of [{ url: "https://b.example/" }, { isMaterial: false }, { version: "" }, { url: "" }])
    expect(await weigh(other)).toEqual(await publishTerms(log, { ...wanted, ...other }))
  log.now = 1
  expect(await weigh({ version: "2" })).toMatchObject({ kind: "publishable", terms: { publishedAtMs: 5_001 } })
})
