/** @jsxImportSource preact */
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../../contract/problems.ts"
import { ProblemCodeLinks, Prose, Table } from "../ui/layout.tsx"
import { To } from "./guide-page.tsx"

type Advice = {
  /** What was answered. */
  readonly got: string
  /** The codes that are meant; of none: an answer that is no problem. */
  readonly codes: readonly ProblemCode[]
  /** What to do while somebody waits, and in a job. */
  readonly waiting: string
  readonly job: string
}

const codesOf = (statuses: readonly number[]): readonly ProblemCode[] =>
  PROBLEM_CODES.filter(code => code !== "quota_exceeded" && statuses.includes(PROBLEMS[code].status))

/** What a client does about each answer. Every code stands in one row, the first that has it. */
export const ADVICE: readonly Advice[] = [
  { got: "200", codes: [], waiting: "Go by `recommendation`.", job: "Go by `recommendation`." },
  {
    got: "200, and `degraded` is true",
    codes: [],
    waiting: "Go by `recommendation`, and check again later.",
    job: "Keep the result, and check those again after an hour.",
  },
  {
    got: "No answer in time, or one that is no JSON",
    codes: [],
    waiting: "Let in, and check again later.",
    job: "Try again, each time after twice as long, a few times.",
  },
  {
    got: "429, the rate",
    codes: codesOf([429]),
    waiting: "Let in, and check again later.",
    job: "Wait `Retry-After` seconds and up to one more at random; ask for less at once.",
  },
  {
    got: "429, the units of the day",
    codes: ["quota_exceeded"],
    waiting: "Let in, and check again tomorrow.",
    job: "Stop until `resets_at`.",
  },
  {
    got: "503, the server has too much to do",
    codes: ["overloaded"],
    waiting: "Let in, and check again later.",
    job: "Wait `Retry-After` seconds and up to one more at random, each time twice as long; ask for less at once.",
  },
  {
    got: "5xx",
    codes: PROBLEM_CODES.filter(code => code !== "overloaded" && PROBLEMS[code].status >= 500),
    waiting: "Let in, and check again later.",
    job: "Try again after `Retry-After` seconds, or each time after twice as long, a few times.",
  },
  {
    got: "401 or 403",
    codes: codesOf([401, 403]),
    waiting: "Let in, and have somebody told at once.",
    job: "Stop, and have somebody told: no retry mends a key, an origin or terms.",
  },
  {
    got: "400 or 413",
    codes: codesOf([400, 413]),
    waiting: "Let in; the request is wrong. Log `errors` and `request_id`.",
    job: "Leave the item out, or split the batch; log `errors` and `request_id`.",
  },
  {
    got: "404 or 405",
    codes: codesOf([404, 405]),
    waiting: "Let in; the address of the server or the method is wrong.",
    job: "Stop: the address of the server or the method is wrong.",
  },
]

/** What to do about each answer: while somebody waits for it, and in a job. */
export function AdviceSection() {
  return (
    <section aria-labelledby="advice">
      <h2 id="advice">What to do</h2>
      <p>
        Never turn a person away because a question failed (<To page="docsDegraded">failing open</To>). Programs that do
        this stand under <To page="docsStart">Quick start</To>.
      </p>
      <Table caption="What to do by answer" columns={["You get", "Codes", "While somebody waits", "In a job"]}>
        {ADVICE.map(({ got, codes, waiting, job }) => (
          <tr key={got}>
            <th scope="row">
              <Prose text={got} />
            </th>
            <td>
              {codes.length === 0 ? "–" : null}
              <ProblemCodeLinks codes={codes} />
            </td>
            <td>
              <Prose text={waiting} />
            </td>
            <td>
              <Prose text={job} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
