import { parse as parseToml, TomlDate, TomlError } from "smol-toml"
import type { TextFile } from "../base/text-file.ts"
import {
  type GivenSetting,
  type GivenSettings,
  isOurs,
  isSettingName,
  type ParsedSettings,
  parseGiven,
  SETTINGS,
  type SettingName,
  unknownSetting,
} from "./settings.ts"

/** Where settings come from. */
export type SettingSources = {
  /** Flags are in it, under the names of their settings. `MAILKIND_CONFIG` names the file. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The flags that were given, such as `--port`, by the setting that each sets. */
  readonly flags: ReadonlyMap<string, string>
  readonly readFile: (path: string) => TextFile
}

/** All settings with what was given of them, or every fault. */
export type SettingsReading =
  | {
      readonly kind: "read"
      readonly settings: Extract<ParsedSettings, { readonly kind: "read" }>["settings"]
      readonly given: GivenSettings
    }
  | { readonly kind: "faulty"; readonly faults: readonly string[] }

/** Reads all settings: flags over the environment over the file. What is empty counts as not given. */
export function readSettings({ environment, flags, readFile }: SettingSources): SettingsReading {
  const faults: string[] = []
  const given = new Map<SettingName, GivenSetting>()
  const take = createTaker(given, faults, readFile)
  const variables = Object.keys(environment).filter(isOurs).sort()
  const set = variables.filter(name => (environment[name] ?? "").trim() !== "")
  for (const name of variables) if (settingOf(name) === null) faults.push(unknownSetting(name))
  takeSource(
    set.map(name => ({ name, text: environment[name] ?? "", origin: flags.get(name) ?? null })),
    take,
    faults,
  )
  const path = given.get("MAILKIND_CONFIG")?.text.trim()
  if (path !== undefined) {
    const file = readConfigFile(path, readFile, faults)
    const isOpen = (name: SettingName): boolean => !given.has(name)
    takeSource(
      file.filter(({ name }) => isOpen(settingOf(name)?.name ?? "MAILKIND_CONFIG")),
      take,
      faults,
    )
  }
  const parsed = parseGiven(given)
  if (parsed.kind === "faulty") return { kind: "faulty", faults: [...faults, ...parsed.faults] }
  return faults.length > 0 ? { kind: "faulty", faults } : { ...parsed, given }
}

/** A name with its text, as one source has it. */
type Entry = { readonly name: string; readonly text: string; readonly origin: string | null }

/** The setting that a name sets, by its value or by the path of a file that has it; null: none. */
function settingOf(name: string): { readonly name: SettingName; readonly isPath: boolean } | null {
  if (isSettingName(name)) return { name, isPath: false }
  const base = name.endsWith(FILE_SUFFIX) ? name.slice(0, -FILE_SUFFIX.length) : ""
  return isSettingName(base) && SETTINGS[base].isSecret ? { name: base, isPath: true } : null
}

/** What follows the name of a secret whose value is in a file. */
const FILE_SUFFIX = "_FILE"

function takeSource(entries: readonly Entry[], take: (entry: Entry) => void, faults: string[]): void {
  const seen = new Map<SettingName, string>()
  for (const entry of entries) {
    const setting = settingOf(entry.name)?.name
    if (setting === undefined) continue
    const other = seen.get(setting)
    seen.set(setting, entry.name)
    if (other === undefined) take(entry)
    else faults.push(`${other} and ${entry.name} set the same. Remove one of them`)
  }
}

/** Takes entries, and the secrets that they name the files of. */
function createTaker(given: Map<SettingName, GivenSetting>, faults: string[], readFile: SettingSources["readFile"]) {
  return ({ name, text, origin }: Entry): void => {
    const setting = settingOf(name)
    if (setting === null) return
    if (!setting.isPath) return void given.set(setting.name, { text, origin })
    const path = text.trim()
    // What is or resembles the secret itself must not be printed.
    if (SETTINGS[setting.name].parse(path).ok || /:\/\/|@|^svc_/.test(path))
      return void faults.push(`${name} wants the path of a file, and has the secret itself`)
    const file = readFile(path)
    if (file.kind === "unreadable") faults.push(`The file of ${name} cannot be read: ${file.why} (${path})`)
    else if (file.text.trim() === "") faults.push(`The file of ${name} is empty (${path})`)
    else given.set(setting.name, { text: file.text, origin: path })
  }
}

