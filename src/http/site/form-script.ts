import { fingerprint } from "../../base/fingerprint.ts"
import { ROUTES } from "../../contract/routes.ts"
import SOURCE from "./browser/form.js" with { type: "text" }

/** The source as it is sent: without comments and white space, in a function of its own, so that the page gets no name from it. */
function servedScript(source: string): string {
  const code = new Bun.Transpiler({ loader: "js", minifyWhitespace: true }).transformSync(source).trim()
  return `/* mailkind: ${ROUTES.docsFormScript.path} */\n;(()=>{"use strict";${code}})()\n`
}

/** The form script: what another website loads to give hints beside its email fields. */
export const FORM_SCRIPT: Buffer<ArrayBuffer> = Buffer.from(servedScript(SOURCE))

/** Changes when the script does. */
export const FORM_SCRIPT_VERSION = fingerprint(FORM_SCRIPT)

/** A path for this version of the script alone. */
export const FORM_SCRIPT_VERSION_PATH = ROUTES.formScriptVersion.path.replace(":version", `${FORM_SCRIPT_VERSION}.js`)

/** The value of `integrity` for this version (Subresource Integrity). */
export const FORM_SCRIPT_INTEGRITY = `sha384-${new Bun.CryptoHasher("sha384").update(FORM_SCRIPT).digest("base64")}`

/** The tag that a page of another website has. */
export const formScriptTag = (baseUrl: string, key: string): string =>
  `<script src="${baseUrl}${ROUTES.formScript.path}" data-key="${key}" defer></script>`

/** The same for this version alone: browsers refuse any other content. */
export const pinnedFormScriptTag = (baseUrl: string, key: string): string =>
  [
    `<script src="${baseUrl}${FORM_SCRIPT_VERSION_PATH}"`,
    `  integrity="${FORM_SCRIPT_INTEGRITY}"`,
    `  crossorigin="anonymous" data-key="${key}" defer></script>`,
  ].join("\n")

/** What stands for a key on the pages of this server: only test addresses are answered. */
export const FORM_SCRIPT_TEST_KEY = "test"

type FormScriptOption = { readonly name: string; readonly default: string; readonly description: string }

/** The settings of the script: each is an attribute `data-…` of its tag, and a member for `mailkind.configure`. */
// biome-ignore format: a row a line
export const FORM_SCRIPT_OPTIONS: readonly FormScriptOption[] = [
  { name: "key", default: "", description: "Your publishable key." },
  { name: "policy", default: "that of the API", description: "The policy: `lenient`, `b2b` or `strict`." },
  { name: "timeout", default: "3000", description: "How long the script waits for an answer, in milliseconds." },
  { name: "name", default: "mailkind", description: "The name of the hidden field. Empty: there is none." },
  { name: "fields", default: "input[type=email], input[autocomplete~=email i], [data-mailkind]", description: "A CSS selector for the fields." },
  { name: "server", default: "where the script comes from", description: "The address of the server, if you serve the script yourself." },
]

/** The words of the script, by the name under which a page replaces them: `{email}` is the suggestion, or the address. */
// biome-ignore format: a row a line
export const FORM_SCRIPT_WORDS: readonly FormScriptOption[] = [
  { name: "suggestion", default: "Did you mean {email}?", description: "There is a likely typing error, and the policy allows what was meant. The words are a button." },
  { name: "review", default: "Please check this address.", description: "`recommendation` is `review`." },
  { name: "block", default: "Please use another address.", description: "`recommendation` is `block`." },
  { name: "personal", default: "Please use your work email.", description: "`review` or `block`, and `category` is `personal`." },
  { name: "relay", default: "Please use your work email.", description: "`review` or `block`, and `category` is `relay`." },
  { name: "disposable", default: "Please use an address that you will keep.", description: "`review` or `block`, and `category` is `disposable`." },
  { name: "invalid", default: "This address cannot receive email. Please check it.", description: "`review` or `block`, and `category` is `invalid`." },
]

/** Attributes of a field, besides `data-mailkind-…` with the name of words. */
// biome-ignore format: a row a line
export const FORM_FIELD_ATTRIBUTES = [
  { name: "data-mailkind", description: "The script checks this field, also if it has another type." },
  { name: 'data-mailkind="off"', description: "The script leaves this field alone, such as the one of your sign-in form." },
  { name: "data-mailkind-policy", description: "The policy for this field." },
  { name: "data-mailkind-name", description: "The name of the hidden field for this field." },
  { name: "data-mailkind-message", description: "The `id` of an element of yours for the words." },
] as const

/** Events of a field. They bubble, also out of shadow roots. */
// biome-ignore format: a row a line
export const FORM_SCRIPT_EVENTS = [
  { name: "mailkind:check", detail: "email", description: "The script is about to ask.", prevented: "It does not ask." },
  { name: "mailkind:result", detail: "email, result, suggestion", description: "The answer has come.", prevented: "It shows no words." },
  { name: "mailkind:accept", detail: "from, to", description: "The visitor has pressed the suggestion.", prevented: "The field stays as it is." },
  { name: "mailkind:unchecked", detail: "email, because, status", description: "There is no answer.", prevented: "" },
] as const

/** The values of `because` in `mailkind:unchecked`. */
// biome-ignore format: a row a line
export const FORM_SCRIPT_CAUSES = [
  { name: "timeout", description: "The answer took too long." },
  { name: "unreachable", description: "The server is away, or the browser hides its answer: the origin is not one of the key's websites." },
  { name: "refused", description: "The server refused the request. `status` has its status." },
  { name: "paused", description: "The server refused an earlier request, and the time in `Retry-After` is not over. After 401 and 403 the script does not ask again on this page." },
  { name: "malformed", description: "The answer is not a result." },
] as const
