/** @jsxImportSource preact */

import { streamOf } from "../../../../base/streams.ts"
import { JOB_FORMATS, JOB_STATES } from "../../../../contract/jobs.ts"
import { RECOMMENDATIONS, type Recommendation } from "../../../../contract/policies.ts"
import type { ProblemCode } from "../../../../contract/problems.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { idempotencyKeyHash } from "../../../../customers/idempotency/body-mark.ts"
import { findRequest } from "../../../../customers/idempotency/idempotent-requests.ts"
import { listCallbacks, sendAgain } from "../../../../customers/jobs/callback-queue.ts"
import { callbackSecretMadeAtMs } from "../../../../customers/jobs/callback-secrets.ts"
import { jobBody } from "../../../../customers/jobs/job-body.ts"
import { reachedBound } from "../../../../customers/jobs/job-lifecycle.ts"
import { findJob, type Job, listJobs } from "../../../../customers/jobs/job-row.ts"
import { ownerActor } from "../../../../customers/store/change-log/actor.ts"
import { randomBase62 } from "../../../../customers/store/core/id.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import { readResults, resultsLength } from "../../../../jobs/read-results.ts"
import { RefusedList } from "../../../../jobs/receive-list.ts"
import { readSpreadsheet } from "../../../../jobs/safe-results.ts"
import { UnreadableFile } from "../../../../rows/unreadable-file.ts"
import type { Exchange } from "../../../exchange.ts"
import { jobNotReady, noSuchJob, tooManyJobs } from "../../../response/job-problems.ts"
import { Problem } from "../../../response/problem.ts"
import { handlers } from "../../../router.ts"
import { assertFolder, estimateFor, momentOf, uploadProblem } from "../../../v1/jobs.ts"
import type { PageResult, SignedInUser } from "../../guards.ts"
import { flashMessage, pathWithId, queryParameter, withFlash } from "../../links.ts"
import type { SiteContext } from "../../site-context.ts"
import { withSiteLease } from "../site-lease.ts"
import { NewCallbackSecretPage } from "./callbacks.tsx"
import { ListDeletionPage, ListPage } from "./list-page.tsx"
import type { PreviewedList } from "./list-preview.tsx"
import {
  type ArrivingList,
  type AskedUpload,
  EMPTY_UPLOAD,
  listTooLarge,
  parseUpload,
  readListUpload,
  type UploadFault,
  type UploadValues,
} from "./list-upload.ts"
import { FIELD_NAMES } from "./list-words.ts"
import { ListsPage } from "./lists-page.tsx"
import { OpenStreams, progressStream } from "./progress-stream.tsx"

const LISTS_FLASH = { deleted: "The list and its results are deleted." } as const
const LIST_FLASH = { sent: "The callback is sent again." } as const

/** The pages of whole lists: upload one, watch its check, download its results, delete it. */
export function listsPageRoutes(site: SiteContext) {
  const { guards } = site
  return handlers({
    dashboardJobs: exchange =>
      guards.requireAccount.page(exchange, user =>
        listsPage(site, user, { flash: flashMessage(exchange.request.url, LISTS_FLASH) }),
      ),
    postDashboardJob: exchange =>
      guards.requireAccount.upload(exchange, user => handleUpload(site, exchange, user, startCheck)),
    postJobEstimate: exchange =>
      guards.requireAccount.upload(exchange, user => handleUpload(site, exchange, user, showPreview)),
    ...listPageRoutes(site),
    ...callbackRoutes(site),
  })
}

/** The forms of callbacks. */
function callbackRoutes(site: SiteContext) {
  const { guards, pages, jobs, clock } = site
  return handlers({
    postCallbackAgain: exchange =>
      guards.requireAccount.form(exchange, async (user, form) => {
        await ownJob(site, user, exchange.params.id)
        if (!(await sendAgain(jobs.store, exchange.params.id, form.text("callback"), clock())))
          throw new Problem("not_found", "The list has no such callback.")
        return pages.redirect(withFlash(pathWithId("dashboardJob", exchange.params.id), "sent"), exchange)
      }),
    postDashboardCallbackSecret: exchange =>
      guards.requireAccount.form(exchange, async user => {
        const made = await jobs.replaceCallbackSecret(user.account.id, ownerActor(user.account.id))
        if (made === null) throw new Problem("not_found", "Your account was deleted a moment ago.")
        return <NewCallbackSecretPage user={user} made={made} />
      }),
  })
}

