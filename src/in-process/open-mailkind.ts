import { assembleInProcess } from "../assemble/in-process.ts"
import { detectSubjectKind, inputRefusal } from "../check/address/parse-subject.ts"
import { fullResult } from "../check/result/result.ts"
import type { CheckResult } from "../client/api-types.ts"
import { inputFromBody, parseCheckRequest } from "../http/request/check-input.ts"
import { Problem } from "../http/response/problem.ts"
import { MailkindError } from "./mailkind-error.ts"
import { checkOptions } from "./options.ts"
import type { CheckMembers, OpenMailkind, OpenOptions } from "./public-types.d.ts"

export { MailkindError }

/**
 * Checked by the lists alone when a mailkind opens. The first check of a program would else build the tables of names and words, and take
 * some hundred milliseconds.
 */
const FIRST_SUBJECTS = [
  ...["jane.doe@gmail.com", "info+tag@microsoft.com", "x@mailinator.com", "harvard.edu", "https://sub.first.question/"],
  ...["jane@fïrst.question", "jane@gmail,com", "jane@gmial.com", "micros0ft-login.com"],
]

/** Opens the check. Rejects with a `MailkindError` for a wrong option, and for lists that are missing or damaged. */
export async function openMailkind(options: OpenOptions = {}): Promise<OpenMailkind> {
  checkOptions(options)
  const { check, checkByLists, matchOwnLists, requestId, testDomain, listsVersion, stop } = assembleInProcess(options)
  const running = new Set<Promise<unknown>>()
  let isClosed = false
  const runCheck = async (input: unknown, more: unknown): Promise<CheckResult> => {
    if (isClosed)
      throw new MailkindError("closed", "This mailkind is closed. Open another one, or close it after the last check.")
    const members = { policy: options.policy, ...membersOf(input), ...membersOf(more) }
    const request = parseInput(members, testDomain, typeof input === "string")
    const outcome = await check({ ...request, ownListMatch: matchOwnLists(request.subject) })
    return fullResult(outcome, requestId())
  }
  for (const text of FIRST_SUBJECTS) {
    const request = parseInput(membersOf(text), testDomain, true)
    fullResult(await checkByLists({ ...request, ownListMatch: matchOwnLists(request.subject) }), requestId())
  }
  const close = async (): Promise<void> => {
    isClosed = true
    await Promise.allSettled(running)
    stop()
  }
  return {
    listsVersion,
    check: (input, more = {}) => {
      const result = runCheck(input, more)
      running.add(result)
      const forget = (): void => void running.delete(result)
      result.then(forget, forget)
      return result
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The members of a body. A text is read as an item of a batch is. */
function membersOf(input: unknown): CheckMembers {
  if (typeof input === "string") return { [detectSubjectKind(input)]: input }
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw new MailkindError("invalid_input", "Give a text, or an object with one of `email`, `domain` and `url`.")
  // A member that is undefined is absent, as in JSON.
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** A text is a verdict in every case. Members are refused as the API refuses them. */
function parseInput(members: CheckMembers, testDomain: string, isText: boolean) {
  try {
    const { policy, ...others } = members
    return parseCheckRequest(
      inputFromBody(policy === undefined ? others : members),
      testDomain,
      null,
      isText ? () => null : inputRefusal,
    )
  } catch (error) {
    if (error instanceof Problem) throw new MailkindError("invalid_input", error.detail)
    throw error
  }
}
