import { describe, expect, test } from "bun:test"
import { renderToString } from "preact-render-to-string"
import { SOURCE_OUTCOMES } from "../../../../src/check/refresh/refresh-state.ts"
import type { Health } from "../../../../src/contract/schemas.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { publishTerms } from "../../../../src/customers/terms/terms.ts"
import type { Measure } from "../../../../src/customers/usage/measures.ts"
import {
  pruneTraffic,
  STATUS_CLASSES,
  type TrafficMeasure,
  TrafficRecorder,
} from "../../../../src/customers/usage/traffic.ts"
import { Meter } from "../../../../src/http/metrics/meter.ts"
import {
  adminTodos,
  formatDuration,
  MAIL_WAIT_MAX_MS,
  type ServerOverview,
} from "../../../../src/http/site/admin/overview.tsx"
import { listsOverview, SourceGroups, sourceGroups } from "../../../../src/http/site/public/lists-overview.tsx"
import { healthReport } from "../../../../src/http/v1/health.ts"
import { submitReport } from "../../../customers/feedback/open-feedback.ts"
import { newAccount, random } from "../../../customers/temp-store.ts"
import { knownLists } from "../../../support/app.ts"
import { trustedAt } from "../../../support/clock.ts"
import { HOSTILE } from "../../../support/open-site.ts"
import { openAdmin } from "./open-admin.ts"

const NOW_MS = Date.UTC(2026, 0, 2)
const health = (dnsStatus: Health["dns"]["status"]) =>
  healthReport({
    version: "1.0.0",
    commit: null,
    activeLists: knownLists,
    listsDamage: null,
    isBehind: false,
    waitingUntilMs: null,
    isRefreshScheduled: true,
    dnsStatus,
    isClockInDoubt: false,
    isDatabaseAway: false,
    databaseAnsweredMsAgo: null,
    uptimeMs: 0,
    nowMs: NOW_MS,
  })

/** A house in which all is well, but for what is wanted otherwise. */
const standing = (wanted: Partial<ServerOverview> = {}): ServerOverview => ({
  health: health("ok"),
  lists: listsOverview(knownLists),
  accountCount: 1,
  activeKeyCount: 1,
  waitingReportCount: 0,
  outbox: { waitingCount: 0, waitingSinceMs: null, refusedCount: 0, givenUpCount: 0 },
  unacceptedCount: 0,
  hasMailServer: true,
  nodeCount: 1,
  suspendedCount: 0,
  failedJobs: [],
  traffic: [],
  nowMs: NOW_MS,
  ...wanted,
})

/** Mails that have waited for so long. */
const waiting = (ms: number) => ({ ...standing().outbox, waitingCount: 3, waitingSinceMs: NOW_MS - ms })

/** What needs attention, in words: what is broken comes first. */
const todosOf = (overview: ServerOverview): readonly string[] => {
  const { broken, waiting: others } = adminTodos(overview)
  return [...broken, ...others].map(({ text }) => text)
}

const withSource = (outcome: (typeof SOURCE_OUTCOMES)[number]): Partial<ServerOverview> => {
  const lists = listsOverview(knownLists)
  const [first, ...rest] = lists.sources
  if (first === undefined) throw new Error("there are sources")
  const refresh = {
    ...{ outcome, message: "It shrank by half.", checkedAt: "2026-01-01T00:00:00.000Z" },
    ...{ goodAt: null, changedAt: null, lastFault: null },
  }
  return { lists: { ...lists, sources: [{ ...first, id: "a-source", refresh }, ...rest] } }
}

