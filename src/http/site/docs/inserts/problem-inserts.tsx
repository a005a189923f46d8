/** @jsxImportSource preact */
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../../../contract/problems.ts"
import { FoldedRows } from "../../ui/folded-row.tsx"
import { Prose } from "../../ui/layout.tsx"
import { problemLink } from "./contract-inserts.ts"
import type { BlockInsert, Insert } from "./insert.ts"
import { codeSpan, markdownTable, proseText, termList } from "./markdown-text.ts"

type ClientAdvice = {
  /** What was answered. */
  readonly got: string
  /** The codes of such answers; none: the answer is no problem. */
  readonly codes: readonly ProblemCode[]
  /** What to do while a person waits, and in a job. */
  readonly waiting: string
  readonly job: string
}

const codesOf = (statuses: readonly number[]): readonly ProblemCode[] =>
  PROBLEM_CODES.filter(code => code !== "quota_exceeded" && statuses.includes(PROBLEMS[code].status))

/** What a client does about each answer. Every code stands in exactly one row. */
// biome-ignore format: an answer a line
export const CLIENT_ADVICE: readonly ClientAdvice[] = [
  { got: "200", codes: [], waiting: "Follow `recommendation`.", job: "Follow `recommendation`." },
  { got: "200, and `degraded` is true", codes: [], waiting: "Follow `recommendation`, and check again later.", job: "Keep the result, and check these inputs again after an hour." },
  { got: "No answer in time, or one that is not JSON", codes: [], waiting: "Let the person in, and check again later.", job: "Try again a few times. Double the wait after each try." },
  { got: "429, too many requests", codes: codesOf([429]), waiting: "Let the person in, and check again later.", job: "Wait `Retry-After` seconds plus up to one second at random. Send fewer requests at once." },
  { got: "429, no units left today", codes: ["quota_exceeded"], waiting: "Let the person in, and check again tomorrow.", job: "Stop until `resets_at`, or send a request that needs at most `remaining`." },
  { got: "503, the server is overloaded", codes: ["overloaded"], waiting: "Let the person in, and check again later.", job: "Wait `Retry-After` seconds plus up to one second at random. Double the wait after each try. Send fewer requests at once." },
  { got: "5xx", codes: PROBLEM_CODES.filter(code => code !== "overloaded" && PROBLEMS[code].status >= 500), waiting: "Let the person in, and check again later.", job: "Try again after `Retry-After` seconds if the header is there; otherwise double the wait after each try. Stop after a few tries." },
  { got: "409", codes: codesOf([409]), waiting: "Cannot happen in a check.", job: "`too_many_jobs`: delete a job, or wait for another upload. `job_not_ready`: ask again later." },
  { got: "415 or 422", codes: codesOf([415, 422]), waiting: "Cannot happen in a check.", job: "Send the list as the detail says, or with a new `Idempotency-Key`." },
  { got: "416", codes: codesOf([416]), waiting: "Cannot happen in a check.", job: "You have all of the results already." },
  { got: "401 or 403", codes: codesOf([401, 403]), waiting: "Let the person in, and alert somebody at once.", job: "Stop, and alert somebody. A retry does not fix a key, an origin or terms." },
  { got: "400 or 413", codes: codesOf([400, 413]), waiting: "413, or a `pointer` of `errors` is `/email`, `/domain` or `/url`: say that this is not an email address, and ask for one. Otherwise your request is wrong: let the person in, and log `errors` and `request_id`.", job: "Leave the item out, or split the batch. Log `errors` and `request_id`." },
  { got: "404 or 405", codes: codesOf([404, 405]), waiting: "Let the person in. The address of the server or the method is wrong.", job: "Stop. The address of the server or the method is wrong." },
]

/** The table of what to do about each answer. */
export const ADVICE_INSERTS = {
  advice: () =>
    markdownTable(
      ["You get", "While a person waits", "In a job"],
      CLIENT_ADVICE.map(({ got, codes, waiting, job }) => [
        `${proseText(got)}${codes.length === 0 ? "" : ` *${codes.map(problemLink).join(", ")}*`}`,
        proseText(waiting),
        proseText(job),
      ]),
    ),
} as const satisfies Readonly<Record<string, Insert>>

const BY_STATUS = PROBLEM_CODES.toSorted((a, b) => PROBLEMS[a].status - PROBLEMS[b].status)

/** The problems as Markdown has them, a section each, and as the page shows them: a row each. */
export const PROBLEM_INSERTS = {
  problems: () => ({
    markdown: BY_STATUS.map(problemSection).join("\n\n"),
    html: (
      <FoldedRows kind="problems">
        <div class="cells heads">
          <span>Status</span>
          <span>Code</span>
          <span>Cause and what to do</span>
        </div>
        {BY_STATUS.map(code => (
          <div key={code} id={code} class="cells">
            <span class="number">{PROBLEMS[code].status}</span>
            <code>{code}</code>
            <span>
              <Prose text={PROBLEMS[code].cause} />
              <small class="line">
                <Prose text={PROBLEMS[code].action} />
              </small>
            </span>
          </div>
        ))}
      </FoldedRows>
    ),
  }),
} as const satisfies Readonly<Record<string, BlockInsert>>

function problemSection(code: ProblemCode): string {
  const { action, cause, status } = PROBLEMS[code]
  const terms = termList([
    ["What to do", proseText(action)],
    ["Cause", proseText(cause)],
    ["Status", String(status)],
  ])
  return `### ${codeSpan(code)} {#${code}}\n\n${terms}`
}
