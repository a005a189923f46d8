import { loadInventory, loadSbom } from "../../src/assemble/licences.ts"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { type CommandDeps, runCommand } from "../../src/cli/program.ts"
import { SETTINGS } from "../../src/config/settings.ts"
import type { TierLimits } from "../../src/customers/quota/tier-limits.ts"
import type { Actor } from "../../src/customers/store/change-log/actor.ts"
import { createSystem } from "../../src/system/system.ts"
import { random, tempLog, tempStore } from "../customers/temp-store.ts"
import { check, knownLists, lists } from "../support/app.ts"
import { memoryStreams } from "../support/memory-streams.ts"

/** Who runs the commands. */
const OPERATOR: Actor = { kind: "operator", id: "ada", source: "command", keyId: null }

/** What a test gives the commands. */
type Given = {
  readonly stdin?: string
  readonly hasColor?: boolean
  /** The files that commands read whole, by their paths. */
  readonly files?: Readonly<Record<string, string>>
  /** What the person at the terminal answers; null: nobody is there. */
  readonly answer?: string | null
  /** The limits of each tier, by its number. */
  readonly tiers?: readonly TierLimits[]
}

/** All commands over real parts, with what they wrote. */
export async function openCommands({
  stdin = "",
  hasColor = false,
  files = {},
  answer = null,
  tiers = [],
}: Given = {}) {
  const written = { out: [] as string[], err: [] as string[] }
  const questions: string[] = []
  const changes: ReturnType<typeof tempLog> = Object.assign(tempLog(await tempStore()), { actor: OPERATOR })
  const tools: CommandDeps = {
    output: { line: text => void written.out.push(text), stderrLine: text => void written.err.push(text), hasColor },
    version: "1.0.0",
    serve: async () => undefined,
    openCheck: async () => ({ check, testDomain: "mailkind.test", requestId: () => "req_test" }),
    readOwnLists: async () => () => NO_OWN_LIST_MATCH,
    classify: {
      ...createSystem(),
      streams: memoryStreams({ "-": stdin }).streams,
      terminal: null,
      stopSignal: () => new Promise(() => undefined),
    },
    openServer: () => Promise.reject(new Error("no server is asked here")),
    openMcpBackend: () => Promise.reject(new Error("no agent is served here")),
    withCustomers: work => work({ changes, random, defaultTier: 1, tiers }),
    lists: {
      loadLists: async () => knownLists,
      readWaiting: async () => null,
      openPack: async path => (path === null ? { kind: "open", pack: lists.pack } : null),
      refresh: async () => "busy",
      readInForce: () => Promise.reject(new Error("not asked for")),
      changeInForce: async () => "busy",
      checkout: null,
    },
    licences: { inventory: () => loadInventory(createSystem()), sbom: () => loadSbom(createSystem()) },
    backups: {
      backup: async () => null,
      restore: () => Promise.reject(new Error("not asked for")),
      check: () => Promise.reject(new Error("not asked for")),
    },
    store: { copy: async () => ({ kind: "no_database" }) },
    doctor: async () => [],
    commit: null,
    chooseSettings: () => undefined,
    settingFlags: [],
    config: { read: () => ({ kind: "read", settings: [] }) },
    readInput: async path => {
      const text = files[path]
      return text === undefined
        ? { kind: "unreadable", why: "it is not there" }
        : { kind: "read", text, isReadableByAll: false }
    },
    clock: changes.clock,
    ask: async question => {
      questions.push(question)
      return answer
    },
    newKey: () => "svc_live_x",
    settings: Object.entries(SETTINGS).map(([name, { defaultText, description, isAdvanced }]) => ({
      name,
      default: defaultText,
      advanced: isAdvanced,
      says: description,
    })),
  }
  const run = async (...args: string[]) => {
    written.out.length = 0
    written.err.length = 0
    const code = await runCommand(tools, args)
    return { code, out: written.out.join("\n"), err: written.err.join("\n") }
  }
  const runJson = async (...args: string[]) => {
    const { out, err } = await run(...args, "--json")
    if (out === "") throw new Error(err)
    return JSON.parse(out)
  }
  return { changes, questions, run, runJson }
}