describe("what needs attention", () => {
  test("is nothing where all is well", () => {
    expect(todosOf(standing())).toEqual([])
    expect(todosOf(standing({ outbox: waiting(MAIL_WAIT_MAX_MS - 1) }))).toEqual([])
  })

  test.each([
    [{ health: health("unavailable") }, "DNS does not answer."],
    [{ hasMailServer: false }, "no mail server is set"],
    [
      { outbox: waiting(MAIL_WAIT_MAX_MS) },
      "3 emails were not sent yet. The oldest has waited since 1 Jan 2026, 23:00 UTC.",
    ],
    [{ outbox: { ...standing().outbox, refusedCount: 1 } }, "1 email was refused by"],
    [{ outbox: { ...standing().outbox, givenUpCount: 2 } }, "2 emails were not delivered after days of tries."],
    [{ lists: { ...listsOverview(knownLists), pinned: "v1" } }, "The lists `v1` are pinned."],
    [
      { health: { ...health("ok"), lists: { ...health("ok").lists, is_behind: true } } },
      "This node does not use the lists of the other nodes.",
    ],
    [{ waitingReportCount: 1 }, "1 report waits for a decision."],
    [{ unacceptedCount: 9 }, "9 accounts have not accepted the terms."],
    [{ suspendedCount: 2 }, "2 accounts are suspended."],
    [{ failedJobs: [{ accountId: "acc_1", count: 1 }] }, "1 list check stopped before its end."],
  ] as const)("is told: %#", (wanted, description) => {
    const facts = todosOf(standing(wanted))
    expect(facts).toHaveLength(1)
    expect(facts[0]).toContain(description)
  })

  test.each(SOURCE_OUTCOMES)("a source that was %s is told when it was of no use", outcome => {
    const facts = todosOf(standing(withSource(outcome)))
    if (outcome === "taken" || outcome === "unchanged") return expect(facts).toEqual([])
    expect(facts).toHaveLength(1)
    expect(facts[0]).toStartWith("The source `a-source` ")
  })

  test("many sources with one problem are told in one line", () => {
    const { lists } = standing(withSource("failed"))
    const faulty = lists.sources.map(source => ({ ...source, refresh: lists.sources[0]?.refresh ?? null }))
    expect(todosOf(standing({ lists: { ...lists, sources: faulty } }))).toEqual([
      `${faulty.length} sources could not be fetched, \`a-source\` among them.`,
    ])
  })

  test("DNS that the operator turned off is no news", () => {
    expect(todosOf(standing({ health: health("off") }))).toEqual([])
  })

  test("waiting mails are no news where there is no server for them", () => {
    expect(todosOf(standing({ hasMailServer: false, outbox: waiting(MAIL_WAIT_MAX_MS) }))).toHaveLength(1)
  })
})

test.each([
  [0, "less than a minute"],
  [59, "less than a minute"],
  [60, "1 minute"],
  [3599, "59 minutes"],
  [3600, "1 hour 0 minutes"],
  [86_399, "23 hours 59 minutes"],
  [86_400, "1 day 0 hours"],
  [1_000_000, "11 days 13 hours"],
])("%p seconds are %p", (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words)
})

test("the overview counts what there is", async () => {
  const { page, changes, store } = await openAdmin()
  const id = await newAccount(changes, "jane@example.com")
  await createKey(changes, random, { accountId: id, kind: "secret", name: HOSTILE.slice(0, 50), origins: [] })
  await submitReport(changes, { accountId: id })
  await submitReport(changes, { accountId: id, domain: "example.net" })
  await publishTerms(changes, { version: "1", url: "https://a.example/", isMaterial: true })
  const before = await page("/admin")
  for (const part of [
    "2 reports wait for a decision. Review reports",
    "2 accounts have not accepted the terms. See terms",
    "Accounts 2 2 active keys",
    "API ok DNS works Lists not refreshed yet Email on",
    "Servers 1",
    "Emails waiting 2, since 1 Jan 2026",
    "Version 1.0.0",
  ])
    expect(before.text).toContain(part)
  await store.run("UPDATE outbox SET ending = 'refused', ended_at_ms = 1 WHERE notice = 'key_created'")
  await store.run("UPDATE outbox SET ending = 'given_up', ended_at_ms = 1 WHERE notice = 'terms_change'")
  const { text } = await page("/admin")
  for (const part of ["Emails waiting none", "1 email was refused by", "1 email was not delivered"])
    expect(text).toContain(part)
})

