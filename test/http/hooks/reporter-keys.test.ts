import { describe, expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import fc from "fast-check"
import type { DownloadResult } from "../../../src/check/fetch/download.ts"
import {
  createReporterKeyLookup,
  KEY_FETCH_RATE,
  KEYS_TTL_MS,
  parseKeySet,
  UNKNOWN_IDENTIFIER_MS,
} from "../../../src/http/hooks/reporter-keys.ts"
import { keysDocument, type Signer, signer } from "../../support/leak-reporter.ts"
import { createFakeTime } from "../../support/time.ts"

const [one, two] = [signer("one"), signer("two")]
const ETAG = { etag: '"v1"', lastModified: null }
const FETCH_MS = 1000 / KEY_FETCH_RATE.perSecond

const taken = (text: string): DownloadResult => ({ kind: "taken", text, validators: ETAG })
const published = (...signers: readonly Signer[]): DownloadResult => taken(keysDocument(...signers))
const FAILED: DownloadResult = { kind: "failed", message: "Nobody answered." }

/** A look-up over a document that the test changes, and what was asked for it. */
function lookUp(first: DownloadResult) {
  const time = createFakeTime()
  const requests: unknown[] = []
  const complaints: string[] = []
  let answer: () => Promise<DownloadResult> = async () => first
  const find = createReporterKeyLookup({
    download: known => {
      requests.push(known)
      return answer()
    },
    clock: time.clock,
    stopwatch: time.stopwatch,
    onWarning: description => void complaints.push(description),
  })
  return {
    time,
    requests,
    complaints,
    kindOf: async (identifier: string, client = "192.0.2.1") => (await find(identifier, client)).kind,
    set: (next: DownloadResult) => {
      answer = async () => next
    },
    setLater: (next: () => Promise<DownloadResult>) => {
      answer = next
    },
  }
}

describe("the keys", () => {
  test("are fetched when the first report comes, and held for an hour", async () => {
    const { kindOf, requests, time } = lookUp(published(one))
    expect(requests).toHaveLength(0)
    expect(await kindOf("one")).toBe("found")
    await time.tick(KEYS_TTL_MS - 1)
    expect(await kindOf("one")).toBe("found")
    expect(requests).toEqual([null])
    await time.tick(1)
    expect(await kindOf("one")).toBe("found")
    expect(requests).toEqual([null, ETAG])
  })

  test("are held for another hour when the server says that nothing changed", async () => {
    const { kindOf, requests, time, set, complaints } = lookUp(published(one))
    await kindOf("one")
    set({ kind: "unchanged" })
    await time.tick(KEYS_TTL_MS)
    expect(await kindOf("one")).toBe("found")
    await time.tick(KEYS_TTL_MS - 1)
    expect(await kindOf("one")).toBe("found")
    expect([requests.length, complaints]).toEqual([2, []])
  })

  test("are fetched at once for an identifier that is new, which may have come since", async () => {
    const { kindOf, requests, set } = lookUp(published(one))
    expect(await kindOf("one")).toBe("found")
    set(published(two))
    expect(await kindOf("two")).toBe("found")
    expect(await kindOf("one")).toBe("unknown")
    expect(requests).toHaveLength(3)
  })

  test("that are withdrawn hold for the rest of their hour, and no longer", async () => {
    const { kindOf, time, set } = lookUp(published(one, two))
    await kindOf("one")
    set(published(two))
    await time.tick(KEYS_TTL_MS - 1)
    expect(await kindOf("one")).toBe("found")
    await time.tick(1)
    expect(await kindOf("one")).toBe("unknown")
  })
})

describe("a flood of made-up identifiers", () => {
  test("of many clients has the keys fetched five times, then once each two minutes, and a known one is found", async () => {
    const { kindOf, requests, time } = lookUp(published(one))
    const flood = (from: number) =>
      Promise.all(Array.from({ length: 500 }, (_, at) => kindOf(`made-up-${from + at}`, `192.0.2.${at % 250}`)))
    for (let at = 0; at < 500; at++) await kindOf(`made-up-${at}`, `192.0.2.${at % 250}`)
    expect(requests).toHaveLength(KEY_FETCH_RATE.burst)
    expect(await kindOf("one")).toBe("found")
    await time.tick(FETCH_MS - 1)
    expect(new Set(await flood(1000))).toEqual(new Set(["unavailable"]))
    expect(requests).toHaveLength(KEY_FETCH_RATE.burst)
    await time.tick(1)
    await flood(2000)
    expect(requests).toHaveLength(KEY_FETCH_RATE.burst + 1)
  })

  test("has an identifier called unknown only when a document that was fetched for it lacks it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(8), fc.nat(3), fc.constantFrom(0, 1, 60_000, FETCH_MS, KEYS_TTL_MS)), {
          minLength: 1,
          maxLength: 40,
        }),
        async visits => {
          const { kindOf, requests, time } = lookUp(published(one))
          const unknown = new Map<string, number>()
          for (const [identifier, client, laterMs] of visits) {
            const before = requests.length
            const kind = await kindOf(`made-up-${identifier}`, `192.0.2.${client}`)
            if (requests.length > before) unknown.set(`made-up-${identifier}`, time.stopwatch())
            const knownSince = unknown.get(`made-up-${identifier}`) ?? Number.NEGATIVE_INFINITY
            expect(kind).toBe(time.stopwatch() < knownSince + UNKNOWN_IDENTIFIER_MS ? "unknown" : "unavailable")
            await time.tick(laterMs)
          }
        },
      ),
    )
  })

  test("of one client leaves a fetch for the new key of a true report, at any time", async () => {
    const { kindOf, set, time } = lookUp(published(one))
    let count = 0
    for (let minute = 0; minute < 60; minute++) {
      for (let at = 0; at < 20; at++) await kindOf(`made-up-${count++}`)
      await time.tick(60_000)
    }
    set(published(one, two))
    for (let at = 0; at < 20; at++) await kindOf(`made-up-${count++}`)
    expect(await kindOf("two", "203.0.113.1")).toBe("found")
  })

  test("of many clients delays the new key of a true report by two minutes at most, and never makes it unknown", async () => {
    const { kindOf, set, time } = lookUp(published(one))
    const flood = async () => {
      for (let at = 0; at < 50; at++) await kindOf(`made-up-${time.stopwatch()}-${at}`, `192.0.2.${at}`)
    }
    await flood()
    set(published(one, two))
    expect(await kindOf("two", "203.0.113.1")).toBe("unavailable")
    await time.tick(FETCH_MS)
    await flood()
    expect(await kindOf("two", "203.0.113.1")).toBe("found")
  })

  test("of which each comes again and again costs one fetch in two minutes each", async () => {
    const { kindOf, requests, time } = lookUp(published(one))
    await kindOf("one")
    for (let at = 0; at < 100; at++) expect(await kindOf("made-up")).toBe("unknown")
    expect(requests).toHaveLength(2)
    await time.tick(UNKNOWN_IDENTIFIER_MS - 1)
    expect(await kindOf("made-up")).toBe("unknown")
    expect(requests).toHaveLength(2)
    await time.tick(1)
    expect(await kindOf("made-up")).toBe("unknown")
    expect(requests).toHaveLength(3)
  })

  test("that comes at once waits for one fetch", async () => {
    const { kindOf, requests, setLater } = lookUp(published(one))
    const answered = Promise.withResolvers<DownloadResult>()
    setLater(() => answered.promise)
    const kinds = Promise.all(
      ["one", ...Array.from({ length: 100 }, (_, at) => `made-up-${at}`)].map(each => kindOf(each)),
    )
    answered.resolve(published(one))
    expect((await kinds).filter(kind => kind === "found")).toHaveLength(1)
    expect(requests).toHaveLength(1)
  })

  test("does not keep keys that are too old, but good, from serving", async () => {
    const { kindOf, time, requests } = lookUp(published(one))
    await kindOf("one")
    await time.tick(KEYS_TTL_MS - 1)
    for (let at = 0; at < 100; at++) await kindOf("made-up")
    const askedCount = requests.length
    await time.tick(KEYS_TTL_MS)
    for (let at = 0; at < 100; at++) await kindOf("made-up")
    expect(await kindOf("one")).toBe("found")
    expect(requests.length).toBeGreaterThan(askedCount)
  })
})

