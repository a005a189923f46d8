/** @jsxImportSource preact */
import { type ComponentChildren, h } from "preact"
import { ROUTES } from "../../contract/routes.ts"
import { CHALLENGE_ALGORITHM, type Challenge } from "../../customers/free-checks/challenges.ts"
import type { PassChange } from "../../customers/free-checks/passes.ts"
import type { Assets } from "./assets.ts"
import type { Cookies } from "./cookies.ts"
import { HiddenFields } from "./ui/forms.tsx"

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

/**
 * Whether the browser that sent a form can solve a challenge: browsers have `crypto.subtle` only over HTTPS and on loopback addresses.
 * A form of our own pages tells in `Origin` where its page is.
 */
export function canSolveChallenge(request: Request): boolean {
  const origin = URL.parse(request.headers.get("origin") ?? "")
  return origin === null || origin.protocol === "https:" || LOOPBACK.test(origin.hostname)
}

const LOOPBACK = /^(?:localhost|(?:[^.]+\.)+localhost|127(?:\.\d+){3}|\[::1\])$/

type PassFormProps = {
  readonly assets: PassPageAssets
  /** Where the form is sent with the solution. */
  readonly path: string
  /** What else it sends. */
  readonly fields: Readonly<Record<string, string>>
  /** The challenge; null: the browser asks for one. */
  readonly challenge: Challenge | null
  /** What visitors do whose browser cannot solve it. */
  readonly alternatives: ComponentChildren
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
      <HiddenFields fields={{ ...fields, [SOLUTION_FIELD]: "" }} />
      {/* Everything to read or press stands above the widget, which covers what is below it with a tooltip. */}
      <noscript>
        <p class="told">The puzzle needs JavaScript, which is off in your browser.</p>
      </noscript>
      <p class="boxed fault" role="alert" hidden>
        The puzzle was not solved. Tick the box to try again.
      </p>
      <InsecurePageNotice isHidden />
      <p class="hint">{alternatives}</p>
      {h("altcha-widget", { ...WIDGET_ATTRIBUTES, challenge: source })}
    </form>
  )
}

type InsecurePageNoticeProps = {
  /** True: `pass.js` shows it when the browser cannot solve the puzzle. */
  readonly isHidden?: boolean
}

/** What visitors read whose browser cannot solve a challenge, because the page came over plain HTTP. */
export const InsecurePageNotice = ({ isHidden = false }: InsecurePageNoticeProps) => (
  <p class={isHidden ? "told insecure" : "told"} role="alert" hidden={isHidden}>
    Your browser cannot solve the puzzle here, because this page came over plain HTTP. If you run this server,{" "}
    <a href={`${ROUTES.docsSelfHosting.path}#proxy`}>serve it over HTTPS</a>.
  </p>
)

/** Sets the cookie of a new pass, or deletes that of an expired one. */
export function withPassCookie(cookies: Cookies, response: Response, change: PassChange): Response {
  if (change !== null) {
    const { secret } = change
    response.headers.append("Set-Cookie", secret === null ? cookies.clear("pass") : cookies.write("pass", secret))
  }
  return response
}