/** The entries of a configuration file under the names of the environment. */
function readConfigFile(path: string, readFile: SettingSources["readFile"], faults: string[]): readonly Entry[] {
  const file = readFile(path)
  if (file.kind === "unreadable") {
    faults.push(`The configuration file cannot be read: ${file.why} (${path})`)
    return []
  }
  const members = parseConfig(file.text, path, faults)
  const entries: Entry[] = []
  const lineOf = lineFinder(file.text)
  const unknown: string[] = []
  for (const [key, value] of Object.entries(members)) {
    const at = `line ${lineOf(key)} of ${path}`
    const name = `MAILKIND_${key.replace(/^mailkind_/, "").toUpperCase()}`
    const text = textOf(value)
    if (name === "MAILKIND_CONFIG") faults.push(`${key} cannot stand in a configuration file (${at})`)
    else if (key !== key.toLowerCase() || settingOf(name) === null) unknown.push(key)
    else if (text === null)
      faults.push(`${key} must be text, a number, true, false, or a list or table of these (${at})`)
    else if (text.trim() !== "") entries.push({ name, text, origin: at })
  }
  for (const key of unknown.slice(0, UNKNOWN_TOLD_MAX))
    faults.push(`${unknownSetting(key, lowerCaseName)} (line ${lineOf(key)} of ${path})`)
  const untold = unknown.length - UNKNOWN_TOLD_MAX
  if (untold > 0) faults.push(`${untold} more names are no settings (${path})`)
  const secrets = entries.filter(({ name }) => isSettingName(name) && SETTINGS[name].isSecret)
  if (file.isReadableByAll && secrets[0] !== undefined)
    faults.push(
      `Every user of this host can read ${path}, and it has a secret (${secrets[0].origin}). Take their right away with \`chmod o-r\`, or name a file of its own in ${lowerCaseName(secrets[0].name)}_file`,
    )
  return entries
}

/** So many names that are no settings are told, each with the one that may be meant. */
const UNKNOWN_TOLD_MAX = 20

/** A setting as it is called in a file. */
const lowerCaseName = (name: string): string => name.replace(/^MAILKIND_/, "").toLowerCase()

function parseConfig(text: string, path: string, faults: string[]): Readonly<Record<string, unknown>> {
  try {
    return parseToml(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // Its further lines repeat the line of the file, which may have a secret.
    const [message = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n")
    // The end of a line in a text is one of these characters.
    const what =
      message === "control characters are not allowed in strings" ? `a quote is not closed, or ${message}` : message
    faults.push(`The configuration file is not TOML: ${what} (line ${error.line} of ${path})`)
    return {}
  }
}

/** A value as the environment would have it: a list with commas, a table as `name=value`, `on` and `off`. Null: none of these. */
function textOf(value: unknown): string | null {
  if (value === true) return "on"
  if (value === false) return "off"
  if (typeof value === "string") return value
  if (typeof value === "number") return String(value)
  if (typeof value !== "object" || value === null || value instanceof TomlDate) return null
  const members = Array.isArray(value)
    ? value.map(memberText)
    : Object.entries(value).map(([name, member]) => {
        const text = memberText(member)
        return text === null ? null : `${name}=${text}`
      })
  return members.includes(null) ? null : members.join(",")
}

/** A comma in a member would make two of it. */
const memberText = (value: unknown): string | null => {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : null
  return text === null || text.includes(",") ? null : text
}

/** Gives the line of a file on which a name of the top level stands; 0: it is written in another way. */
function lineFinder(text: string): (key: string) => number {
  const lines = new Map<string, number>()
  for (const [at, line] of text.split("\n").entries()) {
    const [, quoted, plain = ""] = NAMED_LINE.exec(line) ?? []
    if (!lines.has(quoted ?? plain)) lines.set(quoted ?? plain, at + 1)
  }
  return key => lines.get(key) ?? 0
}

/** A name that is followed by a value, by a name below it, or by the end of a table's head. */
const NAMED_LINE = /^\s*\[?(?:["']([^"']*)["']|([\w-]+))\s*[.=\]]/
