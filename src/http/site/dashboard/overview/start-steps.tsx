/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES } from "../../../../contract/routes.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import { checkedCount, type KeyDayUsage } from "../../../../customers/usage/usage-history.ts"
import { curlCommand } from "../../ui/format.ts"
import { LinkButton } from "../../ui/forms.tsx"
import { CodeBlock } from "../../ui/layout.tsx"
import { KEYLESS_NAMES } from "./usage-query.ts"

/** The steps of a new account, in order. */
const START_STEPS = {
  key: { label: "Make a key", hint: "One for each server or website" },
  call: { label: "Send a request", hint: "One command in a terminal" },
  form: { label: "Protect a form", hint: "Typos and disposable addresses" },
} as const satisfies Record<string, { readonly label: string; readonly hint: string }>

/** A step of a new account. */
export type StartStep = keyof typeof START_STEPS

const STEP_NAMES = Object.keys(START_STEPS) as StartStep[] // the keys of a table are its type's

/** On so many days secret keys were used when an account is no longer new, whether or not it has a publishable key. */
const SETTLED_DAYS = 3

/**
 * The next step of an account with these keys and this usage; null: it has done all. A form is protected when a publishable key was
 * used, or when the account's own server has checked on several days.
 */
export function nextStartStep(keys: readonly ApiKey[], history: readonly KeyDayUsage[]): StartStep | null {
  const ofKeys = history.filter(({ keyId }) => !Object.hasOwn(KEYLESS_NAMES, keyId))
  const wasUsed = ({ id, lastUsedAtMs }: ApiKey): boolean =>
    lastUsedAtMs !== null || ofKeys.some(({ keyId }) => keyId === id)
  if (keys.length === 0 && ofKeys.length === 0) return "key"
  if (!keys.some(wasUsed) && ofKeys.length === 0) return "call"
  const publishable = new Set(keys.filter(({ kind }) => kind === "publishable").map(({ id }) => id))
  if (keys.some(key => publishable.has(key.id) && wasUsed(key))) return null
  const daysOfServers = new Set(ofKeys.filter(figures => checkedCount(figures) > 0).map(({ day }) => day))
  return daysOfServers.size >= SETTLED_DAYS ? null : "form"
}

type StartCardProps = {
  readonly next: StartStep
  readonly baseUrl: string
  /** Whether there is a publishable key that was never used. */
  readonly hasPublishableKey: boolean
}

/** The three steps, of which the next one is explained. `overview.js` notices when it is done. */
export function StartCard({ next, baseUrl, hasPublishableKey }: StartCardProps) {
  const place = STEP_NAMES.indexOf(next)
  return (
    <section class="panel start" id="start" aria-labelledby="start-title" data-step={next}>
      <h2 id="start-title">Get started</h2>
      <ol class="steps">
        {STEP_NAMES.map((step, index) => (
          <li
            key={step}
            class={index < place ? "reached" : ""}
            {...(step === next ? { "aria-current": "step" as const } : {})}
          >
            <strong>{START_STEPS[step].label}</strong>
            <small>{index < place ? "Done" : START_STEPS[step].hint}</small>
          </li>
        ))}
      </ol>
      <NextStep next={next} baseUrl={baseUrl} hasPublishableKey={hasPublishableKey} />
    </section>
  )
}

function NextStep({ next, baseUrl, hasPublishableKey }: StartCardProps) {
  const command = curlCommand(baseUrl, "jane@acme.com", "YOUR_SECRET_KEY")
  if (next === "key")
    return (
      <>
        <p class="actions">
          <LinkButton path={ROUTES.newKey.path} label="Make a key" />
        </p>
        <CodeBlock caption="Your first request" code={command} language="sh" />
      </>
    )
  if (next === "call")
    return (
      <>
        <p>Run this command in a terminal. Replace YOUR_SECRET_KEY with your key.</p>
        <CodeBlock caption="Command" code={command} language="sh" />
        <p class="hint">
          This page notices your first request. <a href={ROUTES.docsStart.path}>Code in other languages</a> ·{" "}
          <a href={ROUTES.newKey.path}>Make a new key and get the command with it</a>
        </p>
      </>
    )
  if (hasPublishableKey)
    return (
      <Explained path={ROUTES.docsSignUpForms.path} action="See the code for your form">
        You have a publishable key. Add it to your sign-up form: it then warns people about typos and disposable
        addresses.
      </Explained>
    )
  return (
    <Explained path={ROUTES.newKey.path} action="Make a publishable key">
      A publishable key works in your web page. Your sign-up form can then warn people about typos and disposable
      addresses. <a href={ROUTES.docsSignUpForms.path}>How to protect a form</a>
    </Explained>
  )
}

type ExplainedProps = { readonly path: string; readonly action: string; readonly children: ComponentChildren }

function Explained({ path, action, children }: ExplainedProps) {
  return (
    <>
      <p>{children}</p>
      <p class="actions">
        <LinkButton path={path} label={action} />
      </p>
    </>
  )
}
