import { resolve } from "node:path"
import type { Log } from "../base/log.ts"
import { faultySettings, type SettingsShown } from "../cli/config.ts"
import type { ChosenSettings, SettingFlag } from "../cli/setting-options.ts"
import { readSettings, type SettingSources, type SettingsReading } from "../config/setting-sources.ts"
import { SECRET_TEXT } from "../config/setting-types.ts"
import {
  type GivenSettings,
  isOurs,
  parseGiven,
  SETTINGS,
  type SettingName,
  type Settings,
} from "../config/settings.ts"
import { createAdminCheck } from "../customers/accounts/account-email.ts"
import { parseKey } from "../customers/keys/key-format.ts"
import type { System } from "../system/system.ts"

/** The settings of this process: where they come from, and how they are read again. */
export type SettingsSource = {
  /** Adds what the command line says. */
  readonly choose: (chosen: ChosenSettings) => void
  readonly read: () => SettingsReading
  /** Reads and returns all settings. Throws a `CommandError` with every fault. */
  readonly require: () => Settings
  /** Reads all settings again, since `require` or the last reload that found no fault. */
  readonly reload: () => SettingsReload
}

/** What came of a reload: what changed, by whether a running server takes it, and the texts of all settings. */
export type SettingsReload =
  | { readonly kind: "faulty"; readonly faults: readonly string[] }
  | {
      readonly kind: "read"
      readonly settings: Settings
      readonly texts: Readonly<Record<string, string>>
      readonly reloaded: readonly SettingName[]
      readonly needRestart: readonly SettingName[]
    }

/** The flags of settings. */
export const SETTING_FLAGS: readonly SettingFlag[] = Object.entries(SETTINGS).flatMap(
  ([setting, { flag, description }]) => (flag === null ? [] : [{ setting, flag, description }]),
)

const isReloaded = (name: SettingName): boolean => SETTINGS[name].isReloaded

/** What is in force after a reload. Processes that are started later must not have what this one cannot take. */
function withReloaded(before: GivenSettings, now: GivenSettings): GivenSettings {
  const kept = before.entries().filter(([name]) => !isReloaded(name))
  return new Map([...kept, ...now.entries().filter(([name]) => isReloaded(name))])
}

/** What the commands about settings show. */
export function shownSettings(reading: SettingsReading): SettingsShown {
  if (reading.kind === "faulty") return reading
  const settings = Object.entries(SETTINGS).map(([name, { isSecret, defaultText }]) => {
    const given = reading.given.get(name as SettingName) // a row of the table
    if (given === undefined || given.text.trim() === "") return { name, value: defaultText, origin: null }
    return { name, value: isSecret ? SECRET_TEXT : given.text.trim(), origin: given.origin ?? "the environment" }
  })
  return { kind: "read", settings }
}

const halfWritten = (file: string | undefined): SettingsReload => ({
  kind: "faulty",
  faults: [`${file} has no settings any more. It may be half written`],
})

/** The settings of the environment, of the file that it names, and of the command line. */
export function createSettingsSource(system: System): SettingsSource {
  const environment: Record<string, string | undefined> = { ...system.environment }
  const flags = new Map<string, string>()
  let last: GivenSettings = new Map()
  const read = (readFile = system.files.readSmall): SettingsReading => {
    const sources: SettingSources = { environment, flags, readFile }
    const reading = readSettings(sources)
    const faults = reading.kind === "read" ? accountFaults(reading.settings) : []
    return faults.length === 0 ? reading : { kind: "faulty", faults }
  }
  const use = (given: GivenSettings): void => {
    last = given
    system.setEnvironment(environmentOf(system.environment, given))
  }
  return {
    choose: ({ configFile, flags: given }) => {
      const file =
        configFile === null ? [] : [{ setting: "MAILKIND_CONFIG", flag: "--config", text: resolve(configFile) }]
      for (const { setting, flag, text } of [...given, ...file]) {
        flags.set(setting, flag)
        environment[setting] = text
        system.setEnvironment({ [setting]: text })
      }
    },
    read: () => read(),
    require: () => {
      const reading = read()
      if (reading.kind === "faulty") throw faultySettings(reading.faults)
      use(reading.given)
      return reading.settings
    },
    reload: () => {
      const reading = read(system.files.readSmallAgain)
      if (reading.kind === "faulty") return reading
      const before = last
      // A file is empty for a moment while somebody writes it.
      if (hasFileEntries(before) && !hasFileEntries(reading.given)) return halfWritten(environment["MAILKIND_CONFIG"])
      use(withReloaded(before, reading.given))
      const changed = changedNames(before, reading.given)
      return {
        kind: "read",
        settings: reading.settings,
        texts: textsOf(last),
        reloaded: changed.filter(isReloaded),
        needRestart: changed.filter(name => !isReloaded(name)),
      }
    },
  }
}

