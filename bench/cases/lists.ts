import { openPack } from "../../src/check/lists/pack/pack.ts"
import type { BudgetName } from "../budgets.ts"
import { figure, type Report } from "../report/report.ts"
import { packMemory, setMemory } from "./lists-memory.ts"
import { listsBench } from "./lists-rounds.ts"

/** How much the bench does. */
export type ListsScale = { readonly questions: number; readonly rounds: number }

/** The scale of a figure that may be told. */
export const LISTS_FULL: ListsScale = { questions: 200_000, rounds: 15 }

/** Runs the lists bench on a pack in a file and puts its figures beside the budgets. Rejects when it is no pack. */
export async function listsReport(scale: ListsScale, path: string): Promise<Report> {
  const pack = await Bun.file(path).bytes()
  const opened = openPack(pack)
  if (opened.kind === "refused") throw new Error(opened.message)
  const names = [...opened.pack.names()]
  const found = listsBench({ pack, names, ...scale })
  const [held, set] = [await packMemory(path), await setMemory(names)]
  return {
    bench: "lists",
    description: [
      `a pack of ${found.names} names against a Set<string> of them; ${scale.rounds} rounds of ${scale.questions}`,
      "private: what only this process has",
    ],
    figures: [
      ...found.lookups.flatMap(({ what, packNs, setNs, ratio }) => [
        figure(`${what}: pack ÷ set`, "", ratio, BUDGET_OF[what] ?? null),
        figure(`${what}: pack`, "ns", packNs),
        figure(`${what}: set`, "ns", setNs),
      ]),
      figure("private memory: pack ÷ set", "", held.privateBytes / set.privateBytes, "lists_memory"),
      figure("private memory: pack", "MB", held.privateBytes / 1e6),
      figure("private memory: set", "MB", set.privateBytes / 1e6),
      figure("file of the pack", "MB", pack.length / 1e6),
      figure("file ÷ resident memory of the set", "", pack.length / set.residentBytes),
      figure("open the pack", "ms", found.openMs, "lists_open"),
      figure("fill the set", "ms", set.ms),
    ],
  }
}

/** A server asks about names that it has just cut out of a request. */
const BUDGET_OF: Readonly<Record<string, BudgetName>> = { hit: "lists_hit", miss: "lists_miss" }
