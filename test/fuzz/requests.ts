import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES, type RouteId } from "../../src/contract/routes.ts"
import { TEST_PROBLEMS } from "../../src/contract/test-addresses.ts"
import { type Body, bodyOf } from "./bodies.ts"
import type { Dice } from "./dice.ts"
import type { Callers } from "./fuzz-callers.ts"
import { fieldText, nearLimit, oddText } from "./strange-texts.ts"

const PIECES = [
  ...[
    "\r\n",
    "\n",
    "\r",
    "\0",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "\r\n\r\n",
    "\r\n ",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/2.0",
    "%",
    "\xff",
  ],
  ...[
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: xchunked\r\n",
  ],
  ...[
    "Host: other\r\n",
    "Connection: close\r\n",
    "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "Expect: 100-continue\r\n",
  ],
  ...["0\r\n\r\n", "ffffffffffffffff\r\n", "-1\r\n", "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"],
] as const satisfies readonly string[]

const CHANGES = [
  (bytes: Buffer, dice: Dice) => replaced(bytes, dice.below(bytes.length), 1, Buffer.from([dice.below(256)])),
  (bytes: Buffer, dice: Dice) => replaced(bytes, dice.below(bytes.length), dice.below(20), Buffer.alloc(0)),
  (bytes: Buffer, dice: Dice) => replaced(bytes, dice.below(bytes.length), 0, Buffer.from(dice.pick(PIECES), "latin1")),
  (bytes: Buffer, dice: Dice) => replaced(bytes, lineStart(bytes, dice), 0, Buffer.from(dice.pick(PIECES), "latin1")),
  (bytes: Buffer, dice: Dice) => bytes.subarray(0, 1 + dice.below(bytes.length)),
  (bytes: Buffer, dice: Dice) => replaced(bytes, lineStart(bytes, dice), 0, lineAt(bytes, lineStart(bytes, dice))),
] as const

/** The octets of a request with one to three things changed that make it another one, or none. It is never empty. */
function mutated(dice: Dice, whole: Buffer): Buffer {
  let bytes = whole
  for (let count = dice.below(3); count >= 0; count--) {
    const next = dice.pick(CHANGES)(bytes, dice)
    if (next.length > 0) bytes = next
  }
  return bytes
}

const replaced = (bytes: Buffer, at: number, count: number, by: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + count)])

/** Where one of the first lines starts. */
function lineStart(bytes: Buffer, dice: Dice): number {
  let at = 0
  for (let line = dice.below(10); line > 0; line--) {
    const end = bytes.indexOf("\r\n", at)
    if (end < 0) break
    at = end + 2
  }
  return Math.min(at, bytes.length)
}

function lineAt(bytes: Buffer, at: number): Buffer {
  const end = bytes.indexOf("\r\n", at)
  return Buffer.from(bytes.subarray(at, end < 0 ? bytes.length : end + 2))
}

/** One request as it is sent. */
export type FuzzRequest = {
  readonly route: RouteId
  /** As it was written before its octets were changed, for an answer to HEAD has no body. */
  readonly method: string
  readonly bytes: Buffer
  /** Its octets are no HTTP by intent: the server itself may refuse it, with no problem in its body. */
  readonly isRaw: boolean
  /** It may ask for `internal_error`, as the documentation has it. */
  readonly asksForFailure: boolean
}

type Route = (typeof ROUTES)[RouteId]

const IDS = Object.keys(ROUTES) as [RouteId, ...RouteId[]] // the table has rows
const OF_KIND = (wanted: (route: Route) => boolean) => IDS.filter(id => wanted(ROUTES[id])) as [RouteId, ...RouteId[]] // each kind has some
const API = OF_KIND(({ kind, path }) => kind === "api" && path !== ROUTES.getHealth.path)
const FORMS = OF_KIND(({ kind }) => kind === "form")
const METHODS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY"] as const
const QUERY_FIELDS = [
  "email",
  "domain",
  "url",
  "policy",
  "deep",
  "workspace",
  "key",
  "page",
  "status",
  "from",
  "token",
  "next",
  "version",
]
/** A page is drawn in as much time as many checks take: pages are asked for as often as they can go wrong. */
const PAGE_ONCE_IN = 12

