import { describe, expect, test } from "bun:test"
import { Command } from "commander"
import type { ListsAct, ListsActResult, ListsInForce } from "../../src/check/refresh/lists-in-force.ts"
import type { RefreshResult } from "../../src/check/refresh/refresh.ts"
import { INITIAL_REFRESH_STATE, type SourceState } from "../../src/check/refresh/refresh-state.ts"
import { type ListsCommandDeps, listsInfo, listsVerify, registerRefreshCommands } from "../../src/cli/lists.ts"
import { registerInForceCommands } from "../../src/cli/lists-in-force.ts"
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

const NOW: ListsInForce = {
  ...{ inUse: "v1", pinned: "v1", newest: "v2", isReleased: false, waiting: null, builtIn: "v0" },
  packs: ["v2", "v1"].map(version => ({ sha256: version.repeat(32), version, made_at_ms: 0 })),
}

const TOOLS: ListsCommandDeps = {
  loadLists: async () => known,
  readWaiting: async () => null,
  openPack: async () => null,
  refresh: async () => "busy",
  readInForce: async () => NOW,
  changeInForce: async () => "busy",
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
    const stayed = await updated({ sources: FAILED, activated: null, pinned: null, faults: [] })
    expect(stayed.out).toContain("The lists in use are the same.")
    expect(stayed.fails).toBe("No source could be used.")
    const changed = await updated({ sources: FAILED, activated: { version: "v2" }, pinned: null, faults: [] })
    expect(changed.out).toContain("The lists v2 are in use.")
    expect(changed.fails).toBe("No source could be used.")
  })

  test("says which names of a source were left out", async () => {
    const sources = { offices: { ...request("taken", ""), left_out: { count: 1, names: ["gmail.com"] } } }
    const { out, fails } = await updated({ sources, activated: null, pinned: null, faults: [] })
    expect(out).toMatch(/offices +taken +It lists gmail\.com, which .* left out\./)
    expect(fails).toBeNull()
  })

  test("says what a source may be named by", async () => {
    expect((await updated("unknown")).fails).toMatch(/not a URL or the id of a downloaded source/)
  })
})

/** What a command prints about what is in force, and what it asks for. */
async function inForce(words: readonly string[], result: ListsActResult | "busy" = "busy") {
  const acts: ListsAct[] = []
  const { out, fails } = await facts(async output => {
    const group = new Command("lists").exitOverride()
    const changeInForce = async (act: ListsAct) => {
      acts.push(act)
      return result
    }
    registerInForceCommands(group, output, { ...TOOLS, changeInForce })
    await group.parseAsync([...words], { from: "user" })
  })
  return { out, fails, acts }
}

describe("lists pin", () => {
  test("without a version shows what is pinned, which versions there are and which is used", async () => {
    const { out, acts } = await inForce(["pin"])
    expect(acts).toEqual([])
    expect(out).toContain("v1 is pinned, until `lists unpin`.")
    expect(out).toMatch(/v2 +1970-01-01T00:00:00.000Z +newest\nv1 +1970-01-01T00:00:00.000Z +in use\nbuilt_in \(v0\)/)
    expect(JSON.parse((await inForce(["pin", "--json"])).out)).toMatchObject({
      version: "v1",
      pinned: "v1",
      newest: "v2",
    })
  })

  test("on a node that waits shows what it uses, and until when it waits for the newest", async () => {
    const waiting = { version: "v2", untilMs: 1000, inUse: "v1" }
    const now = { ...NOW, pinned: null, inUse: "v2", waiting }
    const run = (...words: readonly string[]) =>
      facts(async output => {
        const group = new Command("lists").exitOverride()
        const changeInForce = async () => ({ kind: "done", now, pinnedBefore: "v1" }) as const
        registerInForceCommands(group, output, { ...TOOLS, readInForce: async () => now, changeInForce })
        await group.parseAsync([...words], { from: "user" })
      })
    expect((await run("pin")).out).toMatch(/Z +newest, waits here until 1970-01-01T00:00:01.000Z\nv1 .*Z +in use\n/)
    expect(JSON.parse((await run("pin", "--json")).out)).toMatchObject({
      version: "v1",
      waiting: { version: "v2", until: "1970-01-01T00:00:01.000Z" },
    })
    expect((await run("unpin")).out).toStartWith(
      "The lists v1 are in use.\nv2 waits here until 1970-01-01T00:00:01.000Z",
    )
  })

  test("says which other version was pinned before, so that of two administrators the later one knows", async () => {
    const { out, acts } = await inForce(["pin", "v1"], { kind: "done", now: NOW, pinnedBefore: "v2" })
    expect(acts).toEqual([{ kind: "pin", version: "v1" }])
    expect(out).toContain("The lists v1 are in use.\nThey are pinned, until `lists unpin`.\nv2 was pinned before.")
    const same = await inForce(["pin", "v1"], { kind: "done", now: NOW, pinnedBefore: "v1" })
    expect(same.out).not.toContain("before")
  })

  test("of a version that nobody has is refused, with those that there are", async () => {
    const { fails } = await inForce(["pin", "v9"], { kind: "none", now: NOW })
    expect(fails).toBe("There are no such lists. There are: v2, v1, built_in.")
  })

  test.each([["unpin"], ["release"], ["rollback"]])(
    "%s is refused while another process changes the lists",
    async name => {
      const { fails, acts } = await inForce([name])
      expect(fails).toMatch(/Another process/)
      expect(acts).toHaveLength(1)
    },
  )
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

  test("says until when a node waits for newer lists", async () => {
    const readWaiting = async () => ({ version: "v2", untilMs: 1000, inUse: "v1" })
    const told = (asJson: boolean) => facts(output => listsInfo(output, { ...TOOLS, readWaiting }, asJson))
    expect((await told(false)).out).toContain("\nv2 waits here until 1970-01-01T00:00:01.000Z")
    expect(JSON.parse((await told(true)).out)).toMatchObject({ refresh: { waiting: { version: "v2" } } })
  })

  test("says which version is pinned", async () => {
    expect((await info({ pinned: "v1" })).out).toContain("v1 is pinned, until `lists unpin`")
    expect((await info({})).out).not.toContain("pinned")
  })
})

test("lists verify fails for lists in place that are damaged, with what to do", async () => {
  const openPack: ListsCommandDeps["openPack"] = async path =>
    path === null ? { kind: "refused", message: "It is cut.", remedy: "Run it again." } : null
  const { fails } = await facts(output => listsVerify(output, { ...TOOLS, openPack }, null, false))
  expect(fails).toBe("It is cut. Run it again.")
})
