import { describe, expect, test } from "bun:test"
import { Command } from "commander"
import type { RefreshResult } from "../../src/check/refresh/refresh.ts"
import { INITIAL_REFRESH_STATE, type SourceState } from "../../src/check/refresh/refresh-state.ts"
import { type ListsCommandDeps, listsInfo, listsVerify, registerRefreshCommands } from "../../src/cli/lists.ts"
import { CommandError } from "../../src/cli/output.ts"
import { knownSmall } from "../check/known-small.ts"

const known = knownSmall({})

const request = (outcome: SourceState["outcome"], description: string): SourceState => ({
  url: "https://a.example/",
  outcome,
  says: description,
  checked_at_ms: 1,
  changed_at_ms: null,
})
const FAILED = { offices: request("failed", "Nobody answered (ECONNREFUSED).") }

const TOOLS: ListsCommandDeps = {
  loadLists: async () => known,
  openPack: async () => null,
  refresh: async () => "busy",
  rollBack: async () => null,
  checkout: null,
}

/** What a command writes, and the sentence by which it fails; null: it does not. */
async function facts(command: (output: Parameters<typeof listsInfo>[0]) => Promise<unknown>) {
  const lines: string[] = []
  const line = (text: string): void => void lines.push(text)
  const fails = await command({ line, stderrLine: line }).then(
    () => null,
    (fault: unknown) => (fault instanceof CommandError ? fault.message : String(fault)),
  )
  return { out: lines.join("\n"), fails }
}

const updated = (refreshed: RefreshResult | "unknown") =>
  facts(async output => {
    const group = new Command("lists").exitOverride()
    registerRefreshCommands(group, output, { ...TOOLS, refresh: async () => refreshed })
    await group.parseAsync(["update"], { from: "user" })
  })

describe("lists update", () => {
  test("fails where no source was of use, and says whether the lists in use are the same", async () => {
    const stayed = await updated({ sources: FAILED, activated: null, faults: [] })
    expect(stayed.out).toContain("The lists in use are the same.")
    expect(stayed.fails).toBe("No source could be used.")
    const changed = await updated({ sources: FAILED, activated: { version: "v2" }, faults: [] })
    expect(changed.out).toContain("The lists v2 are in use.")
    expect(changed.fails).toBe("No source could be used.")
  })

  test("says which names of a source were left out", async () => {
    const sources = { offices: { ...request("taken", ""), left_out: { count: 1, names: ["gmail.com"] } } }
    const { out, fails } = await updated({ sources, activated: null, faults: [] })
    expect(out).toMatch(/offices +taken +It lists gmail\.com, which .* left out\./)
    expect(fails).toBeNull()
  })

  test("says what a source may be named by", async () => {
    expect((await updated("unknown")).fails).toMatch(/not a URL or the id of a downloaded source/)
  })
})

describe("lists info", () => {
  const info = (state: Partial<typeof INITIAL_REFRESH_STATE>) =>
    facts(output =>
      listsInfo(
        output,
        { ...TOOLS, loadLists: async () => ({ ...known, refreshState: { ...INITIAL_REFRESH_STATE, ...state } }) },
        false,
      ),
    )

  test("says why a source was of no use, and nothing of the others", async () => {
    const { out } = await info({ sources: { ...FAILED, here: request("taken", "") } })
    expect(out.split("\n").at(-1)).toBe("offices failed: Nobody answered (ECONNREFUSED).")
    expect(out).not.toContain("here taken")
  })

  test("says which names of a source were left out", async () => {
    const { out } = await info({
      sources: { here: { ...request("taken", ""), left_out: { count: 1, names: ["a.com"] } } },
    })
    expect(out.split("\n").at(-1)).toMatch(/^here taken: It lists a\.com, which .* left out\.$/)
  })

  test("says that an operator has gone back, whatever lists are in use since", async () => {
    expect((await info({ is_paused: true })).out).toContain("paused after a rollback, until `lists update`")
  })
})

test("lists verify fails for lists in place that are damaged, with what to do", async () => {
  const openPack: ListsCommandDeps["openPack"] = async path =>
    path === null ? { kind: "refused", message: "It is cut.", remedy: "Run it again." } : null
  const { fails } = await facts(output => listsVerify(output, { ...TOOLS, openPack }, null, false))
  expect(fails).toBe("It is cut. Run it again.")
})