const hasFileEntries = (given: GivenSettings): boolean =>
  given.values().some(({ origin }) => origin !== null && FILE_ENTRY.test(origin))

/** The origin of a setting in a configuration file. */
const FILE_ENTRY = /^line \d+ of /

/** SIGHUP from now on, without which it would end a process that waits for its database. */
export function createReloads({ onReload }: Pick<System, "onReload">): {
  /** Does the work on each SIGHUP, and now if one came before. */
  readonly handle: (work: () => void) => void
} {
  let work: (() => void) | null = null
  let hasMissed = false
  onReload(() => {
    if (work === null) hasMissed = true
    else work()
  })
  return {
    handle: wanted => {
      work = wanted
      if (hasMissed) wanted()
    },
  }
}

/** What is wrong with settings that only accounts and keys can judge. */
function accountFaults({ MAILKIND_FIRST_KEY: key, MAILKIND_ADMINS: admins }: Settings): readonly string[] {
  const isMistyped = key !== null && parseKey(key.reveal()).kind !== "well_formed"
  return [
    ...(isMistyped ? ["MAILKIND_FIRST_KEY is mistyped: its last six letters do not fit the others"] : []),
    ...(createAdminCheck(admins) === null
      ? ["MAILKIND_ADMINS wants emails that accounts can have: `name@domain`, unquoted"]
      : []),
  ]
}

/** Reads the settings again and logs what comes of it. Null: they are faulty, and those of before stay. */
export function reloadSettings(source: SettingsSource, log: Log): Extract<SettingsReload, { kind: "read" }> | null {
  const reload = source.reload()
  if (reload.kind === "faulty") {
    log("error", "the settings are faulty and stay as they were", { faults: reload.faults.join(". ") })
    return null
  }
  const { reloaded, needRestart } = reload
  log("info", "the settings were read again", { changed: reloaded.join(", ") })
  if (needRestart.length > 0)
    log("warn", "some settings need a restart", { changed: needRestart.join(", "), remedy: RESTART })
  return reload
}

const RESTART = "Start the server again with `serve --replace`, which refuses no connection."

/** The settings of texts that another process has read; null if they are faulty. */
export function settingsOfTexts(texts: Readonly<Record<string, string>>): Settings | null {
  const given = Object.entries(texts).map(([name, text]) => [name as SettingName, { text, origin: null }] as const) // from `textsOf`
  const parsed = parseGiven(new Map(given))
  return parsed.kind === "read" ? parsed.settings : null
}

/** Replaces the values of the settings that a running server takes. Whoever reads them afterwards sees the new ones. */
export function takeReloaded(current: Settings, next: Settings): void {
  const names = Object.keys(SETTINGS) as SettingName[] // its rows
  const reloaded = names.filter(isReloaded).map(name => [name, next[name]])
  Object.assign(current, Object.fromEntries(reloaded))
}

/**
 * The environment of processes that this one starts: they need neither the file nor the flags, and have the same settings, whatever
 * happens to the file meanwhile.
 */
function environmentOf(environment: System["environment"], given: GivenSettings): Record<string, string | undefined> {
  const none = Object.keys(environment)
    .filter(isOurs)
    .map(name => [name, undefined])
  return { ...Object.fromEntries(none), ...textsOf(given), MAILKIND_CONFIG: undefined }
}

const textsOf = (given: GivenSettings): Record<string, string> =>
  Object.fromEntries(given.entries().map(([name, { text }]) => [name, text.trim()]))

function changedNames(before: GivenSettings, now: GivenSettings): SettingName[] {
  const textIn = (given: GivenSettings, name: SettingName): string => given.get(name)?.text.trim() ?? ""
  const names = [...new Set([...before.keys(), ...now.keys()])]
  return names.filter(name => textIn(before, name) !== textIn(now, name)).sort()
}
