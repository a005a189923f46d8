/** @jsxImportSource preact */
import { h } from "preact"
import { ROUTES } from "../../contract/routes.ts"
import { CHALLENGE_ALGORITHM, type Challenge } from "../../customers/free-checks/challenges.ts"
import type { PassChange } from "../../customers/free-checks/passes.ts"
import type { Assets } from "./assets.ts"
import type { Cookies } from "./cookies.ts"

/*
 * How a page makes the visitor's browser earn a pass by a proof of work: the form of the page solves a challenge, sends itself again
 * with the solution, and the response sets the cookie of the pass.
 */

/** The field of the solution of a challenge. */
export const SOLUTION_FIELD = "solution"

/** The paths of the assets of a page with a `PassForm`. */
export type PassPageAssets = {
  readonly widget: string
  readonly styles: string
  readonly worker: string
  readonly script: string
}

/** Finds the paths of the assets. */
export async function passPageAssets(assets: Assets): Promise<PassPageAssets> {
  const [widget, styles, worker, script] = await Promise.all([
    assets.path("altcha.js"),
    assets.path("altcha.css"),
    assets.path("altcha-worker.js"),
    assets.path("pass.js"),
  ])
  return { widget, styles, worker, script }
}

/** No links to other sites, no tracking of the visitor, and no delay beyond the proof of work. */
const WIDGET_ATTRIBUTES = {
  language: "en",
  configuration: JSON.stringify({
    hideFooter: true,
    hideLogo: true,
    humanInteractionSignature: false,
    minDuration: 0,
  }),
} as const

type PassFormProps = {
  readonly assets: PassPageAssets
  /** Where the form is sent with the solution. */
  readonly path: string
  /** What else it sends. */
  readonly fields: Readonly<Record<string, string>>
  /** The challenge; null: the browser asks for one. */
  readonly challenge: Challenge | null
  /** What visitors do whose browser cannot solve it. */
  readonly alternatives: string
}

/** The form that solves a challenge and sends itself. The page loads the widget before the script, which uses it. */
export function PassForm({ assets, path, fields, challenge, alternatives }: PassFormProps) {
  const source = challenge === null ? ROUTES.getPassChallenge.path : JSON.stringify(challenge)
  return (
    <form
      class="form pass"
      method="post"
      action={path}
      data-algorithm={CHALLENGE_ALGORITHM}
      data-worker={assets.worker}
    >
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <input type="hidden" name={SOLUTION_FIELD} value="" />
      {/* Stands above the widget, which covers what is below it with a tooltip. */}
      <p class="boxed fault" role="alert" hidden>
        That did not work. Tick the box to try once more. {alternatives}
      </p>
      {h("altcha-widget", { ...WIDGET_ATTRIBUTES, challenge: source })}
      <noscript>
        <p class="told">The arithmetic needs JavaScript, which is off in your browser. {alternatives}</p>
      </noscript>
    </form>
  )
}

/** Sets the cookie of a new pass, or deletes that of an expired one. */
export function withPassCookie(cookies: Cookies, response: Response, change: PassChange): Response {
  if (change !== null) {
    const { secret } = change
    response.headers.append("Set-Cookie", secret === null ? cookies.clear("pass") : cookies.write("pass", secret))
  }
  return response
}
