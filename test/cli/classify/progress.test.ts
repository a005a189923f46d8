import { expect, test } from "bun:test"
import { PassThrough } from "node:stream"
import { createProgress } from "../../../src/cli/classify/progress.ts"
import { classifying } from "./classifying.ts"

/** A terminal that keeps what is drawn on it. */
function terminal() {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 120 })
  const drawn: string[] = []
  stream.on("data", chunk => drawn.push(String(chunk)))
  return { stream, drawn: () => drawn.join("") }
}

test("a file's progress is a bar with share, results, rate and time left, and is cleared at the end", () => {
  const { stream, drawn } = terminal()
  let nowMs = 0
  const progress = createProgress(stream, 1_000, () => nowMs)
  nowMs = 10_000
  progress.update(250, 1_234_560)
  progress.stop()
  expect(drawn()).toContain("25% | 1,234,560 results | 123,456 per second | 0:30 left")
  expect(drawn()).toContain("█")
  expect(drawn()).toEndWith("\u001b[2K")
})

test("progress of what is piped in has no share and no time left", () => {
  const { stream, drawn } = terminal()
  let nowMs = 0
  const progress = createProgress(stream, null, () => nowMs)
  nowMs = 2_000
  progress.update(250, 10)
  progress.stop()
  expect(drawn()).toContain("10 results | 5 per second")
  expect(drawn()).not.toMatch(/%|left|█|░/)
})

test("nothing is drawn when the standard error is no terminal", async () => {
  const { run } = classifying({ in: "a@gmail.com\n" })
  // The summary is all that is said.
  expect((await run("in")).err).toStartWith("1 results in")
})
