import { describe, expect, test } from "bun:test"
import { Command } from "commander"
import type { Refreshed } from "../../src/check/refresh/refresh.ts"
import { type SourceState, UNREFRESHED } from "../../src/check/refresh/refresh-state.ts"
import { type ListsTools, listsState, listsVerify } from "../../src/cli/lists.ts"
import { refreshCommands } from "../../src/cli/lists-update.ts"
import { CommandFailure } from "../../src/cli/output.ts"
import { knownSmall } from "../check/known-small.ts"

const known = knownSmall({})

const asked = (outcome: SourceState["outcome"], says: string): SourceState => ({
  url: "https://a.example/",
  outcome,
  says,
  checked_at_ms: 1,
  changed_at_ms: null,
})
const FAILED = { offices: asked("failed", "Nobody answered (ECONNREFUSED).") }

const TOOLS: ListsTools = {
  known: async () => known,
  open: async () => null,
  refresh: async () => "busy",
  rollBack: async () => null,
  checkout: null,
}

/** What a command writes, and the sentence by which it fails; null: it does not. */
async function told(command: (output: Parameters<typeof listsState>[0]) => Promise<unknown>) {
  const lines: string[] = []
  const line = (text: string): void => void lines.push(text)
  const fails = await command({ line, aside: line }).then(
    () => null,
    (fault: unknown) => (fault instanceof CommandFailure ? fault.message : String(fault)),
  )
  return { out: lines.join("\n"), fails }
}

const updated = (refreshed: Refreshed | "unknown") =>
  told(async output => {
    const group = new Command("lists").exitOverride()
    refreshCommands(group, output, { ...TOOLS, refresh: async () => refreshed })
    await group.parseAsync(["update"], { from: "user" })
  })

describe("lists update", () => {
  test("fails where no source was of use, and says whether the lists in use are the same", async () => {
    const stayed = await updated({ sources: FAILED, made: null, faults: [] })
    expect(stayed.out).toContain("The lists in use are the same.")
    expect(stayed.fails).toBe("No source was of use.")
    const changed = await updated({ sources: FAILED, made: { version: "v2" }, faults: [] })
    expect(changed.out).toContain("The lists v2 are in use.")
    expect(changed.fails).toBe("No source was of use.")
  })

  test("says what a source may be named by", async () => {
    expect((await updated("unknown")).fails).toMatch(/neither a URL nor the id of a source that is downloaded/)
  })
})

describe("lists info", () => {
  const info = (state: Partial<typeof UNREFRESHED>) =>
    told(output =>
      listsState(output, { ...TOOLS, known: async () => ({ ...known, state: { ...UNREFRESHED, ...state } }) }, false),
    )

  test("says why a source was of no use, and nothing of the others", async () => {
    const { out } = await info({ sources: { ...FAILED, here: asked("taken", "") } })
    expect(out.split("\n").at(-1)).toBe("offices failed: Nobody answered (ECONNREFUSED).")
    expect(out).not.toContain("here taken")
  })

  test("says that an operator has gone back, whatever lists are in use since", async () => {
    expect((await info({ is_paused: true })).out).toContain("no schedule refreshes them until `lists update`")
  })
})

test("lists verify fails for lists in place that are damaged, with what to do", async () => {
  const open: ListsTools["open"] = async path =>
    path === null ? { kind: "refused", says: "It is cut.", remedy: "Run it again." } : null
  const { fails } = await told(output => listsVerify(output, { ...TOOLS, open }, null, false))
  expect(fails).toBe("It is cut. Run it again.")
})
