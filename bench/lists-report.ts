import { openPack } from "../src/check/lists/domain-set.ts"
import type { BudgetName } from "./budgets.ts"
import { listsBench } from "./lists.ts"
import { figure, type Report } from "./report.ts"

/** How much the bench does. */
export type ListsScale = { readonly questions: number; readonly rounds: number }

/** The scale of a figure that may be told. */
export const LISTS_FULL: ListsScale = { questions: 200_000, rounds: 15 }

/** Runs the lists bench on the bytes of a pack and puts its figures beside the budgets. Throws when they are no pack. */
export function listsReport(scale: ListsScale, pack: Uint8Array): Report {
  const opened = openPack(pack)
  if (opened.kind === "refused") throw new Error(opened.says)
  const found = listsBench({ pack, names: [...opened.pack.names()], ...scale })
  return {
    bench: "lists",
    says: [
      `a pack of ${found.names} names against a Set<string> of them; ${scale.rounds} rounds of ${scale.questions}`,
    ],
    figures: [
      ...found.lookups.flatMap(({ what, packNs, setNs, ratio }) => [
        figure(`${what}: pack ÷ set`, "", ratio, BUDGET_OF[what] ?? null),
        figure(`${what}: pack`, "ns", packNs),
        figure(`${what}: set`, "ns", setNs),
      ]),
      figure("memory: pack ÷ set", "", found.packBytes / found.setHeapBytes, "lists_memory"),
      figure("pack", "MB", found.packBytes / 1e6),
      figure("set", "MB", found.setHeapBytes / 1e6),
      figure("open the pack", "ms", found.openMs, "lists_open"),
      figure("fill the set", "ms", found.setFillMs),
    ],
  }
}

/** A server asks about names that it has just cut out of a request; one whose hash a Set already knows is shown beside. */
const BUDGET_OF: Readonly<Record<string, BudgetName>> = { "hit, fresh": "lists_hit", "miss, fresh": "lists_miss" }
