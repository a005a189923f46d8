import { expect, test } from "bun:test"
import { readStderr } from "../../src/process/command-output.ts"

const LINE = '{"time":"2026-01-01T00:00:00.000Z","level":"warn","msg":"DNS does not answer"}'

test("log lines are told from the error of a command, also if that is JSON over several lines", () => {
  const error = JSON.stringify({ error: { code: "failed", message: "The disk is full." } }, null, 2)
  expect(readStderr(`${LINE}\n${error}\n${LINE}\n`)).toEqual({
    lines: `${LINE}\n${LINE}\n`,
    message: "The disk is full.",
  })
})

test("any other text is a message in one line, of bounded length", () => {
  expect(readStderr("mailkind: it failed\n  because\n")).toEqual({ lines: "", message: "mailkind: it failed because" })
  expect(readStderr("{\n")).toEqual({ lines: "", message: "{" })
  expect(readStderr("")).toEqual({ lines: "", message: "" })
  expect(readStderr("x".repeat(5000)).message).toHaveLength(1000)
})