/** The pages of one list. */
function listPageRoutes(site: SiteContext) {
  const { guards, pages, assets, jobs } = site
  const streams = new OpenStreams()
  const listPage =
    (show: (user: SignedInUser, job: Job, exchange: Exchange) => PageResult | Promise<PageResult>) =>
    (exchange: Exchange & { readonly params: { readonly id: string } }) =>
      guards.requireAccount.page(exchange, async user =>
        show(user, await ownJob(site, user, exchange.params.id), exchange),
      )
  return handlers({
    dashboardJob: listPage(async (user, job, { request }) => (
      <ListPage
        user={user}
        list={jobBody(job, momentOf(site))}
        keepHours={jobs.keepHours}
        callbacks={await listCallbacks(jobs.store, job.id)}
        flash={flashMessage(request.url, LIST_FLASH)}
        script={await assets.path("list-progress.js")}
      />
    )),
    jobProgress: listPage(({ account }, { id }, exchange) => {
      const close = streams.open(account.id)
      if (close === null) return pages.noContent(exchange)
      return pages.events(progressStream(site, exchange, { accountId: account.id, id }, close), exchange)
    }),
    jobResultsFile: listPage((_, job, exchange) => sendResults(site, exchange, job)),
    jobDeletion: listPage((user, job) => <ListDeletionPage user={user} list={jobBody(job, momentOf(site))} />),
    postJobDeletion: exchange =>
      guards.requireAccount.form(exchange, async ({ account }) => {
        if (!(await jobs.service.delete(account.id, exchange.params.id, ownerActor(account.id)))) throw noSuchJob()
        return pages.redirect(withFlash(ROUTES.dashboardJobs.path, "deleted"), exchange)
      }),
  })
}

async function ownJob({ jobs }: SiteContext, { account }: SignedInUser, id: string): Promise<Job> {
  const job = await findJob(jobs.store, account.id, id)
  if (job === null) throw noSuchJob()
  return job
}

const FORM_TOKEN_LENGTH = 16

type PageState = {
  readonly values?: UploadValues
  readonly fault?: UploadFault | null
  readonly preview?: PreviewedList | null
  readonly flash?: string | null
}

async function listsPage(
  site: SiteContext,
  user: SignedInUser,
  { values = EMPTY_UPLOAD, fault = null, preview = null, flash = null }: PageState,
) {
  const { jobs, assets, random } = site
  const lists = await listJobs(jobs.store, user.account.id)
  const once = values.once === "" ? randomBase62(random, FORM_TOKEN_LENGTH) : values.once
  return (
    <ListsPage
      {...{ user, values: { ...values, once }, fault, preview, flash }}
      lists={lists.map(job => jobBody(job, momentOf(site)))}
      secretMadeAtMs={await callbackSecretMadeAtMs(jobs.store, user.account.id)}
      bytesMax={jobs.bytesMax}
      keepHours={jobs.keepHours}
      script={await assets.path("list-form.js")}
    />
  )
}

/** What is done with a list whose options are right. */
type UseList = (
  site: SiteContext,
  exchange: Exchange,
  user: SignedInUser,
  list: AskedUpload & {
    readonly content: AsyncIterable<Uint8Array>
    readonly fileName: string
  } & Pick<ArrivingList, "values" | "formBytes">,
) => Promise<Response>

/** Reads the form as it arrives. What is refused is said beside the form, with what was entered. */
async function handleUpload(
  site: SiteContext,
  exchange: Exchange,
  user: SignedInUser,
  use: UseList,
): Promise<Response> {
  const { pages, jobs } = site
  let upload: ArrivingList | null = null
  try {
    upload = await readListUpload(exchange.request, site, jobs.bytesMax)
    const { values, file, formBytes } = upload
    const hasSecret = values.callback !== "" && (await callbackSecretMadeAtMs(jobs.store, user.account.id)) !== null
    const asked = parseUpload(upload, hasSecret, site.jobs.allowsLocalCallbacks)
    if ("field" in asked || file === null) {
      const fault = "field" in asked ? asked : null
      return pages.renderInvalid(await listsPage(site, user, { values, fault }), exchange)
    }
    return await withSiteLease(site, exchange, user.account, () =>
      use(site, exchange, user, { ...asked, values, formBytes, content: file.content, fileName: file.fileName ?? "" }),
    )
  } catch (error) {
    const fault = uploadFault(error, jobs.bytesMax)
    const problem = uploadProblem(error, jobs.bytesMax)
    if (fault === null || !(problem instanceof Problem)) throw problem
    const values = upload?.values ?? EMPTY_UPLOAD
    return pages.renderProblem(await listsPage(site, user, { values, fault }), exchange, problem)
  } finally {
    await upload?.close()
  }
}

