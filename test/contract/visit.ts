import type { Challenge } from "altcha-lib"
import { LIMITS } from "../../src/contract/limits.ts"
import { solutionOf } from "../customers/free-checks/open-free-checks.ts"
import type { testApp } from "../support/app.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

/** What the form of the first page sends, and how. */
export type Visiting = {
  readonly input?: string
  readonly solution?: string
  readonly cookie?: string
  readonly client?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the fields. */
  readonly body?: string
}

/** Sends the form of the first page as a browser does. */
export async function visit(
  { app }: Pick<Harness, "app">,
  { input = "jane@gmail.com", solution, cookie, client = "192.0.2.1", headers = {}, body }: Visiting = {},
): Promise<Response> {
  const fields = new URLSearchParams({ input, ...(solution === undefined ? {} : { solution }) })
  return await app(
    new Request("http://localhost/", {
      method: "POST",
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Origin: "http://localhost",
        Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "X-Test-Peer": client,
        ...(cookie === undefined ? {} : { Cookie: cookie }),
        ...headers,
      },
      body: body ?? fields.toString(),
    }),
  )
}

/** Uses up what a visitor has in a day without a pass, no faster than is allowed. */
export async function spendFreeChecks(harness: Pick<Harness, "app" | "time">): Promise<void> {
  for (let count = 0; count < LIMITS.freeChecksPerClientAndDay; count++) {
    await visit(harness)
    await harness.time.tick(1000 / LIMITS.freeRequestsPerSecond)
  }
}

/** The text of a challenge's solution, as the page of the pass gets and sends it. */
export async function solvedChallenge({ app }: Pick<Harness, "app">): Promise<string> {
  const answer = await app(new Request("http://localhost/pass/challenge", { headers: { "X-Test-Peer": "192.0.2.1" } }))
  const challenge: Challenge = await answer.json() // our own answer
  return await solutionOf(challenge)
}

/** The pair of the pass that an answer sets, as the browser sends it back; null: it sets none. */
export function passIn(answer: Response): string | null {
  const [pair = ""] = (answer.headers.get("set-cookie") ?? "").split(";")
  return /^mailkind_pass=\w{32}$/.test(pair) ? pair : null
}
