import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { PipedProcess } from "../../../src/base/streams.ts"
import type { Check } from "../../../src/check/check.ts"
import { serveBlocks } from "../../../src/cli/classify/parallel/block-worker.ts"
import { encodeFrame, readFrames } from "../../../src/cli/classify/parallel/frames.ts"
import type { FileFormat } from "../../../src/rows/file-format.ts"
import { LINE_BYTES_MAX, splitLines } from "../../../src/rows/line-splitter.ts"
import { RecordCutter } from "../../../src/rows/record-cutter.ts"
import { UnreadableFile } from "../../../src/rows/unreadable-file.ts"
import { check } from "../../support/app.ts"
import { fileRows, partsOf } from "../../support/file-rows.ts"
import { classifying } from "./classifying.ts"

/** The blocks of a file and its rows, however few of its bytes come at once; a sentence: it is refused. */
async function readIn(bytes: Uint8Array, partBytes: number, format: FileFormat) {
  try {
    const file = await fileRows(partsOf(bytes, partBytes), { format, column: "1", isForced: true })
    return file ?? { blocks: [], rows: [] }
  } catch (error) {
    if (error instanceof UnreadableFile) return error.message
    throw error
  }
}

describe("the blocks of a file", () => {
  const beginning = fc.constantFrom("", "\ufeff", "sep=;\n", "\ufeffsep=,\r\n")
  const text = fc.string({ unit: fc.constantFrom("a", "é", '"', '"', ",", "\n", "\n", "\r", ";"), maxLength: 80 })

  test.each(["csv", "text", "ndjson"] as const)("of %s have the rows of the file, wherever it is cut", async from => {
    await fc.assert(
      fc.asyncProperty(beginning, text, fc.integer({ min: 1, max: 40 }), async (first, rest, partBytes) => {
        const bytes = Buffer.from(`${first}email,name\n${rest}`)
        const whole = await readIn(bytes, bytes.length, from)
        const cut = await readIn(bytes, partBytes, from)
        if (typeof whole === "string" || typeof cut === "string") expect(cut).toEqual(whole)
        else expect(cut.rows).toEqual(whole.rows)
      }),
      { numRuns: 500 },
    )
  })

  test("hold no more of a line than shows that it is too long", () => {
    const bytes = Buffer.concat([Buffer.from("a@b.com\n"), Buffer.alloc(5_000_000, "x"), Buffer.from("\nc@d.com")])
    const parts = (all: Uint8Array) =>
      Array.from({ length: Math.ceil(all.length / 65_536) }, (_, at) => all.subarray(at * 65_536, (at + 1) * 65_536))
    const cutter = new RecordCutter({ format: "text", delimiter: ",", skippedLines: 0 })
    const blocks = [...parts(bytes).flatMap(part => [...cutter.push(part)]), ...cutter.end()].filter(
      block => block !== null,
    )
    expect(Math.max(...blocks.map(block => block.bytes.length))).toBeLessThan(3 * LINE_BYTES_MAX)
    const lines = blocks.flatMap(block => splitLines(block.bytes))
    expect(lines.map(line => line.isTooLong)).toEqual([false, true, false])
  })
})

test("messages between processes arrive as they were sent, in whatever parts", async () => {
  const sent = [
    { meta: { kind: "é" }, bytes: Buffer.from("one") },
    { meta: {}, bytes: Buffer.alloc(0) },
    { meta: { n: 2 }, bytes: Buffer.alloc(9_000, 7) },
  ]
  const stream = Buffer.concat(sent.map(({ meta, bytes }) => encodeFrame(meta, bytes)))
  for (const partBytes of [1, 3, 4096, stream.length]) {
    const parts = Array.from({ length: Math.ceil(stream.length / partBytes) }, (_, at) =>
      stream.subarray(at * partBytes, (at + 1) * partBytes),
    )
    const received = await Array.fromAsync(readFrames(fromParts(parts)))
    expect(received.map(({ meta, bytes }) => ({ meta, bytes: Buffer.from(bytes) }))).toEqual(sent)
  }
})

const LINES = Array.from({ length: 60_000 }, (_, at) => `jane.${at}@${at % 3 === 0 ? "gmail.com" : "acme-corp.com"}`)
const FILES = {
  "in.txt": `${LINES.join("\n")}\n`,
  "in.csv": `name;email\n${LINES.map((line, at) => (at % 9 === 0 ? `"Jane\n""${at}""";${line}\r\n` : `"o"pen;${line}\n`)).join("")}`,
  "in.ndjson": LINES.slice(0, 4_000)
    .map((line, at) => (at % 7 === 0 ? "{no\n" : `{"email":"${line}","n":"${"x".repeat(600)}"}\n`))
    .join(""),
}

