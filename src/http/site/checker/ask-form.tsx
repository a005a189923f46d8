/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"

/** The field of the form that holds what is asked about. */
export const INPUT = "input"

/** The field that holds what altcha's widget found. */
export const SOLUTION = "solution"

/** Why what was asked about gets no verdict, by what was typed. */
export type Asked = {
  /** What stands in the field. */
  readonly typed: string
  /** What is wrong with it; null: nothing. */
  readonly fault: string | null
}

/** Nothing was asked about yet. */
export const NOT_ASKED: Asked = { typed: "", fault: null }

/** The one field of the free checker. It is sent by POST: an address is no part of a URL, and of no log. */
export function AskForm({ typed, fault }: Asked) {
  return (
    <search>
      <form class="ask" method="post" action={ROUTES.postHome.path}>
        <label for={INPUT}>Email address, domain or website</label>
        <input
          id={INPUT}
          name={INPUT}
          type="text"
          inputMode="email"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={typed}
          aria-describedby={fault === null ? `${INPUT}-hint` : `${INPUT}-fault ${INPUT}-hint`}
          {...(fault === null ? {} : { "aria-invalid": true })}
        />
        <button type="submit">Check</button>
        {fault === null ? null : (
          <p class="fault" id={`${INPUT}-fault`} role="alert">
            {fault}
          </p>
        )}
        <p class="hint" id={`${INPUT}-hint`}>
          Such as <code>jane@example.com</code> or <code>example.com</code>. Nobody is written to, and what you type is
          not kept.
        </p>
      </form>
    </search>
  )
}