/** Makes the request of this dice. */
export function fuzzRequest(dice: Dice, callers: Callers, host: string): FuzzRequest {
  const route = someRoute(dice)
  const { method: own, kind } = ROUTES[route]
  const method = dice.once(20) ? dice.pick(METHODS) : own
  const target = targetOf(dice, route, callers)
  const body = method === "GET" || method === "HEAD" ? NO_BODY : bodyOf(dice, route, callers)
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${dice.once(40) ? dice.pick(ODD_HOSTS) : host}`,
    ...whoAsks(dice, route, callers, kind === "form" || kind === "page" ? host : callers.origin),
    ...oddHeaders(dice),
    ...body.headers,
    ...framing(dice, body),
  ]
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
  const whole = Buffer.concat([head, framed(dice, body)])
  const isRaw = dice.once(12)
  const bytes = isRaw ? mutated(dice, whole) : whole
  const asksForFailure = Object.keys(TEST_PROBLEMS).some(name => decoded(bytes).includes(name))
  return { route, method, bytes, isRaw, asksForFailure }
}

/** Hosts that are others', or that none can have. */
const ODD_HOSTS = ["evil.example", "", "a b", "a/v1/health?", "x:99999999", "[::1", "%00"] as const

const NO_BODY: Body = { headers: [], bytes: Buffer.alloc(0), isChunked: false }

function decoded(bytes: Buffer): string {
  const text = bytes.toString("latin1").toLowerCase()
  return text.replaceAll("%2d", "-").replaceAll("\\u002d", "-")
}

function someRoute(dice: Dice): RouteId {
  if (dice.once(PAGE_ONCE_IN)) return dice.pick(IDS)
  return dice.once(6) ? dice.pick(FORMS) : dice.pick(API)
}

function targetOf(dice: Dice, route: RouteId, callers: Callers): string {
  const path = ROUTES[route].path.replace(/:\w+/g, () =>
    dice.once(4) ? escaped(oddText(dice)) : dice.pick(callers.ids),
  )
  const odd = dice.once(30) ? pathLike(dice, path) : path
  const fields =
    dice.once(3) || route === "getCheck" ? dice.times(1 + dice.below(4), () => queryField(dice, route)) : []
  return fields.length === 0 ? odd : `${odd}?${fields.join("&")}`
}

function queryField(dice: Dice, route: RouteId): string {
  const wanted =
    route === "getCheck" && !dice.once(3)
      ? dice.pick(["email", "domain", "url"])
      : dice.pick(QUERY_FIELDS as [string, ...string[]])
  const text =
    wanted === "deep" || wanted === "workspace"
      ? dice.pick(["true", "false", "1", "0", "yes", ""])
      : fieldText(wanted, dice)
  return dice.once(20) ? escapedOddly(text) : `${wanted}=${escaped(text)}`
}

/** A path that is nearly the one of the route. */
const pathLike = (dice: Dice, path: string): string =>
  dice.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    path.replace("/", "/./"),
    `${path}/../${path}`,
    path.replaceAll(/[aeiou]/g, vowel => `%${vowel.charCodeAt(0).toString(16)}`),
    `${path}%00`,
    `${path}${escaped(oddText(dice))}`,
    `/${"a/".repeat(nearLimit(dice))}`,
  ])

const escaped = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Escapes that are broken, and octets that are none of UTF-8; no white space, which would end the target. */
const escapedOddly = (text: string): string =>
  `${escaped(text).replace("%", "%%")}&%ff%fe=%c0%af&a[]=1&__proto__=2&=&&${escaped(text).slice(0, -1)}`

function whoAsks(dice: Dice, route: RouteId, callers: Callers, own: string): string[] {
  const { access, kind } = ROUTES[route]
  if (access === "account" || access === "admin" || kind === "form")
    return browserAsks(dice, access === "admin", callers, own)
  const stray = `Cookie: mailkind_session=${asciiOf(oddText(dice))}; mailkind_pass=${asciiOf(oddText(dice))}`
  return [...keyLines(dice, callers), ...(dice.once(15) ? [stray] : [])]
}

/** A browser that is signed in, most often, and tells which page has sent its form. */
function browserAsks(dice: Dice, isAdmin: boolean, { cookies }: Callers, own: string): string[] {
  const { visitor, admin } = cookies()
  const cookie = isAdmin !== dice.once(6) ? admin : visitor
  const more = dice.once(10) ? `; ${asciiOf(oddText(dice))}` : ""
  const origin = dice.once(15) ? "https://evil.example" : `http://${own}`
  return [...(dice.once(10) ? [] : [`Cookie: ${cookie}${more}`]), ...(dice.once(10) ? [] : [`Origin: ${origin}`])]
}

