import { requestBytes } from "../load/request-bytes.ts"
import type { LoadReport } from "../load/run.ts"
import { seeded } from "../load/seeded-random.ts"
import { bearer, SOAK_KINDS, type SoakCallers, type SoakKind } from "./soak-kinds.ts"

const KINDS: readonly SoakKind[] = Object.values(SOAK_KINDS)

/** How many requests a soak sends until each kind had its share. */
const TURN = KINDS.reduce((sum, { share }) => sum + share, 0)

/** Gives the next requests to the server at `url` each time it is called, the kinds mingled: the same on every run but for keys. */
export function soakRequests(url: URL, callers: SoakCallers): (count: number) => readonly Uint8Array[] {
  const random = seeded(5)
  const turn = KINDS.flatMap(kind => Array.from({ length: kind.share }, () => ({ kind, place: random() })))
    .sort((one, other) => one.place - other.place)
    .map(({ kind }) => kind)
  const numbers = new Map<SoakKind, number>()
  const next = (kind: SoakKind): Uint8Array => {
    const number = numbers.get(kind) ?? 0
    numbers.set(kind, number + 1)
    const { method, path, headers = bearer(callers.key), body = "" } = kind.of(number, callers)
    const typed = body === "" ? headers : { "Content-Type": "application/json", ...headers }
    return requestBytes({ method, url: new URL(path, url), headers: typed, body })
  }
  let place = 0
  return count => {
    const requests: Uint8Array[] = []
    for (; requests.length < count; place = (place + 1) % TURN) {
      const kind = turn[place]
      if (kind !== undefined) requests.push(next(kind))
    }
    return requests
  }
}

/** How often each answer is expected among so many: `200`, or `404 not_found`. */
export function expectedAnswers(requests: number): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { share, answer } of KINDS) counts[answer] = (counts[answer] ?? 0) + (share / TURN) * requests
  return counts
}

/** How often each answer came, by its status and the code of its problem. */
export function answersOf(
  reports: readonly Pick<LoadReport, "byStatus" | "byProblem">[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  const count = (answer: string, by: number): void => {
    if (by > 0) counts[answer] = (counts[answer] ?? 0) + by
  }
  for (const { byStatus, byProblem } of reports) {
    for (const [problem, by] of Object.entries(byProblem)) count(problem, by)
    for (const [status, by] of Object.entries(byStatus)) {
      const facts = Object.entries(byProblem).filter(([problem]) => problem.startsWith(`${status} `))
      count(status, by - facts.reduce((sum, [, one]) => sum + one, 0))
    }
  }
  return counts
}

/**
 * Throws when an answer came that should not, or not as often as it should. Shares are kept to a tenth: connections are
 * not equally fast, so some send more of a load's requests than others.
 */
export function expectAnswers(answers: Readonly<Record<string, number>>): void {
  const requests = Object.values(answers).reduce((sum, count) => sum + count, 0)
  const expected = expectedAnswers(requests)
  const wrong = new Set([...Object.keys(answers), ...Object.keys(expected)]).values().filter(answer => {
    const wanted = expected[answer]
    return wanted === undefined || Math.abs((answers[answer] ?? 0) - wanted) > Math.max(wanted / 10, FEW)
  })
  const faults = [...wrong].map(
    answer => `${answer}: ${answers[answer] ?? 0}, not ${Math.round(expected[answer] ?? 0)}`,
  )
  if (faults.length > 0) throw new Error(`answers are not as expected: ${faults.join("; ")}`)
}

/** So many more or fewer say nothing. */
const FEW = 30
