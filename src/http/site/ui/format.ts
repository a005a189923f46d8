import { ROUTES } from "../../../contract/routes.ts"

/** A whole number with its thousands apart, as English writes them: `1,000`. */
export const formatNumber = (count: number): string => new Intl.NumberFormat("en").format(count)

/** A count with its noun: `1 unit`, `1,000 units`. */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`

/**
 * A command for a shell that asks this server about an address, with a key unless that is null. The body keeps the address out
 * of URLs and logs.
 */
export const curlCommand = (baseUrl: string, address: string, key: string | null = null): string =>
  [
    `curl -s '${baseUrl}${ROUTES.postCheck.path}'`,
    ...(key === null ? [] : [`-H 'Authorization: Bearer ${key}'`]),
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ email: address })}'`,
  ].join(" \\\n  ")
