import { describe, expect, test } from "bun:test"
import { known, unknown } from "../../../../src/base/finding.ts"
import type { NetworkEvidence } from "../../../../src/check/evidence-defects.ts"
import { removeAccount } from "../../../../src/customers/accounts/accounts.ts"
import { CORRECTIONS_MAX } from "../../../../src/customers/feedback/correction-cache.ts"
import { decideFeedback } from "../../../../src/customers/feedback/decision.ts"
import {
  FEEDBACK_STATUSES,
  type FeedbackReport,
  type FeedbackStatus,
} from "../../../../src/customers/feedback/feedback.ts"
import { addEntries } from "../../../../src/customers/own-lists/own-lists.ts"
import { entry } from "../../../contract/own-list-entry.ts"
import { submitReport } from "../../../customers/feedback/open-feedback.ts"
import { newAccount } from "../../../customers/temp-store.ts"
import { formIn } from "../../../support/html-browser.ts"
import { attributesIn, HOSTILE, unescapeHtml } from "../../../support/open-site.ts"
import { openAdmin } from "./open-admin.ts"

/** The app with a report of example.net by jane@example.com, unless another is wanted. */
async function harness(wanted: Partial<FeedbackReport> = {}, options: Parameters<typeof openAdmin>[0] = {}) {
  const admin = await openAdmin(options)
  const { changes, store } = admin
  const janeId = await newAccount(changes, "jane@example.com")
  const report = async (more: Partial<FeedbackReport> = {}): Promise<string> =>
    (await submitReport(changes, { accountId: janeId, domain: "example.net", ...more })).id
  const statusOf = async (id: string): Promise<unknown> =>
    (await store.one<{ status: string }>("SELECT status FROM feedback WHERE id = $1", [id]))?.status
  const corrections = () => store.all<{ domain: string; category: string }>("SELECT domain, category FROM corrections")
  return { ...admin, janeId, report, statusOf, corrections, id: await report(wanted) }
}

type Harness = Awaited<ReturnType<typeof harness>>

/** Brings the report into a status. */
async function bring({ changes, id }: Harness, status: FeedbackStatus): Promise<void> {
  if (status === "accepted") await decideFeedback(changes, id, "accepted")
  if (status === "rejected") await decideFeedback(changes, id, "rejected")
}

describe("the queue", () => {
  test("shows the reports that wait, and others when they are asked for", async () => {
    const { changes, page, report, id } = await harness()
    const [accepted, rejected] = [await report({ domain: "accepted.com" }), await report({ domain: "rejected.com" })]
    await decideFeedback(changes, accepted, "accepted")
    await decideFeedback(changes, rejected, "rejected")
    const shown = async (query: string) =>
      [...new Set(attributesIn((await page(`/admin/feedback${query}`)).html, "href"))]
        .filter(target => target.startsWith("/admin/feedback/"))
        .map(target => target.slice("/admin/feedback/".length))
    expect(await shown("")).toEqual([id])
    expect(await shown("?status=received")).toEqual([id])
    expect(await shown("?status=accepted")).toEqual([accepted])
    expect(await shown("?status=rejected")).toEqual([rejected])
    expect((await shown("?status=all")).sort()).toEqual([id, accepted, rejected].sort())
    expect(await shown("?status=nonsense")).toEqual([id])
  })

  test("goes on from page to page, and shows each report once", async () => {
    const { page, report, time } = await harness()
    for (let at = 0; at < 70; at++) {
      await report({ domain: `d${at}.com` })
      if (at % 7 === 0) await time.tick(1)
    }
    const first = await page("/admin/feedback?status=received")
    const next = attributesIn(first.html, "href").find(target => target.includes("after="))
    const second = await page(next ?? "")
    const domains = [first, second].map(({ html }) =>
      [...html.matchAll(/<bdi>([^<@]+)<\/bdi>/g)].map(([, name]) => name),
    )
    expect(domains.map(({ length }) => length)).toEqual([50, 21])
    expect(new Set(domains.flat()).size).toBe(71)
    expect(second.html).not.toContain("after=")
  })

  test.each([...FEEDBACK_STATUSES, "all"])("says so when there is none: %s", async status => {
    const { page, changes, janeId } = await harness()
    await removeAccount(changes, janeId)
    expect((await page(`/admin/feedback?status=${status}`)).text).toMatch(
      /No report (is waiting|was)|There are no reports/,
    )
  })
})