describe.each(Object.keys(FILES) as (keyof typeof FILES)[])("%s in several processes", path => {
  test("gives the same bytes and the same summary as in one, however slow a process is", async () => {
    const one = await resultsOf({ [path]: FILES[path] }, path, "--jobs", "1")
    const workers = workersHere(slowNowAndThen())
    const several = await resultsOf({ [path]: FILES[path] }, path, "--jobs", "3", workers)
    expect(workers.blockCounts().every(count => count > 0)).toBe(true)
    expect(workers.blockCounts()).toHaveLength(2) // the third process is the one that reads the file
    expect(several.text === one.text).toBe(true)
    expect(several.summary).toEqual(one.summary)
  })

  test("continues results that are cut anywhere to the same bytes", async () => {
    const { text } = await resultsOf({ [path]: FILES[path] }, path, "--jobs", "1")
    for (const share of [0.1, 0.5, 0.9999]) {
      const out = Buffer.from(text).subarray(0, Math.floor(text.length * share))
      const more = await resultsOf({ [path]: FILES[path], out }, path, "--resume", "--jobs", "2", workersHere(check))
      expect(more.text === text).toBe(true)
    }
  })
})

test("a file of less than 1 MB starts no process", async () => {
  const workers = workersHere(check)
  await resultsOf({ "in.txt": "jane@gmail.com\n".repeat(60_000) }, "in.txt", "--jobs", "4", workers)
  expect(workers.blockCounts()).toEqual([])
})

test("a process that ends is told, and what was written can be continued", async () => {
  const workers = workersHere(check, 3)
  const files = { "in.txt": FILES["in.txt"] }
  const { run, textOf } = classifying(files, { tools: workers.tools })
  const { code, err } = await run("in.txt", "--out", "out", "--jobs", "2")
  expect(code).toBe(1)
  expect(err).toContain("A process of this run ended (SIGKILL)")
  expect(err).toContain("--resume")
  const out = textOf("out") ?? ""
  const more = await resultsOf({ ...files, out }, "in.txt", "--resume", "--jobs", "1")
  expect(more.text === (await resultsOf(files, "in.txt", "--jobs", "1")).text).toBe(true)
})

test("a disk that becomes full is told, and what was written can be continued", async () => {
  const files = { "in.txt": FILES["in.txt"] }
  const { run, textOf } = classifying(files, { tools: workersHere(check).tools, roomBytes: 3_000_001 })
  const { code, err } = await run("in.txt", "--out", "out", "--jobs", "2")
  expect(code).toBe(1)
  expect(err).toContain("no space left")
  expect(err).toContain("--resume")
  const more = await resultsOf({ ...files, out: textOf("out") ?? "" }, "in.txt", "--resume", "--jobs", "1")
  expect(more.text === (await resultsOf(files, "in.txt", "--jobs", "1")).text).toBe(true)
})

test.each(["0", "65", "-1", "two", "1.5", ""])("--jobs %j is a wrong use", async count => {
  const { run } = classifying({ in: "a@gmail.com\n" })
  expect(await run("in", "--jobs", count)).toMatchObject({ code: 2, err: "--jobs is a number from 1 to 64." })
})

type Workers = ReturnType<typeof workersHere>

/** What a run writes and sums up. The last argument may be the workers. */
async function resultsOf(files: Record<string, string | Uint8Array>, path: string, ...args: (string | Workers)[]) {
  const workers = args.find(arg => typeof arg !== "string")
  const { run, textOf } = classifying(files, workers === undefined ? {} : { tools: workers.tools })
  const { code, out } = await run(path, "--out", "out", "--json", ...args.filter(arg => typeof arg === "string"))
  expect(code).toBe(0)
  return { text: textOf("out") ?? "", summary: JSON.parse(out) }
}

/** A check of which some come late. */
function slowNowAndThen(): Check {
  let count = 0
  return request => {
    const outcome = check(request)
    count++
    return count % 997 === 0 ? new Promise(resolve => setImmediate(() => resolve(outcome))) : outcome
  }
}

/** Workers in this process. After `blocksMax` blocks each of them ends as if it were killed. */
function workersHere(ownCheck: Check, blocksMax = Number.POSITIVE_INFINITY) {
  const counts: { blocks: number }[] = []
  const startWorker = (): PipedProcess => {
    const tasks = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: 16 })
    const reports = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: 16 })
    const [input, output] = [tasks.writable.getWriter(), reports.writable.getWriter()]
    const exited = Promise.withResolvers<{ exitCode: number | null; killedBy: string | null }>()
    const kill = () => {
      output.close().catch(() => undefined)
      input.close().catch(() => undefined)
      exited.resolve({ exitCode: null, killedBy: "SIGKILL" })
    }
    const count = { blocks: -1 } // the first message is the job
    counts.push(count)
    const { streams } = classifying({})
    const write = async (bytes: string | Uint8Array) => void (await output.write(Buffer.from(bytes)))
    void serveBlocks({
      streams: {
        ...streams,
        openSource: async () => ({ byteCount: null, chunks: tasks.readable }),
        stdout: { write, close: async () => undefined },
      },
      openCheck: async () => ({ check: ownCheck, testDomain: "mailkind.test", requestId: () => "" }),
      collectGarbage: () => undefined,
      memory: { residentBytes: () => 0, limitBytes: () => 8e9 },
      runInterval: () => () => undefined,
    }).catch(() => undefined)
    return {
      write: async bytes => {
        if (++count.blocks > blocksMax) kill()
        else await input.write(bytes)
      },
      chunks: reports.readable,
      exited: exited.promise,
      kill,
    }
  }
  return { tools: { startWorker }, blockCounts: () => counts.map(({ blocks }) => blocks) }
}

async function* fromParts(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}
