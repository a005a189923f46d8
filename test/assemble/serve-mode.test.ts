import { expect, test } from "bun:test"
import type { AppContext } from "../../src/assemble/context.ts"
import { logResources, processMemoryBytes } from "../../src/assemble/serve-mode.ts"
import type { OpenStore } from "../../src/customers/store/core/store.ts"
import { codeOf, sourceFiles } from "../architecture/source-files.ts"

test("workers share the memory that their server may use, by the number that is set or by the cores", () => {
  const memoryOf = (workers: number | "auto"): number =>
    processMemoryBytes({
      settings: { MAILKIND_WORKERS: workers },
      system: { memory: { limitBytes: () => 1200 }, processes: { availableCores: () => 3 } },
    } as AppContext) // of which it reads these alone
  expect([1, 4, "auto" as const].map(memoryOf)).toEqual([1200, 300, 400])
})

test("nothing else of a server looks how much memory there is, which all its processes share", () => {
  const others = sourceFiles("src").filter(
    ({ path, text }) => /limitBytes\(\)/.test(codeOf(text)) && !/^src\/(?:rows|cli|system)\//.test(path),
  )
  // A command is one process.
  expect(others.map(({ path }) => path)).toEqual(["src/assemble/commands.ts", "src/assemble/serve-mode.ts"])
})

test("a start tells that its processes may open fewer files and sockets than they may need, and nothing where it is enough", () => {
  const linesAt = (descriptorsMax: number) => {
    const lines: unknown[] = []
    const context = {
      settings: { MAILKIND_DATABASE_URL: null },
      system: { processStats: () => ({ descriptorsMax }) },
      log: (...line: unknown[]) => void lines.push(line),
    } as unknown as AppContext // of which it uses these alone
    logResources(context, 2, {} as OpenStore) // is asked only of PostgreSQL
    return lines
  }
  const remedy = expect.stringContaining("LimitNOFILE")
  const why = expect.stringContaining("may open 64 files and sockets. It may need 4352")
  expect(linesAt(64)).toEqual([["warn", "the limit of open files is low", { why, remedy }]])
  expect([linesAt(4352), linesAt(0)]).toEqual([[], []])
})