const TOLD: NetworkEvidence = {
  mail: known({
    reach: "mx",
    provider: null,
    mx: [{ priority: 10, host: "<b>mx</b>.example.net", provider: null }],
    runBy: "other",
    spf: known(null),
    dmarcPolicy: known(null),
  } as never), // as far as a page reads it
  suites: unknown("not_asked"),
  tenant: unknown("not_asked"),
  isCached: false,
  freshUntilMs: 0,
}

test("equal reports of a name that wait have one row, which leads to the latest of them", async () => {
  const { page, report, changes, time, id } = await harness()
  await time.tick(1)
  const latest = await report({ accountId: await newAccount(changes, "b@example.com") })
  const other = await report({ reportedCategory: "personal" })
  const { html, text } = await page("/admin/feedback")
  const links = attributesIn(html, "href").filter(target => target.startsWith("/admin/feedback/fb_"))
  expect([...new Set(links)].sort()).toEqual([latest, other].map(one => `/admin/feedback/${one}`).sort())
  expect(text).toContain("example.net (2 reports)")
  expect((await page(`/admin/feedback/${id}`)).status).toBe(200)
})

test("a report stands in the list with its whole comment, and leads to the evidence before a decision", async () => {
  const comment = `${"A customer of ours. ".repeat(12)}They are real.`
  const { page } = await harness({ comment })
  const { html } = await page("/admin/feedback")
  expect(html).toMatch(
    new RegExp(`<th scope="row"[^>]*><a [^>]*><bdi>example.net</bdi></a><p dir="auto">${comment}</p></th>`),
  )
  expect(html).not.toContain('method="post" action="/admin/feedback')
})

