/** @jsxImportSource preact */
import { ROUTES } from "../../../../contract/routes.ts"
import { FORM_DEMO_SCRIPT_PATH } from "../../assets.ts"
import {
  FORM_FIELD_ATTRIBUTES,
  FORM_SCRIPT,
  FORM_SCRIPT_CAUSES,
  FORM_SCRIPT_EVENTS,
  FORM_SCRIPT_OPTIONS,
  FORM_SCRIPT_TEST_KEY,
  FORM_SCRIPT_WORDS,
  formScriptTag,
  pinnedFormScriptTag,
} from "../../form-script.ts"
import { formatNumber } from "../../ui/format.ts"
import { TextField } from "../../ui/forms.tsx"
import type { BlockInsert, Insert } from "./insert.ts"
import { codeFence, codeSpan, markdownTable, nameTable, proseText } from "./markdown-text.ts"

const EXAMPLE_KEY = "svc_pub_…"

/** What the pages about forms tell of the form script. */
export const FORM_INSERTS = {
  "form-tag": ({ baseUrl }) => codeFence("html", "In your page", formScriptTag(baseUrl, EXAMPLE_KEY)),
  "form-pinned-tag": ({ baseUrl }) =>
    codeFence("html", "This version alone", pinnedFormScriptTag(baseUrl, EXAMPLE_KEY)),
  "form-policy": ({ baseUrl }) =>
    codeFence("http", "Headers", `Content-Security-Policy: script-src ${baseUrl}; connect-src ${baseUrl}`),
  "form-bytes": () => formatNumber(Bun.gzipSync(FORM_SCRIPT, { level: 9 }).length),
  "form-options": () =>
    markdownTable(
      ["Attribute of the tag", "Meaning", "Default"],
      FORM_SCRIPT_OPTIONS.map(({ name, description, default: value }) => [
        codeSpan(`data-${name}`),
        proseText(description),
        value === "" ? "" : codeOrWords(value),
      ]),
    ),
  "form-words": () =>
    markdownTable(
      ["Name", "When", "Words"],
      FORM_SCRIPT_WORDS.map(({ name, description, default: words }) => [
        codeSpan(name),
        proseText(description),
        codeSpan(words),
      ]),
    ),
  "form-attributes": () => nameTable(["Attribute of a field", "Meaning"], FORM_FIELD_ATTRIBUTES),
  "form-events": () =>
    markdownTable(
      ["Event", "When", "`detail`", "If prevented"],
      FORM_SCRIPT_EVENTS.map(({ name, detail, description, prevented }) => [
        codeSpan(name),
        description,
        codeSpan(detail),
        prevented,
      ]),
    ),
  "form-causes": () => nameTable(["`because`", "Meaning"], FORM_SCRIPT_CAUSES),
} as const satisfies Readonly<Record<string, Insert>>

/** A default that is a sentence is no code. */
const codeOrWords = (value: string): string => (/^[\w ]+ [\w ]+$/.test(value) ? value : codeSpan(value))

/** The test addresses that the live form offers. */
const EXAMPLES = ["typo", "disposable", "invalid", "business", "error-500"] as const

/** A form that uses the script on this page. It has no key: other addresses than those for tests are free checks. */
export const LIVE_FORM_INSERTS = {
  "form-live": ({ testDomain }) => ({
    markdown: "The HTML page has a live form here.",
    html: (
      <div class="panel">
        <noscript>
          <p>The form needs JavaScript.</p>
        </noscript>
        <form class="form" id="form-demo" data-test-domain={testDomain} hidden>
          <p class="actions">
            <span class="hint">Try</span>
            {EXAMPLES.map(name => (
              <button key={name} class="small" type="button" value={`${name}@${testDomain}`}>
                {name}
              </button>
            ))}
          </p>
          <TextField name="email" label="Email" type="email" autocomplete="off" />
          <button type="submit">Sign up</button>
        </form>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
        <pre class="any hint" id="form-demo-output" tabIndex={0} hidden>
          Choose an address, or type one and leave the field.
        </pre>
        <script src={ROUTES.formScript.path} data-key={FORM_SCRIPT_TEST_KEY} data-policy="lenient" defer />
        <script type="module" src={FORM_DEMO_SCRIPT_PATH} />
      </div>
    ),
  }),
} as const satisfies Readonly<Record<string, BlockInsert>>