describe("when a fetch fails", () => {
  test.each([
    ["nobody answers", FAILED, "Nobody answered."],
    ["what came is no JSON", taken("nonsense"), "It has no key."],
    ["what came has no key", taken('{"public_keys":[]}'), "It has no key."],
  ] as const)(
    "since %s, the last good copy serves, and nobody can tell of another key",
    async (_, came, description) => {
      const { kindOf, time, set, complaints } = lookUp(published(one))
      await kindOf("one")
      set(came)
      await time.tick(KEYS_TTL_MS)
      expect(await kindOf("one")).toBe("found")
      expect(await kindOf("two")).toBe("unavailable")
      expect(new Set(complaints)).toEqual(new Set([description]))
      set(published(one, two))
      await time.tick(FETCH_MS)
      expect(await kindOf("two")).toBe("found")
      expect(await kindOf("three")).toBe("unknown")
    },
  )

  test("and there never was a copy, no key can be had, and that is complained of once a fetch", async () => {
    const { kindOf, requests, complaints, time, set } = lookUp(FAILED)
    for (let at = 0; at < 100; at++) expect(await kindOf("one")).toBe("unavailable")
    expect([requests.length, complaints.length]).toEqual([KEY_FETCH_RATE.burst, KEY_FETCH_RATE.burst])
    set(published(one))
    await time.tick(FETCH_MS)
    expect(await kindOf("one")).toBe("found")
  })

  test("a server that says that nothing changed to whom it gave nothing gave no copy", async () => {
    expect(await lookUp({ kind: "unchanged" }).kindOf("one")).toBe("unavailable")
  })
})

