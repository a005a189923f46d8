import { Command, CommanderError } from "commander"
import type { Check } from "../../../src/check/check.ts"
import { registerClean } from "../../../src/cli/classify/clean-command.ts"
import { registerClassify } from "../../../src/cli/classify/command.ts"
import type { ClassifyDeps } from "../../../src/cli/classify/run.ts"
import { CommandError } from "../../../src/cli/output.ts"
import { check } from "../../support/app.ts"
import { memoryStreams } from "../../support/memory-streams.ts"

/** How a test's world differs from the usual one. */
type Options = {
  readonly command?: "classify" | "clean"
  readonly check?: Check
  readonly partBytes?: number
  readonly roomBytes?: number
  readonly tools?: Partial<ClassifyDeps>
}

/** The command, `classify` if none is named, over files in memory: what it wrote, and the code that it would exit with. */
export function classifying(files: Record<string, string | Uint8Array>, options: Options = {}) {
  const memory = memoryStreams(files, options)
  const requests: boolean[] = []
  const run = async (...args: string[]) => {
    const reply = { out: [] as string[], err: [] as string[] }
    const output = {
      line: (text: string) => void reply.out.push(text),
      stderrLine: (text: string) => void reply.err.push(text),
    }
    memory.answered.length = 0
    const root = new Command("mailkind")
      .exitOverride()
      .configureOutput({ writeOut: output.line, writeErr: output.stderrLine })
    const checker = async (isOffline: boolean) => {
      requests.push(isOffline)
      return { check: options.check ?? check, testDomain: "mailkind.test", requestId: () => "req_test" }
    }
    const deps = { ...QUIET, streams: memory.streams, ...options.tools }
    registerClassify(root, output, checker, deps)
    registerClean(root, output, checker, deps)
    const command = [options.command ?? "classify", ...args]
    const code = await codeOf(root.parseAsync(command, { from: "user" }), output.stderrLine)
    return { code, answered: memory.answered.join(""), out: reply.out.join("\n"), err: reply.err.join("\n") }
  }
  return { ...memory, run, requests }
}

const QUIET = {
  terminal: null,
  stopwatch: () => 0,
  collectGarbage: () => undefined,
  memory: { residentBytes: () => 0, limitBytes: () => 8e9 },
  runInterval: () => () => undefined,
  nextTick: (work: () => void) => void setImmediate(work),
  stopSignal: () => new Promise<string>(() => undefined),
}

async function codeOf(done: Promise<unknown>, aside: (text: string) => void): Promise<number> {
  try {
    await done
    return 0
  } catch (failure) {
    if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : 2
    if (!(failure instanceof CommandError)) throw failure
    aside(failure.message)
    return failure.exitCode
  }
}

/** The lines of a text without the empty one after its last line feed. */
export const linesOf = (text: string): readonly string[] => text.split("\n").slice(0, -1)

/** The first field of each line. */
export const inputsOf = (text: string): readonly string[] => linesOf(text).map(line => line.split("\t")[0] ?? "")

/** The second field of each line. */
export const categoriesOf = (text: string): readonly string[] => linesOf(text).map(line => line.split("\t")[1] ?? "")
