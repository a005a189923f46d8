import { expect, spyOn, test } from "bun:test"
import { CompressedCache } from "../../src/base/compressed-cache.ts"

/** As long as evidence often is. */
const EVIDENCE = {
  mx: Array.from({ length: 5 }, (_, at) => ({ priority: at, host: `mx${at}.example.net`, provider: null })),
  spf: { known: true, value: "v=spf1 include:spf.example.net -all" },
  dmarcPolicy: { known: true, value: "reject" },
}

test("every value is found under its key, as it was last cached", () => {
  const cache = new CompressedCache<{ at: number; mx: typeof EVIDENCE.mx }>(10_000_000)
  for (let at = 0; at < 20_000; at++) cache.set(`a${at % 15_000}.com`, { at, mx: EVIDENCE.mx })
  for (let key = 0; key < 15_000; key++)
    expect(cache.get(`a${key}.com`)).toEqual({ at: key < 5_000 ? key + 15_000 : key, mx: EVIDENCE.mx })
  expect(cache.get("a15000.com")).toBeUndefined()
  expect(cache.get("a1.co")).toBeUndefined()
})

test("alike values take a fifth of their text at most, with the hash table, and the oldest are dropped at the bound", () => {
  const cache = new CompressedCache<typeof EVIDENCE & { at: number }>(1_000_000)
  let textBytes = 0
  for (let at = 0; at < 100_000; at++) {
    const value = { ...EVIDENCE, at }
    textBytes += JSON.stringify(value).length
    cache.set(`quay${at}-freight.com`, value)
    expect(cache.bytes).toBeLessThanOrEqual(1_000_000)
  }
  const { bytes } = cache
  // Few are read, since what is read is kept.
  const newestFirst = Array.from({ length: 1000 }, (_, at) => 99_999 - 100 * at)
  const kept = newestFirst.filter(at => cache.get(`quay${at}-freight.com`)?.at === at)
  expect(kept).toEqual(newestFirst.slice(0, kept.length))
  expect((textBytes * kept.length) / 1000 / bytes).toBeGreaterThan(5)
})

test("at the bound, no more than a few of the values are forgotten at a time, also where the hash table is full", () => {
  const cache = new CompressedCache<Omit<typeof EVIDENCE, "spf"> & { readonly spf: string }>(1_048_576)
  const keyOf = (at: number): string => `quay${at}-freight.com`
  /** No key is read in two rounds, since what is read is kept. */
  const keptOf = (last: number, round: number): number => {
    let from = last
    while (from > round && cache.get(keyOf(from - 1 - round)) !== undefined) from -= 200
    return last - from
  }
  const kept: number[] = []
  for (let at = 0; at < 60_000; at++) {
    cache.set(keyOf(at), { ...EVIDENCE, spf: Bun.hash(`${at}`).toString(36) })
    if (at % 2000 === 1999) kept.push(keptOf(at + 1, kept.length))
  }
  const most = Math.max(...kept)
  expect(most).toBeLessThan(30_000)
  expect(Math.min(...kept.slice(kept.indexOf(most)))).toBeGreaterThan(0.85 * most)
})

test("values that are read now and then outlive those that nobody reads", () => {
  const cache = new CompressedCache<typeof EVIDENCE & { at: number }>(1_000_000)
  const read = Array.from({ length: 100 }, (_, at) => `read${at}-freight.com`)
  for (const [at, key] of read.entries()) cache.set(key, { ...EVIDENCE, at })
  for (let at = 0; at < 200_000; at++) {
    cache.set(`quay${at}-freight.com`, { ...EVIDENCE, at })
    if (at % 2000 === 0) for (const [of, key] of read.entries()) expect(cache.get(key)?.at).toBe(of)
    expect(cache.bytes).toBeLessThanOrEqual(1_000_000)
  }
  expect(cache.get("quay0-freight.com")).toBeUndefined()
})

test("a value with line breaks and tabs, and a key that looks like one of them, are told apart", () => {
  const cache = new CompressedCache<string>(100_000)
  for (let at = 0; at < 100; at++) cache.set(`key ${at}`, `first\nkey ${at + 1}\t"second"\n`)
  for (let at = 0; at < 100; at++) expect(cache.get(`key ${at}`)).toBe(`first\nkey ${at + 1}\t"second"\n`)
  expect(() => cache.set("two\nlines", "")).toThrow()
})

test("values that do not fit onto one page are kept too, beside short ones", () => {
  const cache = new CompressedCache<string>(10_000_000)
  const long = (at: number): string =>
    Array.from({ length: 5000 }, (_, part) => Bun.hash(`${at} ${part}`).toString(36)).join("")
  const value = (at: number): string => (at % 64 < 16 ? long(at) : `short ${at}`)
  for (let at = 0; at < 256; at++) cache.set(`key ${at}`, value(at))
  for (let at = 0; at < 256; at++) expect(cache.get(`key ${at}`)).toBe(value(at))
})

test("a key that is cached again and again is read from one block", () => {
  const cache = new CompressedCache<number>(10_000_000)
  for (let round = 0; round < 1000; round++) for (let key = 0; key < 32; key++) cache.set(`key ${key}`, round)
  const unpack = spyOn(Bun, "zstdDecompressSync")
  try {
    expect(cache.get("key 0")).toBe(999)
    expect(unpack).toHaveBeenCalledTimes(1)
  } finally {
    unpack.mockRestore()
  }
})

test("keys that are cached again and again displace no others by their number", () => {
  const cache = new CompressedCache<number>(400_000)
  for (let key = 0; key < 1000; key++) cache.set(`key ${key}`, key)
  for (let round = 0; round < 2000; round++) for (let key = 0; key < 16; key++) cache.set(`again ${key}`, key)
  for (let key = 0; key < 1000; key++) expect(cache.get(`key ${key}`)).toBe(key)
})

test("a short value does not have to be unpacked with many long ones", () => {
  const cache = new CompressedCache<string>(10_000_000)
  for (let at = 0; at < 15; at++) cache.set(`long ${at}`, "a".repeat(60_000))
  cache.set("short", "b")
  for (let at = 0; at < 16; at++) cache.set(`next ${at}`, "c")
  const unpack = spyOn(Bun, "zstdDecompressSync")
  try {
    expect(cache.get("short")).toBe("b")
    const results = unpack.mock.results.map(({ value }) => (value instanceof Uint8Array ? value.length : 0))
    expect(results.every(length => length < 100_000)).toBe(true)
  } finally {
    unpack.mockRestore()
  }
})

test("after as many bytes as it can count it begins anew", () => {
  const cache = new CompressedCache<number>(200_000, 20_000)
  for (let at = 0; at < 100_000; at++) {
    cache.set(`key ${at}`, at)
    expect(cache.bytes).toBeLessThanOrEqual(200_000)
  }
  expect(cache.get("key 99999")).toBe(99_999)
  expect(cache.get("key 99990")).toBe(99_990)
  expect(cache.get("key 0")).toBeUndefined()
})
