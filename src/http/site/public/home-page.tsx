/** @jsxImportSource preact */
import { CATEGORIES, CATEGORY_NAMES, type Category } from "../../../contract/categories.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { exampleResult } from "../../response/example-responses.ts"
import { curlCommand } from "../ui/format.ts"
import { ActionButton, FormError } from "../ui/forms.tsx"
import { CodeBlock, Layout, prettyJson, Table } from "../ui/layout.tsx"
import { VerdictView } from "../ui/verdict-view.tsx"

type HomePageProps = ApiQuickStartProps & {
  /** False: the operator offers no free checks. */
  readonly hasChecker: boolean
  readonly form?: CheckFormState
  /** Why the request was refused, unless the input is at fault; null: it was not. */
  readonly error?: string | null
  /** Null: nothing was checked. */
  readonly result?: CheckResult | null
}

/** The home page: the free checker with its last verdict, and a quick start for the API. */
export function HomePage(props: HomePageProps) {
  const { hasChecker, form = EMPTY_CHECK_FORM, error = null, result = null } = props
  return (
    <Layout route="home" title="What is behind an address?">
      <p class="lead">
        mailkind tells what an email address, a domain or a website is: a business, a free mailbox, a throw-away one, a
        privacy relay, a school, a government body, or nothing that exists.
      </p>
      <FormError message={error} />
      {hasChecker ? <CheckForm {...form} /> : null}
      {result === null ? null : <FreeCheckVerdict result={result} />}
      <ApiQuickStart baseUrl={props.baseUrl} testDomain={props.testDomain} />
      {hasChecker ? <FreeCheckTerms /> : null}
    </Layout>
  )
}

function FreeCheckVerdict({ result }: { readonly result: CheckResult }) {
  const corrected = correctedInput(result)
  return (
    <VerdictView
      result={result}
      meaning={CATEGORY_MEANINGS[result.category]}
      besideSuggestion={
        corrected === null ? null : (
          <ActionButton
            path={ROUTES.postHome.path}
            fields={{ [INPUT_FIELD]: corrected }}
            label={`Check ${corrected}`}
          />
        )
      }
    />
  )
}

/** The input with the suggested domain. Null when the result suggests none. */
function correctedInput({ email, did_you_mean: suggestion }: CheckResult): string | null {
  if (suggestion === null || email === null) return suggestion
  return `${email.slice(0, email.lastIndexOf("@"))}@${suggestion}`
}

function FreeCheckTerms() {
  return (
    <>
      <h2 id="free">How free it is</h2>
      <p>
        {LIMITS.freeChecksPerClientAndDay} checks a day are simply answered. For more, your browser does a short piece
        of arithmetic, about a second long, which is worth {LIMITS.passChecks} checks within {LIMITS.passMinutes}{" "}
        minutes: it keeps programs from using up what is there for people. All visitors share a number of checks a day.
        With a <a href={ROUTES.signIn.path}>key of your own</a> none of this concerns you.
      </p>
      <p>
        What you check is not stored and not logged. Of your network address only a keyed hash is kept, until the end of
        the next day.
      </p>
    </>
  )
}

/** The form field for the address, domain or URL to check. */
export const INPUT_FIELD = "input"

/** The state of the check form. */
export type CheckFormState = {
  readonly input: string
  /** What is wrong with the input; null: nothing. */
  readonly error: string | null
}

/** The form before anything was entered. */
export const EMPTY_CHECK_FORM: CheckFormState = { input: "", error: null }

