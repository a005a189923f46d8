import { expect, test } from "bun:test"
import { createHash } from "node:crypto"
import fc from "fast-check"
import { formatDownload, parseDownload, type StoredDownload } from "../../../src/check/refresh/stored-download.ts"

const name = fc.domain()
const day = fc.constantFrom("2026-01-01", "2026-11-20", "2031-05-06")

const storedDownload: fc.Arbitrary<StoredDownload> = fc
  .record({
    entries: fc.uniqueArray(name, { maxLength: 12 }),
    days: fc.array(fc.option(day), { maxLength: 12 }),
    malformedCount: fc.nat(),
    date: day,
    url: fc.webUrl(),
    etag: fc.option(fc.string()),
    lastModified: fc.option(fc.string()),
    endsWithNewline: fc.boolean(),
    unreadable: fc.option(
      fc.record({ count: fc.nat().map(count => count + 1), first_line: fc.nat().map(line => line + 1) }),
    ),
    leftOut: fc.record({ count: fc.nat(), names: fc.array(name, { maxLength: 5 }) }),
    window: fc.option(
      fc.record({
        sha256: fc.string(),
        taken: fc.array(
          fc.record({ day, names: fc.nat(), added: fc.option(fc.nat()), days: fc.integer({ min: 1, max: 200 }) }),
        ),
      }),
    ),
  })
  .map(
    ({
      entries,
      days,
      malformedCount,
      date,
      url,
      etag,
      lastModified,
      endsWithNewline,
      unreadable,
      leftOut,
      window,
    }) => {
      const dated = entries.flatMap((entry, at) => (days[at] == null ? [] : [[entry, days[at]] as const]))
      const allDated = entries.map((entry, at) => [entry, days[at] ?? date] as const)
      const list = { entries, malformedCount, date, addedOn: new Map(dated) }
      return {
        source: window === null ? list : { ...list, addedOn: new Map(allDated), lastSeenOn: new Map(allDated) },
        url,
        validators: { etag, lastModified },
        endsWithNewline,
        unreadable,
        leftOut,
        window,
      }
    },
  )

test("a download is parsed as it was written", () => {
  fc.assert(fc.property(storedDownload, held => expect(parseDownload(formatDownload(held))).toEqual(held)))
})

test("a download with a changed byte is rejected", () => {
  const damaged = fc.tuple(storedDownload, fc.nat(), fc.integer({ min: 1, max: 255 }))
  fc.assert(
    fc.property(damaged, ([held, place, flip]) => {
      const bytes = Buffer.from(formatDownload(held))
      const at = place % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ flip
      const text = bytes.toString()
      // Changes without meaning are accepted: a blank in the JSON, or an escape in capitals.
      const read = parseDownload(text)
      if (read !== null) expect(read).toEqual(held)
    }),
    { numRuns: 1000 },
  )
})

test("a truncated or extended download is rejected", () => {
  const text = formatDownload({
    source: {
      entries: ["a.com", "b.com"],
      malformedCount: 0,
      date: "2026-11-20",
      addedOn: new Map([["b.com", "2026-11-20"]]),
    },
    url: "https://lists.example/a",
    validators: { etag: '"1"', lastModified: null },
    endsWithNewline: true,
    unreadable: null,
    leftOut: { count: 0, names: [] },
    window: null,
  })
  expect(parseDownload(text)).not.toBeNull()
  for (let end = 0; end < text.length; end++) expect([end, parseDownload(text.slice(0, end))]).toEqual([end, null])
  expect(parseDownload(`${text}\nc.com`)).toBeNull()
  expect(parseDownload(`${text}\n`)).toBeNull()
})

test("a download that an earlier version has written is parsed, and nothing was left out of it", () => {
  const head = {
    ...{ format: 1, url: "https://lists.example/a", etag: null, last_modified: null },
    ...{ date: "2026-11-20", misshapen: 2, ends_cleanly: true },
  }
  const lines = "a.com\nb.com\t2026-11-20"
  const sha256 = createHash("sha256")
    .update(`${JSON.stringify(head)}\n${lines}`)
    .digest("hex")
  expect(parseDownload(`${JSON.stringify({ ...head, sha256 })}\n${lines}`)).toEqual({
    source: {
      entries: ["a.com", "b.com"],
      malformedCount: 2,
      date: "2026-11-20",
      addedOn: new Map([["b.com", "2026-11-20"]]),
    },
    url: "https://lists.example/a",
    validators: { etag: null, lastModified: null },
    endsWithNewline: true,
    unreadable: null,
    leftOut: { count: 0, names: [] },
    window: null,
  })
})

test.each(["", "\n", "null\n", "[]\na.com", '{"format":3}\na.com', "a.com\nb.com\n"])("%j is not a download", text => {
  expect(parseDownload(text)).toBeNull()
})
