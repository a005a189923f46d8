import { expect, test } from "bun:test"
import { LOG_EVENTS, type LogEvent } from "../../src/base/log-events.ts"
import { LOG_LEVELS } from "../../src/base/log-level.ts"

const EVENTS = Object.entries<LogEvent>(LOG_EVENTS)
const SOURCES = [...new Bun.Glob("src/**/*.{ts,tsx}").scanSync(".")].filter(path => path !== "src/base/log-events.ts")

test("every event of the table is logged somewhere", async () => {
  const source = (await Promise.all(SOURCES.map(path => Bun.file(path).text()))).join("\n")
  // A message that is put together has its parts.
  const isLogged = (message: string): boolean =>
    source.includes(`"${message}"`) || (/^more \w+ responses$/.test(message) && source.includes("`more $"))
  expect(EVENTS.map(([message]) => message).filter(message => !isLogged(message))).toEqual([])
})

test("every event has a level, a meaning in a sentence, and fields that are names", () => {
  for (const [message, { levels, fields, meaning }] of EVENTS) {
    expect([message, levels.length > 0 && levels.every(level => LOG_LEVELS.includes(level))]).toEqual([message, true])
    expect([message, meaning]).toEqual([message, expect.stringMatching(/^(?:[A-Z`]).*[.]$/)])
    expect([message, fields.filter(field => !/^[a-z_]+$/.test(field))]).toEqual([message, []])
    expect([message, new Set(fields).size]).toEqual([message, fields.length])
  }
})
