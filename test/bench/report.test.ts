import { describe, expect, test } from "bun:test"
import { BUDGETS, type BudgetName, isHeld } from "../../bench/budgets.ts"
import { machineText, thisMachine } from "../../bench/report/machine.ts"
import { costFigure, costRatioFigure, spreadFigure } from "../../bench/report/processor-time.ts"
import { budgetStatus, figure, medianFigure, reportJson, reportText } from "../../bench/report/report.ts"
import { resultsMarkdown } from "../../bench/report/results.ts"
import { interleaved, median } from "../../bench/report/rounds.ts"

describe("budgets", () => {
  test("a figure on the bound holds its budget, and one beyond it crosses it", () => {
    for (const name of Object.keys(BUDGETS) as BudgetName[]) {
      const budget = BUDGETS[name]
      const bound = "atMost" in budget ? budget.atMost : budget.atLeast
      const beyond = "atMost" in budget ? bound + 0.001 : bound - 0.001
      expect([isHeld(name, bound), isHeld(name, beyond), isHeld(name, Number.NaN)]).toEqual([true, false, false])
    }
  })

  test("a figure without a budget neither holds nor crosses one", () => {
    expect(budgetStatus(figure("size", "MB", 4))).toBeNull()
    expect(budgetStatus(figure("ratio", "", 0.75, "http"))).toBe("held")
    expect(budgetStatus(figure("ratio", "", 0.74, "http"))).toBe("crossed")
  })
})

describe("rounds", () => {
  test("the median is the middle value, whatever the order, and the mean of the middle two", () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([9, 1, 5, 7])).toBe(6)
    expect(median([])).toBeNaN()
  })

  test("subjects are measured in an order that turns about each round", async () => {
    const order: string[] = []
    const values = await interleaved(["a", "b"], 3, name => order.push(name))
    expect(order.join(" ")).toBe("a b b a a b")
    expect(values).toEqual({ a: [1, 4, 5], b: [2, 3, 6] })
  })
})

describe("costs", () => {
  test("are the mean of the lower half of their rounds, the middle one among them", () => {
    expect(costFigure("cost", "µs", [9, 1, 5, 3, 100]).value).toBe(3)
    expect(costFigure("cost", "µs", [4, 2]).value).toBe(2)
    expect(costFigure("cost", "µs", []).value).toBeNaN()
  })

  test("are compared by that, whatever single rounds say", () => {
    const { value, rounds } = costRatioFigure("ratio", [4, 4, 40], [2, 20, 2])
    expect([value, rounds]).toEqual([2, [2, 0.2, 20]])
  })

  test("of kinds are told by the dearest and the cheapest", () => {
    const { figure: spread, description } = spreadFigure(
      "kinds",
      { one: [3, 3], other: [1, 9], third: [2, 2] },
      "check_kinds",
    )
    expect([spread.value, budgetStatus(spread), description]).toEqual([3, "crossed", "kinds: one by other"])
  })
})

describe("reports", () => {
  const report = {
    bench: "http",
    description: ["measured so"],
    figures: [medianFigure("ratio", "", [0.76, 0.5, 0.8], "http"), figure("floor", "answers/s", 71_234.5)],
  }

  test("a table tells the median, its budget and every round", () => {
    expect(reportText(report)).toBe(
      [
        "http",
        "  measured so",
        "    ratio   0.76             ≥ 0.75 held  rounds 0.76 0.5 0.8",
        "    floor  71235  answers/s",
      ].join("\n"),
    )
  })

  test("JSON has the bound and the standing of each figure", () => {
    const [ratio, floor] = reportJson(report).figures
    expect(ratio).toMatchObject({ value: 0.76, standing: "held", bound: { atLeast: 0.75 } })
    expect(floor).toMatchObject({ standing: null, bound: null })
  })
})

describe("the results file", () => {
  const machine = { ...thisMachine(), cores: 2, cpu: "Test CPU", commit: "abc" }
  const report = (bench: string, value: number) => ({
    bench,
    description: ["measured so"],
    figures: [medianFigure("a|b", "ms", [value, value], null), figure("ratio", "", value, "http")],
  })

  test("has a section a bench with its machine, commit, bounds and rounds, in aligned columns and the order of their names", () => {
    const text = resultsMarkdown("", machine, [report("start", 2), report("http", 1)])
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, name]) => name)).toEqual(["http", "start"])
    expect(text).toContain("Commit abc, 2 cores of Test CPU, Bun")
    expect(text).toContain("| a\\|b   | 2 ms  |             | 2 2    |")
    expect(text).toContain("| ratio  | 1     | ≥ 0.75 held |        |")
  })

  test("writes a description with one space between words, as the formatter wants it", () => {
    const text = resultsMarkdown("", machine, [{ ...report("http", 1), description: ["relay   ·  4"] }])
    expect(text).toContain("\n- relay · 4\n")
  })

  test("keeps the sections of benches that did not run, and replaces those that did", () => {
    const before = resultsMarkdown("", machine, [report("start", 2), report("http", 1)])
    const after = resultsMarkdown(before, { ...machine, commit: "def" }, [report("http", 3)])
    expect(after).toContain("| a\\|b   | 2 ms  |")
    expect(after).toContain("| a\\|b   | 3 ms  |")
    expect(after).not.toContain("| a\\|b   | 1 ms  |")
    expect([after.split("Commit abc").length, after.split("Commit def").length]).toEqual([2, 2])
    expect(resultsMarkdown(after, machine, [])).toBe(after)
    const answered = `${after}\n# Answered\n\n## soak\n\nfigures\n`
    expect(resultsMarkdown(answered, machine, [])).toBe(answered)
  })
})

test("the machine is told with its cores, its Bun and its commit", () => {
  const text = machineText({ ...thisMachine(), cores: 2, commit: "abc+", loadAverage: 0.5 })
  expect(text).toContain("2 cores")
  expect(text).toContain(`Bun ${Bun.version}`)
  expect(text).toContain("commit abc+")
  expect(text).not.toContain("load average")
  expect(machineText({ ...thisMachine(), loadAverage: 0.6 })).toContain("load average 0.6")
})
