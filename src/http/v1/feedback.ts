import { Elysia } from "elysia"
import type { FeedbackReceipt } from "../../contract/feedback-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { Answers } from "../answer.ts"
import { type Bodies, jsonBody } from "../body.ts"
import { invalidKey } from "../caller.ts"
import type { Keyed } from "../keyed.ts"
import { invalidInput } from "../problem.ts"
import { type ReportNeeds, readWrongVerdict, reportWrongVerdict } from "../wrong-verdict.ts"

type Needs = ReportNeeds & {
  readonly answers: Answers
  readonly keyed: Keyed
  readonly testDomain: string
  readonly load: Bodies
}

const ACCEPTED = 202

/** POST /v1/feedback: reports a wrong verdict. It costs no unit. */
export function feedbackRoute(needs: Needs) {
  const { answers, keyed, testDomain, load } = needs
  const reported = async (sent: unknown, accountId: string): Promise<FeedbackReceipt> => {
    const read = readWrongVerdict(sent, testDomain)
    if (read.kind === "faulty")
      throw invalidInput([{ pointer: read.member === "" ? "" : `/${read.member}`, detail: read.detail }])
    const reporting = await reportWrongVerdict(needs, read.verdict, accountId)
    // The account went between the look-up of its key and now, and the key with it.
    if (reporting.kind === "unknown_account") throw invalidKey("No such key exists.")
    const { receipt } = reporting
    return {
      id: receipt.id,
      status: receipt.status,
      domain: receipt.domain,
      current_category: receipt.currentCategory,
      reported_category: receipt.reportedCategory,
    }
  }
  return new Elysia({ normalize: false }).post(
    ROUTES.postFeedback.path,
    ({ request }) =>
      keyed(request, async ({ account }, pass) => {
        const receipt = await reported(await jsonBody(request, LIMITS.bodyBytesMax, load), account.id)
        return answers.written(JSON.stringify(receipt), answers.requestId(request), ACCEPTED, pass?.told())
      }),
    { parse: "none" },
  )
}
