import { assert } from "../../../base/errors.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { curlCommand } from "../ui/format.ts"
import BATCH_CURL from "./examples/batch-curl.txt" with { type: "text" }
import BATCH_JAVASCRIPT from "./examples/batch-javascript.txt" with { type: "text" }
import BATCH_PYTHON from "./examples/batch-python.txt" with { type: "text" }
import CHECK_CURL from "./examples/check-curl.txt" with { type: "text" }
import CHECK_GO from "./examples/check-go.txt" with { type: "text" }
import CHECK_JAVASCRIPT from "./examples/check-javascript.txt" with { type: "text" }
import CHECK_PHP from "./examples/check-php.txt" with { type: "text" }
import CHECK_PYTHON from "./examples/check-python.txt" with { type: "text" }
import FEEDBACK_CURL from "./examples/feedback-curl.txt" with { type: "text" }
import FIRST_GO from "./examples/first-go.txt" with { type: "text" }
import FIRST_JAVASCRIPT from "./examples/first-javascript.txt" with { type: "text" }
import FIRST_PHP from "./examples/first-php.txt" with { type: "text" }
import FIRST_PYTHON from "./examples/first-python.txt" with { type: "text" }
import IN_PROCESS from "./examples/in-process.txt" with { type: "text" }
import ROTATE_KEYS from "./examples/rotate-keys.txt" with { type: "text" }
import SIGN_UP_FORM from "./examples/sign-up-form.txt" with { type: "text" }
import USAGE_CURL from "./examples/usage-curl.txt" with { type: "text" }

/** The languages of the examples: the name, the ending of an example's file, and the language of a block of code. */
export const EXAMPLE_LANGUAGES = {
  curl: { label: "curl", ending: "sh", fence: "sh" },
  javascript: { label: "JavaScript", ending: "mjs", fence: "js" },
  python: { label: "Python", ending: "py", fence: "python" },
  php: { label: "PHP", ending: "php", fence: "php" },
  go: { label: "Go", ending: "go", fence: "go" },
} as const satisfies Record<string, { readonly label: string; readonly ending: string; readonly fence: string }>
export type ExampleLanguage = keyof typeof EXAMPLE_LANGUAGES
const EXAMPLE_LANGUAGE_NAMES = Object.keys(EXAMPLE_LANGUAGES) as ExampleLanguage[] // the keys of a table are its type's

/** The examples that exist in each language: the arguments with which the tests run each. */
export const EXAMPLE_TASKS = {
  check: { args: ["jane@gmail.com"] },
  batch: { args: ["jane@gmail.com", "stripe.com"] },
  feedback: { args: ["jane@northwind-paper.com", "business"] },
  usage: { args: [] },
} as const satisfies Record<string, { readonly args: readonly string[] }>
export type ExampleTask = keyof typeof EXAMPLE_TASKS
export const EXAMPLE_TASK_NAMES = Object.keys(EXAMPLE_TASKS) as ExampleTask[] // the keys of a table are its type's

/**
 * Complete programs, as the page shows them and as the tests run them. What differs by server is in double braces. A language that has no
 * client shows one task, and a request that a client sends by one call stands in curl alone.
 */
const EXAMPLES: { readonly [T in ExampleTask]: { readonly [L in ExampleLanguage]?: string } } = {
  check: { curl: CHECK_CURL, javascript: CHECK_JAVASCRIPT, python: CHECK_PYTHON, php: CHECK_PHP, go: CHECK_GO },
  batch: { curl: BATCH_CURL, javascript: BATCH_JAVASCRIPT, python: BATCH_PYTHON },
  feedback: { curl: FEEDBACK_CURL },
  usage: { curl: USAGE_CURL },
}

/** The languages that a task has a program in. */
export const exampleLanguages = (task: ExampleTask): readonly ExampleLanguage[] =>
  EXAMPLE_LANGUAGE_NAMES.filter(language => EXAMPLES[task][language] !== undefined)

/** Examples that are not programs. */
const OTHER_EXAMPLES = { rotate_keys: ROTATE_KEYS, sign_up_form: SIGN_UP_FORM } as const

/** The environment variable from which the examples read their key. It is no setting of the server; those begin with `MAILKIND_`. */
export const KEY_VARIABLE = "MK_API_KEY"

/** How often the examples try again, and how long they wait. */
export const EXAMPLE_RETRIES = { attempts: 5, waitMaxSeconds: 60 } as const

/** The values that differ from server to server. */
export type ExampleFacts = {
  readonly baseUrl: string
  /** The network budget of a check on this server. Callers wait longer than that. */
  readonly checkTimeoutMs: number
}

/** How long a caller waits for a check: its network budget and two seconds more for the connection. */
export const callerTimeoutSeconds = (checkTimeoutMs: number): number => Math.ceil(checkTimeoutMs / 1000) + 2

/** The name of an example's file. */
export const exampleFile = (task: ExampleTask, language: ExampleLanguage): string =>
  `${task}.${EXAMPLE_LANGUAGES[language].ending}`

/** The text of an example for this server, in a language that the task has. */
export function exampleProgram(task: ExampleTask, language: ExampleLanguage, facts: ExampleFacts): string {
  const text = EXAMPLES[task][language]
  assert(text !== undefined, `there is no example of ${task} in ${language}`)
  return fillPlaceholders(text, facts, {})
}

/** The first call of each language: it prints the answer, and needs no key for a test address. */
const FIRST_CALLS = { javascript: FIRST_JAVASCRIPT, python: FIRST_PYTHON, php: FIRST_PHP, go: FIRST_GO } as const

/** The first call in each language, with the address that it checks. */
export const firstCalls = (email: string, facts: ExampleFacts) =>
  EXAMPLE_LANGUAGE_NAMES.map(language => ({
    ...EXAMPLE_LANGUAGES[language],
    language,
    code:
      language === "curl"
        ? curlCommand(facts.baseUrl, email)
        : fillPlaceholders(FIRST_CALLS[language], facts, { email }),
  }))

/** A program that checks in its own process. */
export const IN_PROCESS_EXAMPLE = IN_PROCESS.trimEnd()

/** The commands that rotate a key of an account. */
export const keyRotationCommands = (account: string, facts: ExampleFacts): string =>
  fillPlaceholders(OTHER_EXAMPLES.rotate_keys, facts, { account })

/** A sign-up form that gives hints by a publishable key. */
export const signUpFormHtml = (publishableKey: string, facts: ExampleFacts): string =>
  fillPlaceholders(OTHER_EXAMPLES.sign_up_form, facts, { publishable_key: publishableKey })

function fillPlaceholders(
  text: string,
  { baseUrl, checkTimeoutMs }: ExampleFacts,
  more: Readonly<Record<string, string>>,
): string {
  const seconds = callerTimeoutSeconds(checkTimeoutMs)
  const values: Readonly<Record<string, string | number>> = {
    ...{ base_url: baseUrl, timeout_seconds: seconds, batch_timeout_seconds: 2 * seconds },
    ...{
      batch_items_max: LIMITS.batchItemsMax,
      attempts: EXAMPLE_RETRIES.attempts,
      retries: EXAMPLE_RETRIES.attempts - 1,
    },
    wait_max_seconds: EXAMPLE_RETRIES.waitMaxSeconds,
    ...more,
  }
  return text.replace(/\{\{(\w+)\}\}/g, (mark, name: string) => String(values[name] ?? mark)).trimEnd()
}