/** A key, most often one that may ask, in one of the two headers or in both. */
function keyLines(dice: Dice, { keys, origin }: Callers): string[] {
  const other = [keys.limited, keys.publishable, keys.publishable, keys.revoked, broken(keys.unlimited, dice)] as const
  const key = dice.once(3) ? dice.pick(other) : keys.unlimited
  const line = dice.once(4) ? `X-API-Key: ${key}` : `Authorization: ${dice.once(20) ? "Basic" : "Bearer"} ${key}`
  const from = dice.pick([origin, origin, "null", "https://evil.example", asciiOf(oddText(dice))])
  return [
    ...(dice.once(25) ? [] : [line]),
    ...(dice.once(25) ? [`X-API-Key: ${broken(keys.limited, dice)}`] : []),
    ...(dice.once(4) ? [`Origin: ${from}`] : []),
  ]
}

const broken = (key: string, dice: Dice): string => {
  const at = dice.below(key.length)
  return dice.pick([key.slice(0, at), `${key}x`, `${key.slice(0, at)}A${key.slice(at + 1)}`, key.toUpperCase()])
}

/** Text as a header's value may hold it. */
const asciiOf = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "").trim()

const HEADERS = [
  "X-Request-Id",
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "If-None-Match",
  "Range",
  "User-Agent",
  "Referer",
  "Sec-Fetch-Site",
  "X-Http-Method-Override",
  "Content-Encoding",
  "Access-Control-Request-Method",
  "Forwarded",
  "Via",
] as const

function oddHeaders(dice: Dice): string[] {
  const lines = [
    `X-Forwarded-For: ${dice.once(20) ? asciiOf(oddText(dice)) : `10.${dice.below(250)}.${dice.below(250)}.${dice.below(250)}`}`,
  ]
  if (dice.once(4))
    lines.push(
      `${dice.pick(HEADERS)}: ${dice.once(2) ? asciiOf(oddText(dice)) : dice.pick(["*/*", "gzip", "cross-site", "bytes=0-1", "a".repeat(nearLimit(dice))])}`,
    )
  if (dice.once(200))
    lines.push(...dice.times(dice.pick([20, 90, 150]), () => `X-${dice.below(1000)}: ${dice.below(10)}`))
  return lines
}

function framing(dice: Dice, { bytes, isChunked }: Body): string[] {
  if (isChunked) return ["Transfer-Encoding: chunked"]
  if (bytes.length === 0 && dice.once(2)) return []
  return [`Content-Length: ${bytes.length}`]
}

function framed(dice: Dice, { bytes, isChunked }: Body): Buffer {
  if (!isChunked) return bytes
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + dice.below(Math.max(1, Math.min(bytes.length, LIMITS.bodyBytesMax)))
    const chunk = bytes.subarray(at, at + size)
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"))
    at += size
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")])
}