/** A key on the curve whose name is nearest, which the runtime makes none on. */
const SECP256K1 =
  "-----BEGIN PUBLIC KEY-----\nMFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEXkHt9dypywM2xbENwCyhx/fWXlO3R0Nl\n/E25Mmz0axMCEPNc71c0lPtQxsmAyxZSFx0F8gW4TL8B4o/NioOpyw==\n-----END PUBLIC KEY-----\n"

const current = signer("current")
const former = signer("former", "P-256", false)

const identifiersIn = (text: string): readonly string[] => [...(parseKeySet(text)?.keys() ?? [])]

test("every key on P-256 that is published is read, be it current or not", () => {
  expect(identifiersIn(keysDocument(current, former))).toEqual(["current", "former"])
})

test("a key of another curve or kind, and what is no key, is left out and costs the others nothing", () => {
  const { publicKey } = generateKeyPairSync("ed25519")
  const entries: unknown[] = [
    signer("P-384", "P-384").published,
    signer("P-521", "P-521").published,
    { key_identifier: "secp256k1", key: SECP256K1 },
    { key_identifier: "ed25519", key: publicKey.export({ type: "spki", format: "pem" }) },
    { ...current.published, key: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n" },
    { ...current.published, key: 1 },
    { ...current.published, key_identifier: "" },
    { ...current.published, key_identifier: null },
    null,
    "key",
    [],
    former.published,
  ]
  expect(identifiersIn(JSON.stringify({ public_keys: entries }))).toEqual(["former"])
})

test("a document without a key is none", () => {
  for (const text of [
    ...["", "nonsense", "null", "[]", "{}", '{"public_keys":null}', '{"public_keys":[]}', '{"public_keys":{}}'],
    "[".repeat(60_000),
    keysDocument(signer("other", "P-384")),
  ])
    expect(parseKeySet(text)).toBeNull()
})

test("a hundred keys are read, and no more", () => {
  const entries = Array.from({ length: 101 }, (_, at) => ({ ...current.published, key_identifier: `key-${at}` }))
  expect(identifiersIn(JSON.stringify({ public_keys: entries }))).toHaveLength(100)
})

test("no document makes it throw", () => {
  fc.assert(fc.property(fc.json(), text => void parseKeySet(text)))
  fc.assert(fc.property(fc.array(fc.anything()), entries => void parseKeySet(JSON.stringify({ public_keys: entries }))))
})
