import { test } from "bun:test"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../architecture/source-files.ts"
import { samplesOf } from "./prometheus.ts"

/** Prometheus's tool, which checks and evaluates rules (Debian package `prometheus`); null: it is not installed. */
const PROMTOOL: string | null = Bun.which("promtool")

/** A test that asks promtool; where that is not installed it is skipped, and says so. */
export const testRules = (name: string, work: () => Promise<void>): void =>
  test.skipIf(PROMTOOL === null)(PROMTOOL === null ? `${name} (skipped: promtool is not installed)` : name, work)

export const RULES_FILE = join(ROOT, "data/grafana/alerts.yml")

/** The rules as they stand in their file. */
export type AlertRule = {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<string, string>>
}

export async function readAlertRules(): Promise<readonly AlertRule[]> {
  const file: { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] } = Bun.YAML.parse(
    await Bun.file(RULES_FILE).text(),
  ) as never // ours
  return file.groups.flatMap(({ rules }) => rules)
}

/** Runs the tool, and gives its exit code and all that it prints. */
export async function runPromtool(words: readonly string[], input = ""): Promise<{ code: number; printed: string }> {
  const child = Bun.spawn([PROMTOOL ?? "promtool", ...words], {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  })
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()]
  const [out = "", err = ""] = await Promise.all(texts)
  return { code: await child.exited, printed: out + err }
}

/** What Prometheus has scraped of a server: the values of each series, from the beginning on, in promtool's notation. */
export type Scraped = Readonly<Record<string, string>>

/** A moment, and the alerts that fire then by what was scraped until then. */
export type AlertCase = {
  readonly name: string
  /** How long it is between two scrapes, and between two evaluations of the rules. */
  readonly every: "1m" | "1h"
  readonly at: string
  readonly scraped: Scraped
  /** By their names. Where what was scraped is of nodes by `name@instance`, and by the name alone if the alert is of all. */
  readonly firing: readonly string[]
  readonly isOfNodes?: boolean
}

/** Has promtool evaluate the rules for all cases. Gives what it says of those that are otherwise; empty: none is. */
export async function differingAlerts(cases: readonly AlertCase[]): Promise<string> {
  const runs = [...Map.groupBy(cases, ({ every }) => every)].map(async ([every, group]) => {
    const file = join(tmpdir(), `alerts-${Bun.randomUUIDv7()}.json`)
    await Bun.write(file, JSON.stringify(ruleTests(every, group)))
    const { code, printed } = await runPromtool(["test", "rules", file])
    await Bun.file(file).delete()
    return code === 0 ? "" : printed
  })
  return (await Promise.all(runs)).join("")
}

/** JSON is YAML. The name of a case is a comment of its expression, which promtool prints when the alerts are others. */
const ruleTests = (every: string, cases: readonly AlertCase[]) => ({
  rule_files: [RULES_FILE],
  evaluation_interval: every,
  tests: cases.map(({ name, at, scraped, firing, isOfNodes = false }) => ({
    interval: every,
    input_series: Object.entries(isOfNodes ? scraped : { ...WELL, ...scraped }).map(([series, values]) => ({
      series: withTarget(series),
      values,
    })),
    promql_expr_test: [
      {
        expr: `group by (alertname${isOfNodes ? ", instance" : ""}) (ALERTS{alertstate="firing"}) # ${name}`,
        eval_time: at,
        exp_samples: firing.map(alert => ({ labels: `{alertname="${alert.replace("@", '",instance="')}"}`, value: 1 })),
      },
    ],
  })),
})

/** What each alert needs to be silent, unless a case says otherwise. */
const WELL: Scraped = { up: "1x300", mailkind_build_info: "1x300" }

/** A series with the labels that Prometheus gives it. Those of another target stay as they are. */
function withTarget(series: string): string {
  const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? []
  if (labels.includes("instance=")) return series
  return `${name}{${labels === "" ? "" : `${labels},`}job="checks",instance="10.0.0.1:9464"}`
}

/** How many scrapes of `scrapesOf` are of a server that is well, and how many follow, a minute each. */
export const WELL_COUNT = 10
const ILL_COUNT = 120

/**
 * What is scraped a minute after the other of a server of which `before` is scraped first, ten times, and then `after`, for two hours. Gauges stay as
 * they are then; what is counted rises in each minute by as much as it has risen between the two. `nowS` is the time of the first `after`,
 * from which time goes on: promtool begins at 0.
 */
export function scrapesOf(before: string, after: string, nowS: number): Scraped {
  const [then, now] = [samplesOf(before), samplesOf(after)]
  const originS = nowS - 60 * WELL_COUNT
  const counted = new Set([...after.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name = ""]) => name))
  const series = [...new Set([...then.keys(), ...now.keys()])].map(name => {
    const metric = /^\w+/.exec(name)?.[0] ?? ""
    if (metric === "mailkind_clock_timestamp_seconds")
      return [name, `${(now.get(name) ?? 0) - nowS}+60x${WELL_COUNT + ILL_COUNT}`]
    const shift = /(?:_timestamp|_start_time)_seconds$/.test(metric) ? originS : 0
    const [first, last] = [then.get(name), now.get(name)]
    const isCounted = counted.has(metric) || counted.has(metric.replace(/_(?:bucket|sum|count)$/, ""))
    const well = first === undefined ? `_x${WELL_COUNT}` : `${first - shift}x${WELL_COUNT - 1}`
    const step = isCounted && last !== undefined ? Math.max(0, last - (first ?? 0)) : 0
    const ill = last === undefined ? `_x${ILL_COUNT}` : `${last - shift}+${step}x${ILL_COUNT}`
    return [name, `${well} ${ill}`]
  })
  return Object.fromEntries(series)
}
