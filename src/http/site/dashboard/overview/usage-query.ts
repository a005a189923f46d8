import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { FORMER_USE_KEY_ID } from "../../../../customers/accounts/former-use.ts"
import { type ApiKey, findKey } from "../../../../customers/keys/keys.ts"
import type { Store } from "../../../../customers/store/core/store.ts"
import { SITE_KEY } from "../../../../customers/usage/measures.ts"
import { Problem } from "../../../response/problem.ts"
import { queryParameter, withQuery } from "../../links.ts"

/** The periods that the overview displays, in days. The longest is as long as usage is stored. */
export const USAGE_PERIODS = [7, 30, LIMITS.usageDaysKept] as const
type UsagePeriod = (typeof USAGE_PERIODS)[number]

const PERIOD_DEFAULT: UsagePeriod = 30

/** Which part of the usage is displayed. */
export type UsageQuery = {
  readonly days: UsagePeriod
  /** The id of a key, or of what stands for one. Empty: all keys. */
  readonly key: string
}

/** What did something without a key of the account, by its id in the usage. */
export const KEYLESS_NAMES: Readonly<Record<string, string>> = {
  [SITE_KEY.id]: "This dashboard",
  [FORMER_USE_KEY_ID]: "Your deleted account, earlier that day",
}

/** Reads the query from a URL. An unknown period is the default one. Rejects with `not_found` for a key that is not the account's. */
export async function parseUsageQuery(url: string, store: Store, accountId: string): Promise<UsageQuery> {
  const days = USAGE_PERIODS.find(period => String(period) === queryParameter(url, "days")) ?? PERIOD_DEFAULT
  const key = queryParameter(url, "key")
  if (key !== "" && !Object.hasOwn(KEYLESS_NAMES, key) && !(await isKeyOf(store, accountId, key)))
    throw new Problem("not_found", "You have no such key.")
  return { days, key }
}

async function isKeyOf(store: Store, accountId: string, id: string): Promise<boolean> {
  const key = await findKey(store, id)
  return key?.accountId === accountId
}

/** The path of the overview, or of the CSV file, with this part of the usage. */
export const usagePath = ({ days, key }: UsageQuery, route: "dashboard" | "usageFile" = "dashboard"): string =>
  withQuery(ROUTES[route].path, { days: days === PERIOD_DEFAULT ? "" : String(days), key })

/** The name of what did something, as text. */
export const keyNameOf = (keyId: string, apiKey: ApiKey | undefined): string =>
  KEYLESS_NAMES[keyId] ?? apiKey?.name ?? "An older key"
