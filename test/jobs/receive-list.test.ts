import { describe, expect, test } from "bun:test"
import { JOB_LIMITS } from "../../src/contract/jobs.ts"
import { estimateList, type ListEstimate } from "../../src/jobs/list-estimate.ts"
import { RefusedList, receiveList } from "../../src/jobs/receive-list.ts"
import { READ_ROW_BYTES } from "../../src/rows/garbage-collector.ts"
import { LINE_BYTES_MAX } from "../../src/rows/line-splitter.ts"
import { FOUND, partsOf } from "../support/file-rows.ts"

const CSV = { ...FOUND, encoding: null, format: "csv" } as const
const TEXT = { ...CSV, format: "text" } as const
const MIB = 1_048_576
const ESTIMATE_DEPS = { testDomain: "mailkind.test", pauseReading: () => undefined, onChecked: () => undefined }

/** How a table is read whose header has its first column named for addresses. */
const READING: ListEstimate["reading"] = {
  ...({ format: "csv", hasMark: false, delimiter: ",", skippedLines: 0, hasHeader: true, inputIndex: 0 } as const),
  ...({ kind: "email", member: null, width: 1, encoding: "utf-8" } as const),
}

/** What a list comes to: its rows and blocks, or why it is refused. */
async function received(list: string | Uint8Array, format: Parameters<typeof receiveList>[1] = CSV, bytesMax = MIB) {
  let [blocks, longest] = [0, 0]
  try {
    const { rowsTotal } = await receiveList(partsOf(list), format, bytesMax, async ({ bytes }) => {
      blocks++
      longest = Math.max(longest, bytes.length)
    })
    return { rowsTotal, blocks, longest }
  } catch (error) {
    if (!(error instanceof RefusedList)) throw error
    return { reason: error.reason, message: error.message }
  }
}

describe("a list is refused, and its sender told why, when it", () => {
  test.each([
    ["is empty", "", /empty/],
    ["has nothing but a header line that names the delimiter", "sep=;\n", /empty/],
    ["is a damaged archive", Buffer.from("PK\x03\x04rest of it"), /damaged zip archive/],
    ["is a picture", Uint8Array.from({ length: 500 }, (_, at) => at % 8), /is not text/],
    ["is cut off in the middle of its gzip data", Bun.gzipSync(Buffer.from("email\na@b.co\n")).subarray(0, 25), /gzip/],
    ["has no column with addresses", "id,name\n1,Jane\n", /Choose one with `column`.*1 `id`, 2 `name`/],
    ["has nothing that looks like an address", "email\nyes\n", /`email` looks like an address.*`force=true`/],
    [
      "has two columns of addresses",
      "jane@x.com,jo@x.com\n",
      /2 columns have addresses: 1, 2\. Choose one with `column`/,
    ],
    [
      "is a table with either of two delimiters",
      "a@b.co,x;c@d.co\ne@f.co,x;g@h.co\n",
      /comma and with a semicolon.*`delimiter`/,
    ],
    ["is the body of a form", '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nemail', /multipart/],
    ["has a header that is too long", `${"a".repeat(LINE_BYTES_MAX + 1)}\n`, /longer than 64 KiB/],
    ["has 30 000 columns", `email${",c".repeat(30_000)}\n`, /30001 columns/],
    ["has more cells than it may", `email${",c".repeat(999)}\n${"\n".repeat(50_001)}`, /more than 50000000 cells/],
    ["has 100 000 columns", `email${",c".repeat(100_000)}\n`, /longer than 64 KiB/],
  ] as const)("%s", async (_, list, message) => {
    expect(await received(list)).toEqual({ reason: "unreadable", message: expect.stringMatching(message) })
  })

  test("is larger than it may be, by one byte", async () => {
    const list = `email\n${"a@b.example\n".repeat(1000)}`
    expect(await received(list, CSV, list.length)).toMatchObject({ rowsTotal: 1000 })
    expect(await received(list, CSV, list.length - 1)).toMatchObject({ reason: "too_large" })
  })

  test("unpacks to more than it may be, before it is unpacked whole", async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(200 * MIB, "a@b.example\n"))
    let bytes = 0
    const failure = await receiveList(partsOf(bomb, 4096), TEXT, MIB, async block => {
      bytes += block.bytes.length
    }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ reason: "too_large" })
    expect(bytes).toBeLessThanOrEqual(MIB)
  })

  test("never ends", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield Buffer.from("a@b.example\n".repeat(1000))
    }
    const failure = await receiveList(endless(), TEXT, MIB, async () => undefined).catch((error: unknown) => error)
    expect(failure).toMatchObject({ reason: "too_large" })
  })
})

describe("a list is taken whose rows are odd", () => {
  test("a row of 50 MB is one row, of which little is kept", async () => {
    const list = Buffer.concat([Buffer.from("email\n"), Buffer.alloc(50 * MIB, "x"), Buffer.from("\na@b.example\n")])
    const { rowsTotal, longest = 0 } = await received(list, CSV, 60 * MIB)
    expect(rowsTotal).toBe(2)
    expect(longest).toBeLessThan(2 * LINE_BYTES_MAX)
  })

  test.each([
    ["NULs", "email\na\0b@x.example\n\0\n", 2],
    ["quotes that do not close", 'email\n"a@b.example\nc@d.example\n', 2],
    ["no line feed at the end", "email\na@b.example\nc@d.example", 2],
    ["nothing after the header", "email\n", 0],
    ["an open quote at the very end", 'email\na@b.example\n"c', 2],
  ])("%s", async (_, list, rowsTotal) => {
    expect(await received(list)).toMatchObject({ rowsTotal })
  })
})