describe("one report", () => {
  test("stands beside the evidence for its domain", async () => {
    const { page, report, janeId, changes, id } = await harness({ domain: "mailinator.com", roleWord: "support" })
    await report({ domain: "mailinator.com", accountId: await newAccount(changes, "b@example.com") })
    await report({ domain: "mailinator.com", accountId: await newAccount(changes, "c@example.com") })
    await report({
      domain: "mailinator.com",
      accountId: await newAccount(changes, "d@example.com"),
      reportedCategory: "disposable",
    })
    const { text, html } = await page(`/admin/feedback/${id}`)
    for (const part of [
      "Report of mailinator.com",
      "DNS did not answer in time",
      "Unknown → should be Business",
      "Role word support",
      "Sent by jane@example.com",
      "2 say the same; 1 says disposable",
      "mailinator.com Disposable block ",
      "It is on our list of disposable domains.",
      "Lists ",
      "The entry mailinator.com in disposable makes it disposable",
    ])
      expect(text).toContain(part)
    expect(attributesIn(html, "href")).toContain(`/admin/accounts/${janeId}`)
    expect(attributesIn(html, "href").some(target => target.startsWith("/docs/lists#source-"))).toBe(true)
  })

  test("shows the card of the verdict, which names what the domain imitates", async () => {
    const { page, id } = await harness({ domain: "paypa1.com" })
    const { html, text } = await page(`/admin/feedback/${id}`)
    expect(text).toContain("Look-alike of paypal.com")
    expect(html).toContain('id="verdict-title"')
  })

  test("has the report and the decision first, then the verdict and what the lists say", async () => {
    const { page, id } = await harness({ domain: "mailinator.com" })
    const { text } = await page(`/admin/feedback/${id}`)
    const parts = ["Sent by", "Accept the report", "Confidence: ", "What the lists say"]
    const places = parts.map(part => text.indexOf(part))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(text).not.toContain("Copy JSON")
  })

  test("shows the verdict of everybody, and what the sender's own lists do beside it", async () => {
    const { page, report, done, id, janeId, changes } = await harness()
    await addEntries(changes, { accountId: janeId }, "allow", [entry("example.net")])
    const allowed = await page(`/admin/feedback/${id}`)
    expect(allowed.text).toContain("Own list allows this domain")
    expect(allowed.text).not.toMatch(/your allow list|You can accept it/)
    const { path, fields } = formIn(allowed.html, "Accept the report")
    const accepted = await done(path, fields)
    expect(accepted.text.match(/correct\w+ (this|the|hs)/g)).toEqual(["corrected this"])
    expect((await page(`/admin/feedback/${await report({ domain: "example.org" })}`)).text).not.toContain("Own list")
  })

  test("says that the verdict became what was reported", async () => {
    const { page, report, id } = await harness({ domain: "mailinator.com", reportedCategory: "disposable" })
    const other = await report({ domain: "mailinator.com", reportedCategory: "relay" })
    expect((await page(`/admin/feedback/${id}`)).text).toContain("The verdict is already disposable.")
    expect((await page(`/admin/feedback/${other}`)).text).not.toContain("already")
  })

  test("asks the outside world about its domain once, and the queue asks nothing", async () => {
    const requests: string[] = []
    const outside = () => (question: { readonly domain: string }) => {
      requests.push(question.domain)
      return TOLD
    }
    const { page, report, id } = await harness({ domain: "example.net" }, { outside })
    await report({ domain: "other.net" })
    await page("/admin/feedback")
    expect(requests).toEqual([])
    const { html, text } = await page(`/admin/feedback/${id}`)
    expect(requests).toEqual(["example.net"])
    expect(html).not.toContain("<b>mx</b>")
    expect(text).toContain("<b>mx</b>.example.net 10")
  })

  test("shows its comment as text and nothing more", async () => {
    const { page, id } = await harness({ comment: `${HOSTILE} "><img src=x onerror=alert(1)>` })
    const { html } = await page(`/admin/feedback/${id}`)
    expect(html).not.toMatch(/<script>alert|<img/)
    expect(unescapeHtml(html)).toContain("<img src=x onerror=alert(1)>")
  })

  test("that went with its account is not found", async () => {
    const { page, form, changes, janeId, id } = await harness()
    await removeAccount(changes, janeId)
    expect((await page(`/admin/feedback/${id}`)).status).toBe(404)
    for (const verdict of ["accept", "reject"])
      expect((await form(`/admin/feedback/${id}/${verdict}`, { seen: "received" })).status).toBe(404)
  })
})

/** What a decision leads to, by the status, the decision, and what its page had shown. */
const DECISIONS = FEEDBACK_STATUSES.flatMap(status =>
  (["accept", "reject"] as const).flatMap(verdict => FEEDBACK_STATUSES.map(seen => ({ status, verdict, seen }))),
)
const MADE = { accept: "accepted", reject: "rejected" } as const
const SAYS = {
  accept: "The report is accepted. Its domain is corrected",
  reject: "The report is rejected. Its correction, if there is one, is removed",
} as const