/** The form of the free checker. It is sent by POST, so that no URL and no log holds the address. */
function CheckForm({ input, error }: CheckFormState) {
  return (
    <search>
      <form class="ask" method="post" action={ROUTES.postHome.path}>
        <label for={INPUT_FIELD}>Email address, domain or website</label>
        <input
          id={INPUT_FIELD}
          name={INPUT_FIELD}
          type="text"
          inputMode="email"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={input}
          aria-describedby={error === null ? `${INPUT_FIELD}-hint` : `${INPUT_FIELD}-fault ${INPUT_FIELD}-hint`}
          {...(error === null ? {} : { "aria-invalid": true })}
        />
        <button type="submit">Check</button>
        {error === null ? null : (
          <p class="fault" id={`${INPUT_FIELD}-fault`} role="alert">
            {error}
          </p>
        )}
        <p class="hint" id={`${INPUT_FIELD}-hint`}>
          Such as <code>jane@example.com</code> or <code>example.com</code>. Nobody is written to, and what you type is
          not kept.
        </p>
      </form>
    </search>
  )
}

/** What a category means for somebody who wants to write to such an address, or to let it sign up. */
export const CATEGORY_MEANINGS: { readonly [C in Category]: string } = {
  business:
    "This belongs to an organisation with a domain of its own. You can write to it, and a sign-up with it tells you for whom somebody works.",
  personal:
    "This is a mailbox at a provider that gives one to everybody. You can write to it; it tells you nothing of where somebody works.",
  disposable:
    "This is a throw-away mailbox. It is gone within minutes or days, and often anybody can read it: do not count on reaching anybody there, and send nothing there that is not for everybody.",
  relay:
    "This is an address that forwards to a mailbox which it hides. Your mail arrives for as long as its owner wants it to; who that is, nobody tells.",
  education: "This belongs to a school or a university. You can write to it; most people there leave after some years.",
  government: "This belongs to a public body. You can write to it, and a sign-up with it is an official's.",
  invalid:
    "Nothing can arrive there. If somebody gave it to you, ask for another one, or look for a slip of the keyboard.",
  unknown: "We found nothing that tells what this is. Have somebody answer a mail there before you count on it.",
}

type ApiQuickStartProps = { readonly baseUrl: string; readonly testDomain: string }

/** What the API does, a command that works at once, the categories, and links to the documentation. */
function ApiQuickStart({ baseUrl, testDomain }: ApiQuickStartProps) {
  return (
    <>
      <h2 id="api">The same from your own program</h2>
      <p>
        mailkind sorts sign-ups by what stands behind an address: it asks lists and DNS, and never the mailbox itself.{" "}
        <a href={ROUTES.signIn.path}>Sign in for a free key</a>, or read the{" "}
        <a href={ROUTES.docs.path}>API reference</a>. Addresses under the test domain need no key and always get the
        same verdict:
      </p>
      <CodeBlock caption="Command" code={curlCommand(baseUrl, `business@${testDomain}`)} />
      <details>
        <summary>What it answers</summary>
        <CodeBlock caption="Answer" code={prettyJson(exampleResult("business", testDomain))} />
      </details>
      <p>
        Every other input needs a key in the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>. There are{" "}
        <a href={ROUTES.docsTestAddresses.path}>test addresses</a> for every kind of verdict.
      </p>
      <h2 id="categories">Categories</h2>
      <Table caption="Categories" columns={["Category", "Meaning", "Business"]}>
        {CATEGORY_NAMES.map(category => (
          <tr key={category}>
            <th scope="row">
              <code>{category}</code>
            </th>
            <td>{CATEGORIES[category].description}</td>
            <td>{CATEGORIES[category].isBusiness ? "yes" : "no"}</td>
          </tr>
        ))}
      </Table>
      <h2>Documentation</h2>
      <dl class="links">
        {DOCUMENTATION_LINKS.map(({ route, label }) => (
          <div key={route}>
            <dt>
              <a href={ROUTES[route].path}>{label}</a>
            </dt>
            <dd>{ROUTES[route].description}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const DOCUMENTATION_LINKS = [
  { route: "docsGuide", label: "Guide" },
  { route: "docsStart", label: "Quick start" },
  { route: "docs", label: "API reference" },
  { route: "docsLists", label: "Lists" },
  { route: "docsPrivacy", label: "Privacy" },
  { route: "docsSelfHosting", label: "Self-hosting" },
] as const
