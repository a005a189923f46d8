import { expect, test } from "bun:test"
import { Command } from "commander"
import { alone, doctorCommand } from "../../src/cli/doctor.ts"
import { CommandFailure } from "../../src/cli/output.ts"
import { EXAMINATION_NAMES, type ExaminationName } from "../../src/doctor/examinations.ts"
import { doubtful, type Examined, failing, well } from "../../src/doctor/examined.ts"
import { outcomeOf } from "../world/outcome-of.ts"

async function run(found: Partial<Record<ExaminationName, Examined>>, ...words: readonly string[]) {
  const lines: string[] = []
  const root = new Command().exitOverride()
  doctorCommand(root, { line: text => void lines.push(text), aside: () => undefined }, async names =>
    names.map(name => ({ name, ...(found[name] ?? well("Fine.")) })),
  )
  const outcome = await outcomeOf(root.parseAsync([...words], { from: "user" }))
  return { lines, outcome }
}

test("every examination is a row, with its remedy beneath, and a warning is no failure", async () => {
  const { lines, outcome } = await run({ disk: doubtful("10 MiB are free.", "Free some.\u001b[2J") }, "doctor")
  expect(outcome).not.toThrow()
  expect(lines).toHaveLength(EXAMINATION_NAMES.length + 1)
  expect(lines[2]).toMatch(/^disk +warning +10 MiB are free\.$/)
  expect(lines[3]?.trim()).toBe("→ Free some.\\u001b[2J")
})

test("what failed is counted, and is exit code 1", async () => {
  const { outcome } = await run({ disk: failing("None.", "Free some."), port: failing("No.", "Yes.") }, "doctor")
  expect(outcome).toThrow(CommandFailure)
  expect(outcome).toThrow("2 of 13 examinations failed.")
})

test("--json tells all rows and the worst of them, and --only looks at what it names", async () => {
  const { lines } = await run({ disk: doubtful("Low.", "Free some.") }, "doctor", "--json", "--only", "disk", "port")
  expect(JSON.parse(lines.join("\n"))).toEqual({
    verdict: "warning",
    examinations: [
      { name: "disk", verdict: "warning", seen: "Low.", remedy: "Free some." },
      { name: "port", verdict: "ok", seen: "Fine.", remedy: null },
    ],
  })
  expect(JSON.parse((await run({}, ...alone("dns"))).lines.join("\n"))).toMatchObject({
    examinations: [{ name: "dns" }],
  })
})
