import { expect, test } from "bun:test"
import { join } from "node:path"
import { BUILD_METRIC, METRIC_LABELS, METRICS, type MetricLabel, type MetricName } from "../../src/contract/metrics.ts"
import { DISK_FREE_BYTES_MIN, DISK_FREE_BYTES_RECOMMENDED } from "../../src/doctor/directory.ts"
import { ROOT } from "../architecture/source-files.ts"
import { readAlertRules } from "../support/promtool.ts"

type Panel = { readonly title: string; readonly type: string; readonly targets?: readonly { readonly expr: string }[] }
const dashboard: { readonly panels: readonly Panel[] } = await Bun.file(join(ROOT, "data/grafana/mailkind.json")).json() // ours
const rules = await readAlertRules()
const shown = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const))
const expressions = [...shown, ...rules.map(({ alert, expr }) => [alert, expr] as const)]

/** What `/metrics` tells under each name, with the labels that it has there. */
const TOLD: ReadonlyMap<string, readonly string[]> = new Map([
  ...(Object.keys(METRICS) as MetricName[]).flatMap((name): [string, readonly string[]][] => {
    // the keys are those of METRICS
    const { kind, labels, aggregation } = METRICS[name]
    const own: readonly string[] = aggregation === "each" ? ["worker", ...labels] : labels
    if (kind !== "histogram") return [[name, own]]
    return [
      [`${name}_bucket`, [...own, "le"]],
      [`${name}_sum`, own],
      [`${name}_count`, own],
    ]
  }),
  [BUILD_METRIC.name, BUILD_METRIC.labels] as [string, readonly string[]],
])

/** Labels that Prometheus gives every series itself. */
const GIVEN = ["job", "instance"]

test("there are panels and alerts, each with its own name", () => {
  expect(shown.length).toBeGreaterThan(30)
  expect(rules.length).toBeGreaterThan(5)
  const names = [...dashboard.panels.map(({ title }) => title), ...rules.map(({ alert }) => alert)]
  expect(new Set(names).size).toBe(names.length)
})

test.each(expressions)("%s asks for metrics that exist, by labels and values that they have", (_, expr) => {
  const named = [...expr.matchAll(/\b(mailkind_[a-z_]+)(?:\{([^}]*)\})?/g)]
  expect(named.length).toBeGreaterThan(0)
  for (const [, name = "", matchers = ""] of named) {
    expect([name, TOLD.has(name)]).toEqual([name, true])
    for (const [, label = "", , wanted = ""] of matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)) {
      if (GIVEN.includes(label)) continue
      expect(TOLD.get(name)).toContain(label)
      const values: readonly string[] = METRIC_LABELS[label as MetricLabel]
      expect([wanted, values.some(value => new RegExp(`^(?:${wanted})$`).test(value))]).toEqual([wanted, true])
    }
  }
  const has = new Set([...GIVEN, ...named.flatMap(([, name = ""]) => TOLD.get(name) ?? [])])
  for (const [, labels = ""] of expr.matchAll(/\b(?:by|without) \(([^)]*)\)/g))
    for (const label of labels.split(",")) expect(has).toContain(label.trim())
})

test("every expression is whole", () => {
  for (const [title, expr] of expressions) {
    const depth = [...expr].reduce(
      (open, sign) => open + Number("({[".includes(sign)) - Number(")}]".includes(sign)),
      0,
    )
    expect([title, depth]).toEqual([title, 0])
  }
})

test("every metric is looked at somewhere", () => {
  const all = expressions.map(([, expr]) => expr).join("\n")
  expect([...TOLD.keys()].filter(name => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([])
})

test("every alert waits a while, and says how urgent it is, what is wrong and what to do", () => {
  for (const { alert, for: waits, labels, annotations } of rules) {
    expect([alert, waits]).toEqual([alert, expect.stringMatching(/^\d+[mhd]$/)])
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(?:page|ticket)$/)])
    expect([alert, annotations["summary"], annotations["description"]]).toEqual([
      alert,
      expect.stringMatching(/\.$/),
      expect.stringMatching(/\.$/),
    ])
  }
})

test("a disk is as full for an alert as it is for `doctor`", () => {
  const exprOf = (name: string): string => rules.find(({ alert }) => alert === name)?.expr ?? ""
  expect(exprOf("MailkindDiskFull")).toContain(`mailkind_disk_free_bytes < ${DISK_FREE_BYTES_MIN} `)
  expect(exprOf("MailkindDiskFillsUp")).toContain(`mailkind_disk_free_bytes < ${DISK_FREE_BYTES_RECOMMENDED} `)
})
