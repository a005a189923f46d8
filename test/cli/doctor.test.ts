import { expect, test } from "bun:test"
import { Command } from "commander"
import { doctorArguments, registerDoctor } from "../../src/cli/doctor.ts"
import { CommandError } from "../../src/cli/output.ts"
import {
  DIAGNOSTIC_NAMES,
  type DiagnosticName,
  type DiagnosticResult,
  failed,
  ok,
  warning,
} from "../../src/doctor/diagnostics.ts"
import { outcomeOf } from "../support/outcome-of.ts"

async function run(found: Partial<Record<DiagnosticName, DiagnosticResult>>, ...words: readonly string[]) {
  const lines: string[] = []
  const root = new Command().exitOverride()
  registerDoctor(root, { line: text => void lines.push(text), stderrLine: () => undefined }, async names =>
    names.map(name => ({ name, ...(found[name] ?? ok("Fine.")) })),
  )
  const outcome = await outcomeOf(root.parseAsync([...words], { from: "user" }))
  return { lines, outcome }
}

test("every examination is a row, with its remedy beneath, and a warning is no failure", async () => {
  const { lines, outcome } = await run({ disk: warning("10 MiB are free.", "Free some.\u001b[2J") }, "doctor")
  expect(outcome).not.toThrow()
  expect(lines).toHaveLength(DIAGNOSTIC_NAMES.length + 1)
  expect(lines[2]).toMatch(/^disk +warning +10 MiB are free\.$/)
  expect(lines[3]?.trim()).toBe("→ Free some.\\u001b[2J")
})

test("what failed is counted, and is exit code 1", async () => {
  const { outcome } = await run({ disk: failed("None.", "Free some."), port: failed("No.", "Yes.") }, "doctor")
  expect(outcome).toThrow(CommandError)
  expect(outcome).toThrow("2 of 16 checks failed.")
})

test("--json tells all rows and the worst of them, and --only looks at what it names", async () => {
  const { lines } = await run({ disk: warning("Low.", "Free some.") }, "doctor", "--json", "--only", "disk", "port")
  expect(JSON.parse(lines.join("\n"))).toEqual({
    verdict: "warning",
    examinations: [
      { name: "disk", verdict: "warning", seen: "Low.", remedy: "Free some." },
      { name: "port", verdict: "ok", seen: "Fine.", remedy: null },
    ],
  })
  expect(JSON.parse((await run({}, ...doctorArguments("dns"))).lines.join("\n"))).toMatchObject({
    examinations: [{ name: "dns" }],
  })
})
