import { OWNER_TIER } from "../../src/contract/tiers.ts"
import { PROGRAM, productSettings } from "./product.ts"
import { runToEnd } from "./server-process.ts"

/** Settings under which every step of a limited caller is taken, and nothing is refused. */
export const HIGH_LIMITS: Readonly<Record<string, string>> = { MAILKIND_TIERS: "0=1000000/100000/1000000000" }

const COMMAND_TIMEOUT_MS = 30_000

type Settings = Readonly<Record<string, string>>

/** The text of a secret key of a new account with limits, made as an operator makes it in that directory, with further settings. */
export const limitedKey = (directory: string, settings: Settings = {}): Promise<string> =>
  newKey(directory, "load@example.com", 0, settings)

/** The same of so many new accounts. */
export async function limitedKeys(directory: string, count: number): Promise<readonly string[]> {
  const keys: string[] = []
  for (let at = 0; at < count; at++) keys.push(await newKey(directory, `load${at}@example.com`, 0))
  return keys
}

/** The same of an account without limits, as the first start makes one. */
export const unlimitedKey = (directory: string): Promise<string> => newKey(directory, "owner@example.com", OWNER_TIER)

const LISTED_EMAIL = "listed@example.com"
/** Entries of one command: its arguments have a bound of the system. */
const ENTRIES_A_COMMAND = 2_000

/** The text of a secret key of a new account with limits whose block list has these entries. */
export async function listedKey(directory: string, entries: readonly string[]): Promise<string> {
  const key = await newKey(directory, LISTED_EMAIL, 0)
  for (let at = 0; at < entries.length; at += ENTRIES_A_COMMAND)
    await run(directory, ["block", "add", "--account", LISTED_EMAIL, ...entries.slice(at, at + ENTRIES_A_COMMAND)])
  return key
}

async function newKey(directory: string, email: string, tier: number, settings: Settings = {}): Promise<string> {
  await run(directory, ["account", "create", email, "--tier", String(tier)], settings)
  return (await run(directory, ["key", "create", "--account", email], settings)).trim()
}

function run(directory: string, words: readonly string[], settings: Settings = {}): Promise<string> {
  const environment = { ...productSettings(directory), ...settings }
  return runToEnd({ command: [...PROGRAM, ...words], environment }, "", COMMAND_TIMEOUT_MS)
}
