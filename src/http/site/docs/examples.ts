import CHECK_CURL from "./examples/check-curl.txt" with { type: "text" }
import CHECK_GO from "./examples/check-go.txt" with { type: "text" }
import CHECK_JAVASCRIPT from "./examples/check-javascript.txt" with { type: "text" }
import CHECK_PHP from "./examples/check-php.txt" with { type: "text" }
import CHECK_PYTHON from "./examples/check-python.txt" with { type: "text" }
import IN_PROCESS from "./examples/in-process.txt" with { type: "text" }
import ROTATE_KEYS from "./examples/rotate-keys.txt" with { type: "text" }
import SIGN_UP_FORM from "./examples/sign-up-form.txt" with { type: "text" }

/** The languages of the examples: the name, the ending of an example's file, the language of a block of code, and a complete program that checks an address. */
export const EXAMPLE_LANGUAGES = {
  curl: { label: "curl", ending: "sh", fence: "sh", program: CHECK_CURL },
  javascript: { label: "JavaScript", ending: "mjs", fence: "js", program: CHECK_JAVASCRIPT },
  python: { label: "Python", ending: "py", fence: "python", program: CHECK_PYTHON },
  php: { label: "PHP", ending: "php", fence: "php", program: CHECK_PHP },
  go: { label: "Go", ending: "go", fence: "go", program: CHECK_GO },
} as const satisfies Record<string, { readonly [of in "label" | "ending" | "fence" | "program"]: string }>
export type ExampleLanguage = keyof typeof EXAMPLE_LANGUAGES
export const EXAMPLE_LANGUAGE_NAMES = Object.keys(EXAMPLE_LANGUAGES) as ExampleLanguage[] // the keys of a table are its type's

/** The environment variable from which the examples read their key. It is no setting of the server; those begin with `MAILKIND_`. */
export const KEY_VARIABLE = "MK_API_KEY"

/** The values that differ from server to server. */
export type ExampleFacts = {
  readonly baseUrl: string
  /** The network budget of a check on this server. Callers wait longer than that. */
  readonly checkTimeoutMs: number
}

/** How long a caller waits for a check: its network budget and two seconds more for the connection. */
export const callerTimeoutSeconds = (checkTimeoutMs: number): number => Math.ceil(checkTimeoutMs / 1000) + 2

/** The program of each language that checks an address at this server, with the name of its file. */
export const checkPrograms = (facts: ExampleFacts) =>
  EXAMPLE_LANGUAGE_NAMES.map(language => {
    const { label, ending, fence, program } = EXAMPLE_LANGUAGES[language]
    return { language, label, fence, file: `check.${ending}`, code: fillPlaceholders(program, facts) }
  })

/** A program that checks in its own process. */
export const IN_PROCESS_EXAMPLE = IN_PROCESS.trimEnd()

/** The commands that rotate a key of an account. */
export const keyRotationCommands = (account: string, facts: ExampleFacts): string =>
  fillPlaceholders(ROTATE_KEYS, facts, { account })

/** A sign-up form that gives hints by a publishable key. */
export const signUpFormHtml = (publishableKey: string, facts: ExampleFacts): string =>
  fillPlaceholders(SIGN_UP_FORM, facts, { publishable_key: publishableKey })

function fillPlaceholders(
  text: string,
  { baseUrl, checkTimeoutMs }: ExampleFacts,
  more: Readonly<Record<string, string>> = {},
): string {
  const values: Readonly<Record<string, string>> = {
    base_url: baseUrl,
    timeout_seconds: String(callerTimeoutSeconds(checkTimeoutMs)),
    ...more,
  }
  return text.replace(/\{\{(\w+)\}\}/g, (mark, name: string) => values[name] ?? mark).trimEnd()
}
