import { ROUTES } from "../../../contract/routes.ts"

const ENGLISH = new Intl.NumberFormat("en")

/** A whole number with separators: `1,000`. */
export const formatNumber = (value: number): string => ENGLISH.format(value)

/** A count with its noun: `1 unit`, `1,000 units`. */
export const formatCount = (count: number, singular: string, plural = `${singular}s`): string =>
  `${formatNumber(count)} ${count === 1 ? singular : plural}`

/** A share of a whole: `26%`. Neither nothing nor everything is said where it is not so. */
export function formatShare(count: number, all: number): string {
  const percent = Math.round((count / Math.max(1, all)) * 100)
  if (percent === 0 && count > 0) return "<1%"
  return percent === 100 && count < all ? ">99%" : `${percent}%`
}

/** A shell command that posts JSON, with an `Authorization` header unless `key` is null. */
export const curlPost = (url: string, body: object, key: string | null): string =>
  [
    `curl -s '${url}'`,
    ...(key === null ? [] : [`-H 'Authorization: Bearer ${key}'`]),
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join(" \\\n  ")

/** A shell command that checks an address. The address is in the body, where URLs and logs do not expose it. */
export const curlCommand = (baseUrl: string, address: string, key: string | null = null): string =>
  curlPost(`${baseUrl}${ROUTES.postCheck.path}`, { email: address }, key)
