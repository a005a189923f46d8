import { expect, test } from "bun:test"
import { announce } from "../../src/cli/serve.ts"
import type { FirstAccount } from "../../src/customers/keys/first-account.ts"

const told = (baseUrl: string, first: FirstAccount): string[] => {
  const lines: string[] = []
  const output = { line: (text: string) => void lines.push(text), aside: () => undefined }
  announce(output, "1.0.0", { address: "http://127.0.0.1:8080", baseUrl }, first)
  return lines
}

test("the start line names the address that the server listens on, whatever its base URL", () => {
  expect(told("http://127.0.0.1:8080", { kind: "exists" })).toEqual(["mailkind 1.0.0 listens on http://127.0.0.1:8080"])
  expect(told("https://api.example.com", { kind: "exists" })).toEqual([
    "mailkind 1.0.0 listens on http://127.0.0.1:8080 as https://api.example.com",
  ])
})
