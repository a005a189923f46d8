import { capitalized } from "../../../base/text.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"

const ENGLISH = new Intl.NumberFormat("en")

/** A whole number with separators: `1,000`. */
export const formatNumber = (value: number): string => ENGLISH.format(value)

/** A limit as a number with separators. Null: there is none. */
export const formatLimit = (limit: number | null): string => (limit === null ? "unlimited" : formatNumber(limit))

/** A tier's name; one that this version does not know has its number. */
export const tierName = (tier: number): string => capitalized(TIERS[tier]?.name ?? `tier ${tier}`)

/** A count with its noun: `1 unit`, `1,000 units`. */
export const formatCount = (count: number, singular: string, plural = `${singular}s`): string =>
  `${formatNumber(count)} ${count === 1 ? singular : plural}`

/** A share of a whole: `26%`. Neither nothing nor everything is said where it is not so. */
export function formatShare(count: number, all: number): string {
  const percent = Math.round((count / Math.max(1, all)) * 100)
  if (percent === 0 && count > 0) return "<1%"
  return percent === 100 && count < all ? ">99%" : `${percent}%`
}

const BYTE_UNITS = [
  ["GB", 1_073_741_824],
  ["MB", 1_048_576],
] as const

/** A size in the largest unit that it fills: `100 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, length] = BYTE_UNITS.find(([, unitBytes]) => bytes >= unitBytes) ?? ["KB", 1024]
  const size = bytes / length
  return `${Number.isInteger(size) ? size : size.toFixed(1)} ${unit}`
}

/** What a request sends: a value as JSON, or a file. */
export type SampleBody = { readonly json: unknown } | { readonly file: string; readonly mediaType: string }

type CurlRequest = {
  readonly method: string
  readonly url: string
  /** The key, or a variable of the shell that has it. Null: none. */
  readonly key: string | null
  readonly body: SampleBody | null
}

/** A shell command that sends a request. */
export function curlRequest({ method, url, key, body }: CurlRequest): string {
  const isPlain = method === (body === null ? "GET" : "POST")
  const words = [`curl -s ${isPlain ? "" : `-X ${method} `}'${url}'`]
  if (key !== null) words.push(`-H "Authorization: Bearer ${key}"`)
  if (body !== null && "file" in body) words.push(`-H 'Content-Type: ${body.mediaType}'`, `--data-binary @${body.file}`)
  if (body !== null && "json" in body)
    words.push("-H 'Content-Type: application/json'", `-d '${sampleJson(body.json)}'`)
  return words.join(" \\\n  ")
}

/** JSON with a space where a person would put one, and without the characters that end a text of a shell or of Go. */
export const sampleJson = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/['`]/g, quote => `\\u00${quote.charCodeAt(0).toString(16)}`)

/** A shell command that checks an address. The address is in the body, where URLs and logs do not expose it. */
export const curlCommand = (baseUrl: string, email: string, key: string | null = null): string =>
  curlRequest({ method: "POST", url: `${baseUrl}${ROUTES.postCheck.path}`, key, body: { json: { email } } })
