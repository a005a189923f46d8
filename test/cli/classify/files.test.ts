import { expect, test } from "bun:test"
import type { CheckOutcome } from "../../../src/check/result/result.ts"
import { check } from "../../support/app.ts"
import { classifying, linesOf } from "./classifying.ts"

test.each([
  ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2]), "zstdcat"],
  ["bzip2", Buffer.from("BZh91AY&SY"), "bzcat"],
  ["an old spreadsheet", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), "CSV"],
  ["a PDF", Buffer.from("%PDF-1.7\njane@gmail.com"), "PDF"],
  ["a damaged archive", Buffer.from("PK\u0003\u0004xxxx"), "damaged zip archive"],
])("%s is refused with what to do, in however small parts it comes", async (_, bytes, description) => {
  for (const partBytes of [1, 64]) {
    const { run, textOf } = classifying({ in: bytes }, { partBytes })
    const { code, answered, err } = await run("in", "--out", "out")
    expect({ code, answered }).toEqual({ code: 1, answered: "" })
    expect(err).toContain(description)
    expect(err).not.toContain("jane")
    expect(textOf("out")).toBeNull()
  }
})

test.each(["", "a", "a\n", "\n\n\n\n\n\n", "\0\n"])("a file of few bytes is text: %j", async text => {
  const { run } = classifying({ in: text }, { partBytes: 1 })
  expect((await run("in", "--force")).code).toBe(0)
})

test("a file that is not there is told", async () => {
  const { run } = classifying({})
  const { code, err } = await run("nothing.txt")
  expect({ code, err }).toEqual({ code: 1, err: "Cannot read nothing.txt: there is no such file or directory." })
})

test("a file that holds something is not written over unless it is said so", async () => {
  const { run, textOf } = classifying({ in: "a@gmail.com\n", out: "mine", empty: "" })
  expect(await run("in", "--out", "out")).toMatchObject({ code: 1, answered: "" })
  expect(textOf("out")).toBe("mine")
  expect((await run("in", "--out", "empty")).code).toBe(0)
  expect((await run("in", "--out", "out", "--force")).code).toBe(0)
  expect(textOf("out")).toBe(textOf("empty"))
})

test("results are never written over their inputs", async () => {
  const { run, textOf } = classifying({ in: "a@gmail.com\n" })
  for (const how of ["--force", "--resume"]) expect((await run("in", "--out", "in", how)).code).toBe(2)
  expect(textOf("in")).toBe("a@gmail.com\n")
})

test.each(["--resume", "--resume --out -", "--resume --force --out out"])("%s is a wrong use", async args => {
  const { run, answered } = classifying({ in: "a@gmail.com\n" })
  expect((await run("in", ...args.split(" "))).code).toBe(2)
  expect(answered).toEqual([])
})

test("a run that is asked to stop writes every result that is there, whole, and says how to go on", async () => {
  const input = Promise.withResolvers<string>()
  const never = new Promise<CheckOutcome>(() => undefined)
  const files = { in: "a@gmail.com\nb@gmail.com\nwaits@gmail.com\nbehind@gmail.com\n" }
  const { run, textOf } = classifying(files, {
    tools: { stopSignal: () => input.promise },
    check: question => {
      if (!question.subject.sent.startsWith("waits")) return check(question)
      input.resolve("SIGINT")
      return never
    },
  })
  const { code, err } = await run("in", "--out", "out")
  expect(code).toBe(1)
  expect(err).toBe("Stopped after 2 results. They are complete. Continue with the same command and --resume.")
  expect(linesOf(textOf("out") ?? "")).toHaveLength(2)
})

test("a run that waits for its input stops when it is asked to", async () => {
  const requests = Promise.withResolvers<string>()
  const { run, streams } = classifying({}, { tools: { stopSignal: () => requests.promise } })
  Object.assign(streams, {
    openSource: async () => ({
      byteCount: null,
      chunks: (async function* () {
        yield Buffer.from("a@gmail.com\n")
        requests.resolve("SIGTERM")
        await new Promise(() => undefined)
      })(),
    }),
  })
  // Of a text that is read whatever it holds, no line is waited for.
  const { code, answered, err } = await run("-", "--format", "text", "--force")
  expect({ code, lines: linesOf(answered).length }).toEqual({ code: 1, lines: 1 })
  expect(err).toBe("Stopped after 1 results. They are complete.")
})

test("who reads the output and has enough ends the run with the system's error", async () => {
  const { run, streams } = classifying({ in: "a@gmail.com\n" })
  Object.assign(streams, {
    stdout: {
      write: () => Promise.reject(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
      close: async () => undefined,
    },
  })
  expect(await run("in").catch(String)).toBe("Error: EPIPE")
})

test("a run that has nearly the memory of --memory collects what rows leave behind, and at times all that nothing uses", async () => {
  const tidied: boolean[] = []
  const memory = { residentBytes: () => 219e6, limitBytes: () => 8e9 }
  const tools = { collectGarbage: (isAll: boolean) => void tidied.push(isAll), memory }
  const { run } = classifying({ "in.txt": "jane@gmail.com\n".repeat(100_000) }, { partBytes: 15_000, tools })
  expect((await run("in.txt", "--offline", "--out", "out.txt")).code).toBe(0)
  expect(tidied).toEqual(
    Array(5)
      .fill([...Array(6).fill(false), true])
      .flat(),
  )
  tidied.length = 0
  expect((await run("in.txt", "--offline", "--out", "out.txt", "--force", "--memory", "300")).code).toBe(0)
  expect(tidied).toEqual([])
})

test.each(["119", "65537", "-1", "much", "1e3", ""])("--memory %j is a wrong use", async memory => {
  const { run } = classifying({ in: "a@gmail.com\n" })
  const err = "--memory is a number of megabytes from 120 to 65536."
  expect(await run("in", "--memory", memory)).toMatchObject({ code: 2, err })
})