test("blocks have about so many rows, and a bounded number of bytes", async () => {
  const short = await received(`email\n${"a@b.example\n".repeat(20_000)}`)
  expect(short).toMatchObject({ rowsTotal: 20_000 })
  expect(short.blocks ?? 0).toBeGreaterThan(10)
  expect(short.blocks ?? 0).toBeLessThanOrEqual(20)
  const long = await received(`email\n${`a@b.example${"x".repeat(2000)}\n`.repeat(5000)}`, CSV, 20 * MIB)
  expect(long.longest ?? 0).toBeLessThanOrEqual(JOB_LIMITS.blockBytes + 65_536 + 2100)
})

test("the rows are counted as they are read, wherever chunks end", async () => {
  const list = `email,note\n${'a@b.example,"one\ntwo"\n"c@d.example,x\n'.repeat(400)}"open`
  const whole = await received(list)
  for (const size of [1000, 1001, 4096]) {
    const counted = await receiveList(partsOf(list, size), CSV, MIB, async () => undefined)
    expect(counted.rowsTotal).toBe(whole.rowsTotal ?? -1)
  }
})

test("the limit of a row is that of the reader of rows", () => {
  expect(JOB_LIMITS.rowBytesMax).toBe(LINE_BYTES_MAX)
})

test("a list may have as many cells as its bound", async () => {
  const list = `email${",c".repeat(999)}\n${"\n".repeat(50_000)}`
  expect(await received(Bun.gzipSync(Buffer.from(list)))).toMatchObject({ rowsTotal: 50_000 })
})

test("a list that comes a byte at a time is read as if it came in larger chunks", async () => {
  const list = `email\n${"a@b.example\n".repeat(2000)}`
  let reads = 0
  const { rowsTotal } = await receiveList(
    partsOf(list, 1),
    CSV,
    MIB,
    async () => undefined,
    () => void reads++,
  )
  expect([rowsTotal, reads < 50]).toEqual([2000, true])
})

/** Lists that are read slowly in one piece: many short rows, rows with many cells, and rows that become many at once. */
const SLOW_LISTS = {
  "short rows": [TEXT, "\n".repeat(30_000)],
  "quotes that stay open": [CSV, `email,x\n${'a","\n'.repeat(15_000)}`],
  "one open quote before many rows": [CSV, `email,x\n"\n${"\n".repeat(70_000)}`],
  "rows with many cells": [CSV, `email,x\n${`${",".repeat(60_000)}\n`.repeat(3)}`],
} as const

test.each(Object.entries(SLOW_LISTS))("others may work often while a list is read: %s", async (_, [format, list]) => {
  let [rows, rowsSince, mostRows, pauses] = [0, 0, 0, 0]
  await receiveList(
    partsOf(list),
    format,
    MIB,
    async block => {
      rowsSince += block.rows().length
      rows += block.rows().length
    },
    () => {
      pauses++
      mostRows = Math.max(mostRows, rowsSince)
      rowsSince = 0
    },
  )
  expect(mostRows).toBeLessThan(2500)
  expect(pauses).toBeGreaterThan(list.length / 16_384 - 1)
  expect(rows).toBeGreaterThan(0)
})

test("an estimate tells all rows that it reads, so that their garbage is collected meanwhile", async () => {
  let bytes = 0
  const onChecked = (done: { readonly bytes: number }): void => {
    bytes += done.bytes
  }
  await estimateList({ ...ESTIMATE_DEPS, onChecked }, partsOf("email\n".concat("a@gmail.com\n".repeat(9999))), CSV, MIB)
  expect(bytes).toBe(9999 * READ_ROW_BYTES)
})

test("an estimate tells rows, unique domains and units, of which test addresses and skipped rows need none, and the first ten rows", async () => {
  const list = `email,note\na@gmail.com,${"x".repeat(101)}\n<b@gmail.com>;d@gmail.com,\nn/a,\nc@x.example,\nnothing,\nbusiness@mailkind.test,\n${"e@x.example,\n".repeat(5)}`
  const { sample, ...told } = await estimateList(ESTIMATE_DEPS, partsOf(list), CSV, MIB)
  expect(told).toEqual({
    rowsTotal: 11,
    columnNames: ["email", "note"],
    inputColumns: [0],
    reading: { ...READING, width: 2 },
    uniqueDomains: 4,
    unitsNeeded: 9,
    rowsSkipped: 1,
    rowsCleaned: 1,
    rowsRepeated: 0,
  })
  expect(sample).toHaveLength(5)
  const plain = { isSkipped: false, isCleaned: false, others: [] }
  expect(sample.slice(0, 3)).toEqual([
    { ...plain, cells: ["a@gmail.com", `${"x".repeat(100)}\u2026`], checked: "a@gmail.com" },
    {
      ...plain,
      cells: ["<b@gmail.com>;d@gmail.com", ""],
      checked: "b@gmail.com",
      isCleaned: true,
      others: ["d@gmail.com"],
    },
    { ...plain, cells: ["n/a", ""], checked: null, isSkipped: true },
  ])
})