describe("a decision", () => {
  test.each(DECISIONS)(
    "to $verdict a report that is $status and was seen as $seen",
    async ({ status, verdict, seen }) => {
      const all = await harness()
      await bring(all, status)
      const { form, page, id, statusOf, corrections } = all
      const answer = await form(`/admin/feedback/${id}/${verdict}`, { seen })
      if (status === MADE[verdict]) {
        expect(answer.redirectPath).toEndWith(`done=${MADE[verdict]}-before`)
        expect((await page(answer.redirectPath ?? "")).text).toContain(`was ${MADE[verdict]} before. Nothing changed`)
      } else if (status !== seen) {
        expect(answer.status).toBe(400)
        expect(answer.text).toContain("Another administrator decided while you had this page open.")
        expect(await statusOf(id)).toBe(status)
      } else {
        expect((await page(answer.redirectPath ?? "")).text).toContain(SAYS[verdict])
        expect(await statusOf(id)).toBe(MADE[verdict])
      }
      const isCorrected = (await statusOf(id)) === "accepted"
      expect(await corrections()).toEqual(isCorrected ? [{ domain: "example.net", category: "business" }] : [])
    },
  )

  test.each([undefined, "", "received,accepted", "ACCEPTED", "__proto__"])(
    "is refused when it says that %p was seen",
    async seen => {
      const { form, id, statusOf } = await harness()
      const { status } = await form(`/admin/feedback/${id}/accept`, seen === undefined ? {} : { seen })
      expect({ status, is: await statusOf(id) }).toEqual({ status: 400, is: "received" })
    },
  )

  test("sent twice at once is one decision", async () => {
    const { form, id } = await harness()
    const send = () => form(`/admin/feedback/${id}/accept`, { seen: "received" })
    const answers = await Promise.all([send(), send()])
    expect(answers.map(({ redirectPath }) => redirectPath?.split("done=")[1]).sort()).toEqual([
      "accepted",
      "accepted-before",
    ])
  })

  test.each([
    ["received", ["Accept the report", "Reject"]],
    ["accepted", ["Undo: reject the report"]],
    ["rejected", ["Accept the report"]],
  ] as const)("about a report that is %s is offered as it can be taken", async (status, offered) => {
    const all = await harness()
    await bring(all, status)
    const { html } = await all.page(`/admin/feedback/${all.id}`)
    const words = ["Accept the report", "Reject", "Undo: reject the report"]
    expect(words.filter(word => html.includes(`>${word}<`))).toEqual([...offered])
    for (const word of offered) expect(formIn(html, word).fields).toEqual({ seen: status })
  })

  test("changes what a check says", async () => {
    const { ask, page, done, id } = await harness()
    const reply = async () => (await ask("POST /v1/check", { body: { domain: "example.net" } })).body["category"]
    expect(await reply()).not.toBe("business")
    const { path, fields } = formIn((await page(`/admin/feedback/${id}`)).html, "Accept the report")
    const { text } = await done(path, fields)
    expect(text).toContain("An accepted report corrected this verdict.")
    expect(await reply()).toBe("business")
  })

  test("of one admin is not undone by the page of another", async () => {
    const { page, form, id, statusOf } = await harness()
    const first = formIn((await page(`/admin/feedback/${id}`)).html, "Accept the report")
    const second = formIn((await page(`/admin/feedback/${id}`)).html, "Reject")
    await form(first.path, first.fields)
    const answer = await form(second.path, second.fields)
    expect(answer.text).toContain("Nothing changed. This is the report now.")
    expect(await statusOf(id)).toBe("accepted")
  })

  test("cannot be taken where there are as many corrections as there may be", async () => {
    const { form, id, store, statusOf } = await harness()
    await store.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${CORRECTIONS_MAX})
       INSERT INTO corrections SELECT 'd' || n || '.com', 'business', 'fb_' || n, 0 FROM numbers`,
    )
    const { status, text } = await form(`/admin/feedback/${id}/accept`, { seen: "received" })
    expect({ status, is: await statusOf(id) }).toEqual({ status: 400, is: "received" })
    expect(text).toContain("The limit of corrections is reached.")
  })

  test("takes back the correction of a report that went with its account", async () => {
    const { changes, page, done, report, id, janeId, corrections } = await harness()
    await decideFeedback(changes, id, "accepted")
    await removeAccount(changes, janeId)
    const other = await report({ accountId: await newAccount(changes, "b@example.com"), reportedCategory: "personal" })
    const { html, text } = await page(`/admin/feedback/${other}`)
    expect(text).toContain("A report of a deleted account corrects the domain to business .")
    const { path, fields } = formIn(html, "Remove the correction")
    expect((await done(path, fields)).text).toContain("The correction is removed.")
    expect(await corrections()).toEqual([])
  })

  test("of another report of the domain is told and linked", async () => {
    const { changes, page, report, id } = await harness()
    const other = await report({ reportedCategory: "personal" })
    await decideFeedback(changes, other, "accepted")
    const { text, html } = await page(`/admin/feedback/${id}`)
    expect(text).toContain("Another report corrects the domain to personal .")
    expect(attributesIn(html, "href")).toContain(`/admin/feedback/${other}`)
  })
})
