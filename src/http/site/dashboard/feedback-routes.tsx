/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { type Feedback, type FeedbackQuery, listFeedbackOf } from "../../../customers/feedback/feedback.ts"
import type { RateLimiter } from "../../../customers/quota/rate-limiter.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { Problem } from "../../problem.ts"
import { queryOf } from "../../query.ts"
import { type FaultyMember, type ReportNeeds, readWrongVerdict, reportWrongVerdict } from "../../wrong-verdict.ts"
import { doneWords } from "../deed.ts"
import type { Form } from "../form.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { FEEDBACK_DEEDS, type FeedbackDraft, type FeedbackFaults, FeedbackPage } from "./feedback-page.tsx"

/** What the pages about feedback are built from. */
export type FeedbackRoutesNeeds = ReportNeeds & {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly changes: ChangeLog
  readonly rates: RateLimiter
  readonly testDomain: string
}

/** How many reports a page shows. */
const PAGE_MAX = 50

const RATE = {
  perSecond: LIMITS.feedbackFormPerSecond,
  burst: LIMITS.feedbackFormPerSecond * LIMITS.burstFactor,
  isBurstWhole: true,
} as const

const EMPTY: FeedbackDraft = { subject: "", expected: "", comment: "" }

/** The page of the account's reports, and what its form does: the same as POST /v1/feedback. */
export function feedbackPageRoutes(needs: FeedbackRoutesNeeds) {
  const { pages, enter, changes, rates, testDomain } = needs
  const { path } = ROUTES.feedback
  const shown = async (visitor: Visitor, request: Request, draft: FeedbackDraft, faults: FeedbackFaults) => {
    const after = afterIn(request.url)
    const found = await listFeedbackOf(changes.store, visitor.account.id, after, PAGE_MAX + 1)
    const reports = found.slice(0, PAGE_MAX)
    const last = reports.at(-1)
    return (
      <FeedbackPage
        visitor={visitor}
        reports={reports}
        olderPath={found.length > PAGE_MAX && last !== undefined ? `${path}?after=${placeOf(last)}` : null}
        isFirstPage={after === null}
        done={doneWords(request.url, FEEDBACK_DEEDS)}
        draft={draft}
        faults={faults}
      />
    )
  }
  return new Elysia({ normalize: false })
    .get(path, ({ request }) =>
      enter.account.page(request, async visitor => {
        const subject = (queryOf(request.url).get("domain") ?? "").slice(0, LIMITS.domainOctetsMax)
        return await shown(visitor, request, { ...EMPTY, subject }, {})
      }),
    )
    .post(
      ROUTES.postFeedbackForm.path,
      ({ request }) =>
        enter.account.form(request, async (visitor, form) => {
          const draft = draftIn(form)
          const read = readWrongVerdict(sentBy(draft), testDomain)
          if (read.kind === "faulty") {
            const page = await shown(visitor, request, draft, { [FIELDS[read.member]]: wordsFor(read.member, draft) })
            return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
          }
          admitted(rates, visitor.account.id)
          const reporting = await reportWrongVerdict(needs, read.verdict, visitor.account.id)
          if (reporting.kind === "unknown_account")
            throw new Problem("not_found", "Your account was deleted a moment ago.")
          return pages.goTo(`${path}?done=${reporting.receipt.status}`, request)
        }),
      { parse: "none" },
    )
}

function draftIn(form: Form): FeedbackDraft {
  // Browsers send a line's end as two characters, and count it as one.
  const comment = form.text("comment").replaceAll("\r\n", "\n")
  return { subject: form.text("subject"), expected: form.text("expected"), comment }
}

/** The draft as the body of POST /v1/feedback. */
function sentBy({ subject, expected, comment }: FeedbackDraft) {
  return {
    [subject.includes("@") ? "email" : "domain"]: subject,
    expected_category: expected,
    ...(comment === "" ? {} : { comment }),
  }
}

const FIELDS: { readonly [M in FaultyMember]: keyof FeedbackDraft } = {
  "": "subject",
  email: "subject",
  domain: "subject",
  expected_category: "expected",
  comment: "comment",
}

const WORDS: { readonly [F in keyof FeedbackDraft]: string } = {
  subject: "That names no domain that can be corrected.",
  expected: "Please choose what it should be.",
  comment: `That is longer than ${LIMITS.commentLengthMax} characters.`,
}

const wordsFor = (member: FaultyMember, { subject }: FeedbackDraft): string =>
  FIELDS[member] === "subject" && subject === "" ? "Please write a domain or an address." : WORDS[FIELDS[member]]

/** A report asks the world what its domain is, so nobody sends them as fast as a program can. */
function admitted(rates: RateLimiter, accountId: string): void {
  const { waitS } = rates.admit(`feedback form ${accountId}`, RATE)
  if (waitS > 0)
    throw new Problem("rate_limited", "That was one report too many at once. Please wait a moment and send it again.", {
      retry_after: waitS,
      limit: LIMITS.feedbackFormPerSecond,
    })
}

/** Where a report stands among those of its account, for a URL. */
const placeOf = ({ createdAtMs, id }: Feedback): string => `${createdAtMs}-${id}`

const PLACE = /^(\d{1,15})-(fb_[0-9A-Za-z]{1,40})$/

function afterIn(url: string): FeedbackQuery["after"] {
  const [, createdAt, id] = PLACE.exec(queryOf(url).get("after") ?? "") ?? []
  return createdAt === undefined || id === undefined ? null : { createdAtMs: Number(createdAt), id }
}