const startCheck: UseList = async (site, exchange, { account }, { options, reading, content, values, formBytes }) => {
  const { jobs, pages } = site
  const sent = [values.once, options, formBytes]
  const keyHash = values.once === "" ? null : idempotencyKeyHash(account.id, JSON.stringify(sent))
  const before = keyHash === null ? null : await findRequest(jobs.store, { accountId: account.id, keyHash })
  if (before?.kind === "answered") return pages.redirect(pathWithId("dashboardJob", before.answer), exchange)
  const bound = await reachedBound(jobs.store, account.id)
  if (bound !== null) throw tooManyJobs(bound)
  await assertFolder(site)
  const newJob = { accountId: account.id, keyId: SITE_KEY.id, options, reading, actor: ownerActor(account.id) }
  const form = keyHash === null ? null : { keyHash, markText: () => "form", answerFor: ({ id }: Job) => id }
  const job = await jobs.service.receive(newJob, content, jobs.bytesMax, form)
  if (job === null) throw new Problem("not_found", "Your account was deleted a moment ago.")
  if (job === "repeated")
    throw new Problem("too_many_jobs", "This list is arriving already. Send it again in a moment.")
  if (typeof job === "string") throw tooManyJobs(job)
  return pages.redirect(pathWithId("dashboardJob", job.id), exchange)
}

const showPreview: UseList = async (site, exchange, user, { options, reading, content, values, fileName }) => {
  const bound = await reachedBound(site.jobs.store, user.account.id)
  if (bound !== null) throw tooManyJobs(bound)
  const seen = await estimateFor(site, exchange, content, { options, reading })
  return site.pages.render(await listsPage(site, user, { values, preview: { ...seen, fileName } }), exchange)
}

/** What is said beside the form about these problems. Others have a page of their own. */
const FORM_PROBLEMS: ReadonlySet<ProblemCode> = new Set([
  "invalid_input",
  "payload_too_large",
  "too_many_jobs",
  "rate_limited",
  "quota_exceeded",
  "terms_not_accepted",
  "key_revoked",
  "overloaded",
])

/** What is wrong with the upload. Null: it is no fault that is said beside the form. */
function uploadFault(error: unknown, bytesMax: number): UploadFault | null {
  if (error instanceof RefusedList) {
    if (error.reason === "too_large") return { field: "file", message: listTooLarge(bytesMax).detail }
    const { cause } = error
    if (!(cause instanceof UnreadableFile)) return { field: "file", message: error.message }
    return {
      field: cause.isWrongUse ? "column" : "file",
      message: cause.describe(FIELD_NAMES).replaceAll(/`([^`]*)`/g, "“$1”"),
      choice: cause.choice,
    }
  }
  if (!(error instanceof Problem) || !FORM_PROBLEMS.has(error.code)) return null
  const isOfFile = error.code === "payload_too_large" || error.code === "invalid_input"
  return { field: isOfFile ? "file" : "form", message: error.detail }
}

/** Sends the results, or those with one recommendation, as a file: a table as spreadsheets open it, unless it is wanted as it is. */
function sendResults({ jobs, pages }: SiteContext, exchange: Exchange, job: Job): Response {
  if (!JOB_STATES[job.state].hasResults) throw jobNotReady(job.state)
  const part = queryParameter(exchange.request.url, "only")
  if (part !== "" && !isRecommendation(part)) throw new Problem("not_found", "There is no such part of the results.")
  const only = isRecommendation(part) ? new Set([part]) : null
  const { mediaType, extension, results } = JOB_FORMATS[job.format]
  const isForSpreadsheet = results === "csv" && queryParameter(exchange.request.url, "cells") !== "plain"
  const chunks = isForSpreadsheet
    ? readSpreadsheet(jobs.files, job, only)
    : readResults(jobs.files, job, only, 0, resultsLength(job, only))
  const fileName = `mailkind-${job.id.replace("job_", "")}${part === "" ? "" : `-${part}`}.${extension}`
  return pages.download(streamOf(chunks), exchange, { fileName, mediaType })
}

const isRecommendation = (name: string): name is Recommendation => RECOMMENDATIONS.some(known => known === name)
