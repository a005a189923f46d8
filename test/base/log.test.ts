import { expect, test } from "bun:test"
import { createLogger, logError } from "../../src/base/log.ts"

const written = (level: "info" | "warn", pretty: boolean): string[] => {
  const lines: string[] = []
  const log = createLogger(
    level,
    pretty,
    () => 0,
    line => lines.push(line),
  )
  log("debug", "a mail was sent")
  log("info", "a worker listens", { pid: 8080 })
  log("error", "the lists were not refreshed", { why: "a reason\nof two lines" })
  return lines
}

test("a line is one JSON object, from its level on", () => {
  expect(written("info", false).map(line => JSON.parse(line))).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "info", msg: "a worker listens", pid: 8080 },
    {
      time: "1970-01-01T00:00:00.000Z",
      level: "error",
      msg: "the lists were not refreshed",
      why: "a reason\nof two lines",
    },
  ])
  expect(written("warn", false)).toHaveLength(1)
})

test("a value with a line break stays on its line", () => {
  for (const pretty of [true, false])
    for (const line of written("info", pretty)) expect(line.trimEnd()).not.toContain("\n")
})

test.each([true, false])("a value cannot steer a terminal or turn the direction of a line, pretty: %p", isPretty => {
  const lines: string[] = []
  const log = createLogger(
    "info",
    isPretty,
    () => 0,
    line => void lines.push(line),
  )
  const why = "\u001b[2J \u009b2J \u007f \u202e\u2066 \ufeff end"
  log("error", "the lists were not refreshed", { why })
  expect(lines.join("").trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(lines.join("")).toContain(String.raw`\u009b2J`)
  if (!isPretty) expect(JSON.parse(lines.join(""))).toMatchObject({ why })
})

test("an error is logged by its name and its code, a defect by its place, and none by its message", () => {
  const logged: unknown[] = []
  const handle = logError(
    (level, message, fields) => void logged.push([level, message, fields]),
    "usage was not written",
  )
  handle(new TypeError("jane@acme.com"))
  handle(Object.assign(new Error("jane@acme.com"), { code: "ENOSPC" }))
  handle(Object.assign(new Error("x"), { code: "of jane@acme.com" }))
  handle(Object.assign(new Error("x"), { code: "full", remedy: "Free some space." }))
  handle("jane@acme.com")
  const at = expect.stringContaining("log.test.ts")
  expect(logged).toEqual([
    ["error", "usage was not written", { error: "TypeError", at }],
    ["error", "usage was not written", { error: "Error", fault: "ENOSPC" }],
    ["error", "usage was not written", { error: "Error", at }],
    ["error", "usage was not written", { error: "Error", fault: "full", remedy: "Free some space." }],
    ["error", "usage was not written", { error: "unknown" }],
  ])
})