test("the overview shows requests by status, units and categories of 24 hours and 30 days, from what processes wrote", async () => {
  const { page, store, clock, ask, customers, column } = await openAdmin({ tier: 0 })
  const meter = new Meter(column)
  const totalOf = (measure: TrafficMeasure) => {
    const statusClass = STATUS_CLASSES.find(each => measure === `status_${each}`)
    return statusClass === undefined ? customers.usage.total(measure as Measure) : meter.apiResponses(statusClass)
  }
  const recorder = new TrafficRecorder(store, clock, totalOf)
  const before = await page("/admin")
  expect(before.text).toContain("No requests in the last 24 hours. No requests in the last 30 days.")
  expect(before.html).not.toContain("<figure")
  await ask("POST /v1/check", { body: { domain: "gmail.com" } })
  await ask("POST /v1/check", { body: { domain: "mailinator.com" } })
  await ask("POST /v1/check", { body: { domain: "yopmail.com" } })
  await ask("POST /v1/check", { body: {} })
  await Promise.all([recorder.flush(), recorder.flush()])
  await store.run("INSERT INTO traffic (hour, measure, count) VALUES ($1, 'status_5', 7)", [
    Math.floor(clock() / 3_600_000) - 48,
  ])
  await store.run("INSERT INTO traffic (hour, measure, count) VALUES ($1, 'used', 1)", [
    Math.floor(clock() / 3_600_000) - 24,
  ])
  const { text, html } = await page("/admin")
  expect(text).toContain(
    "Requests, 24 hours 4 none in the day before Failed, 24 hours 0 0% of requests Units, 24 hours 3 ▲ up 200% vs the day before",
  )
  expect(html).toContain("Requests to the API in 24 hours: Answered 3, Refused (4xx) 1, Failed (5xx) 0.")
  expect(html).toContain("Requests to the API in 30 days: Answered 3, Refused (4xx) 1, Failed (5xx) 7.")
  expect(text).toMatch(/Disposable 2 \(67%\) Personal 1 \(33%\)/)
  expect(await pruneTraffic(store, trustedAt(clock() + 31 * 86_400_000))).toBe(2)
})

describe("the page of the sources", () => {
  test("has each source, with none to worry about", async () => {
    const { page } = await openAdmin()
    const { text, html } = await page("/admin/sources")
    expect(text).toContain("none with a problem")
    for (const { id } of listsOverview(knownLists).sources) expect(html).toContain(`id="source-${id}"`)
    expect(html).not.toContain("<details open")
  })

  test("groups them by their state: failures first, then those that are not downloaded yet", () => {
    const { sources } = knownLists.manifest
    const ids = Object.keys(sources)
    const [failed = "", healthy = ""] = ids.filter(id => sources[id]?.date !== "")
    const state = { url: "", outcome: "taken", says: "", checked_at_ms: NOW_MS, changed_at_ms: NOW_MS } as const
    const lists = listsOverview({
      ...knownLists,
      refreshState: {
        ...knownLists.refreshState,
        sources: { [failed]: { ...state, outcome: "failed" }, [healthy]: state },
      },
    })
    const groups = sourceGroups(lists.sources, "state")
    expect(groups.map(([label]) => label)).toEqual(["With a problem", "Not downloaded yet", "Healthy", "Built in"])
    expect(groups[0]?.[1].map(({ id }) => id)).toEqual([failed])
    expect(groups[1]?.[1].map(({ id }) => id)).toEqual(ids.filter(id => sources[id]?.date === ""))
    expect(groups[2]?.[1].map(({ id }) => id)).toEqual([healthy])
  })

  test("says why a source failed in its row, and links an origin that is a URL", () => {
    const { lists } = standing(withSource("failed"))
    const [source] = lists.sources
    if (source === undefined) throw new Error("there are sources")
    const rowOf = (origin: string) =>
      renderToString(SourceGroups({ groups: [["With a problem", [{ ...source, origin }]]] }))
    expect(rowOf("https://example.com/list.txt")).toMatch(
      /<summary class="cells"><span><code>a-source<\/code><small>It shrank by half\.<\/small>.*1 Jan 2026.*<\/summary>.*<a href="https:\/\/example\.com\/list\.txt"/,
    )
    expect(rowOf("javascript:alert(1)")).not.toContain("<a ")
  })
})
