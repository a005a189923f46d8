import { expect, test } from "bun:test"
import { createLogger } from "../../src/base/log.ts"

const written = (level: "info" | "warn", pretty: boolean): string[] => {
  const lines: string[] = []
  const log = createLogger(
    level,
    pretty,
    () => 0,
    line => lines.push(line),
  )
  log("debug", "a detail")
  log("info", "started", { port: 8080 })
  log("error", "failed", { why: "a reason\nof two lines" })
  return lines
}

test("a line is one JSON object, from its level on", () => {
  expect(written("info", false).map(line => JSON.parse(line))).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "info", says: "started", port: 8080 },
    { time: "1970-01-01T00:00:00.000Z", level: "error", says: "failed", why: "a reason\nof two lines" },
  ])
  expect(written("warn", false)).toHaveLength(1)
})

test("a value with a line break stays on its line", () => {
  for (const pretty of [true, false])
    for (const line of written("info", pretty)) expect(line.trimEnd()).not.toContain("\n")
})
