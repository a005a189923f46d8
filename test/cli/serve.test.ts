import { describe, expect, test } from "bun:test"
import { Command, CommanderError } from "commander"
import { printStart, registerServe, type ServeOptions, WORKER_ARGUMENTS } from "../../src/cli/serve.ts"
import type { FirstAccountResult } from "../../src/customers/keys/first-account.ts"

const facts = (baseUrl: string, first: FirstAccountResult, workersCount = 1): string[] => {
  const lines: string[] = []
  const output = { line: (text: string) => void lines.push(text), stderrLine: () => undefined }
  printStart(output, "1.0.0", { address: "http://127.0.0.1:8080", baseUrl }, first, workersCount, false)
  return lines
}

test("the start line names the address that the server listens on, whatever its base URL", () => {
  expect(facts("http://127.0.0.1:8080", { kind: "exists" })).toEqual([
    "mailkind 1.0.0 listens on http://127.0.0.1:8080",
  ])
  expect(facts("https://api.example.com", { kind: "exists" })).toEqual([
    "mailkind 1.0.0 listens on http://127.0.0.1:8080 as https://api.example.com",
  ])
})

test("the start line tells how many workers there are, behind the address", () => {
  expect(facts("https://api.example.com", { kind: "exists" }, 2)).toEqual([
    "mailkind 1.0.0 listens on http://127.0.0.1:8080 as https://api.example.com with 2 workers",
  ])
})

describe("serve", () => {
  const request = (...args: readonly string[]): { options: ServeOptions[]; isRefused: boolean } => {
    const options: ServeOptions[] = []
    const root = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
    registerServe(root, async given => void options.push(given))
    try {
      root.commands[0]?.exitOverride().parse([...args], { from: "user" })
      return { options, isRefused: false }
    } catch (refusal) {
      return { options, isRefused: refusal instanceof CommanderError }
    }
  }

  test("is one process unless it is told otherwise", () => {
    expect(request().options).toEqual([{ worker: false, replace: false }])
  })

  test("starts a worker by the words that its supervisor has, which help does not show", () => {
    const root = new Command()
    registerServe(root, async () => undefined)
    expect(request(...WORKER_ARGUMENTS.slice(1)).options).toEqual([{ worker: true, replace: false }])
    expect(root.commands[0]?.helpInformation()).not.toContain("--worker ")
  })

  test("says which option takes a number of workers", () => {
    expect([request("--worker", "2").isRefused, request("--worker=2").isRefused]).toEqual([true, true])
  })
})
