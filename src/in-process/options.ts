import { POLICY_NAMES } from "../contract/policies.ts"
import { MailkindError } from "./mailkind-error.ts"
import type { OpenOptions } from "./public-types.d.ts"

/** What an option must be, and the form of it that is read here. Its range stands with the setting, where it has one. */
type OptionRule = { readonly isForm: (value: unknown) => boolean; readonly expected: string }

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isOffOrTextList = (value: unknown): boolean =>
  value === "off" || (Array.isArray(value) && value.length > 0 && isTextList(value))
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0

const OPTIONS = {
  dns: { isForm: isOffOrTextList, expected: 'a list of IP addresses with optional ports, or "off"' },
  dnsTimeoutMs: { isForm: isCount, expected: "a whole number from 50 to 10000" },
  checkTimeoutMs: { isForm: isCount, expected: "a whole number from 50 to 30000" },
  dnsCanaries: { isForm: isOffOrTextList, expected: 'a list of domain names, or "off"' },
  identityUrl: { isForm: isText, expected: 'a URL with https or http, or "off"' },
  block: { isForm: isTextList, expected: "a list of addresses and domains" },
  allow: { isForm: isTextList, expected: "a list of addresses and domains" },
  policy: { isForm: value => POLICY_NAMES.some(name => name === value), expected: `one of ${POLICY_NAMES.join(", ")}` },
  cachedDomains: { isForm: isCount, expected: "a whole number of at least 1" },
  dnsCacheBytes: { isForm: isCount, expected: "a whole number of at least 1" },
  listsFile: { isForm: isText, expected: "the path of a file" },
} as const satisfies Record<keyof OpenOptions, OptionRule>
const OPTION_RULES: ReadonlyMap<string, OptionRule> = new Map(Object.entries(OPTIONS))

/** The options that are settings of the server too. */
const SETTING_NAMES = {
  dns: "MAILKIND_DNS_SERVERS",
  dnsTimeoutMs: "MAILKIND_DNS_TIMEOUT_MS",
  checkTimeoutMs: "MAILKIND_CHECK_TIMEOUT_MS",
  dnsCanaries: "MAILKIND_DNS_CANARIES",
  identityUrl: "MAILKIND_IDENTITY_URL",
} as const satisfies Partial<Record<keyof OpenOptions, string>>
const SETTING_ENTRIES = Object.entries(SETTING_NAMES) as [keyof typeof SETTING_NAMES, string][] // the keys of a table are its type's

/** Refuses an unknown option, and one of another form. Throws `invalid_option`. */
export function checkOptions(options: unknown): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new MailkindError("invalid_option", "The options must be an object.")
  for (const [name, value] of Object.entries(options)) {
    const rule = OPTION_RULES.get(name)
    if (rule === undefined)
      throw new MailkindError(
        "invalid_option",
        `There is no such option. The options are ${[...OPTION_RULES.keys()].join(", ")}.`,
      )
    if (value !== undefined && !rule.isForm(value)) throw invalidOption(name as keyof OpenOptions) // a key of the table
  }
}

/** The error for an option with a wrong value. */
export const invalidOption = (name: keyof OpenOptions): MailkindError =>
  new MailkindError("invalid_option", `\`${name}\` must be ${OPTIONS[name].expected}.`)

/** The options as settings. The environment of the program is not read. */
export function settingsOf(options: OpenOptions): Readonly<Record<string, string>> {
  const given = SETTING_ENTRIES.filter(([option]) => options[option] !== undefined)
  return Object.fromEntries(given.map(([option, setting]) => [setting, String(options[option])]))
}

/** The option that a fault of the settings is about. */
export function faultyOption(faults: readonly string[]): keyof OpenOptions {
  const faulty = SETTING_ENTRIES.find(([, setting]) => faults.some(fault => fault.startsWith(setting)))
  return faulty?.[0] ?? "dns"
}
