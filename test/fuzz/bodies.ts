import { LIMITS } from "../../src/contract/limits.ts"
import type { RouteId } from "../../src/contract/routes.ts"
import type { Dice } from "./dice.ts"
import type { Callers } from "./fuzz-callers.ts"
import { fieldText, oddText } from "./strange-texts.ts"

/** What follows the head of a request. */
export type Body = { readonly headers: readonly string[]; readonly bytes: Buffer; readonly isChunked: boolean }

/** The members or fields that each route with a body knows. */
const FIELDS: { readonly [R in RouteId]?: readonly string[] } = {
  postCheck: ["email", "domain", "url", "policy", "deep", "workspace"],
  postBatch: ["items", "policy"],
  postFeedback: ["email", "domain", "expected_category", "comment"],
  postSignIn: ["email", "next"],
  postSignInCode: ["code", "next"],
  postSignInLink: ["token", "next"],
  postSessionEnd: ["session"],
  postKey: ["idempotency_key", "name", "kind", "origins", "expires", "units", "rate", "networks"],
  postKeySettings: ["seen", "name", "origins", "expires", "units", "rate", "networks"],
  postKeyRevoke: ["sure"],
  postTryIt: ["asked", "policy", "deep"],
  postListEntries: ["list", "list_action", "entries"],
  postListImport: ["list", "list_action", "file"],
  postFeedbackForm: ["subject", "expected", "comment"],
  postTermsAcceptance: ["version"],
  postHome: ["input", "solution"],
  postAdminAccount: ["new-email", "tier"],
  postAdminTier: ["tier"],
  postAdminKeyRevocation: ["sure"],
  postAdminAccept: ["seen"],
  postAdminReject: ["seen"],
  postAdminTerms: ["version", "url", "material"],
}
const ANY = ["email", "name", "constructor", "__proto__"]
const JSON_ROUTES: readonly RouteId[] = ["postCheck", "postBatch", "postFeedback", "postSecretScanning"]

/** A body for the route: most often of the form that belongs there. */
export function bodyOf(dice: Dice, route: RouteId, callers: Callers): Body {
  const isJson = JSON_ROUTES.includes(route) !== dice.once(20)
  const isChunked = dice.once(10)
  if (route === "postSecretScanning" && !dice.once(5)) return reportOf(dice, callers, isChunked)
  if (isJson) return jsonOf(dice, route, isChunked)
  return dice.once(6) || route === "postListImport" ? partsOf(dice, route, isChunked) : wordsOf(dice, route, isChunked)
}

function jsonOf(dice: Dice, route: RouteId, isChunked: boolean): Body {
  const type = dice.once(20)
    ? dice.pick(["text/plain", "application/jsonx", "", "multipart/form-data", "application/problem+json"])
    : "application/json"
  return { headers: [`Content-Type: ${type}`], bytes: jsonBytes(dice, route), isChunked }
}

function jsonBytes(dice: Dice, route: RouteId): Buffer {
  if (dice.once(400)) return Buffer.from(dice.pick(["[", '{"a":']).repeat(20_000))
  if (dice.once(300)) return sized(dice)
  const text = JSON.stringify(membersOf(dice, route))
  if (!dice.once(15)) return Buffer.from(dice.once(30) ? `\ufeff${text}` : text)
  const bytes = Buffer.from(text)
  for (let count = dice.below(4); count >= 0; count--) bytes[dice.below(bytes.length)] = dice.below(256)
  return dice.once(2) ? bytes : bytes.subarray(0, dice.below(bytes.length))
}

/** A body at the size where bodies end. */
function sized(dice: Dice): Buffer {
  const size = dice.pick([LIMITS.bodyBytesMax, LIMITS.batchBodyBytesMax]) + dice.below(3) - 1
  const start = '{"email":"jane@gmail.com"}'
  return Buffer.from(start + " ".repeat(size - start.length))
}

function membersOf(dice: Dice, route: RouteId): unknown {
  if (dice.once(30)) return oddValue(dice)
  const names = FIELDS[route] ?? ANY
  // A check names one of the first three; two of them are refused.
  const chosen =
    route === "postCheck" && !dice.once(8)
      ? [dice.pick(["email", "domain", "url"]), ...dice.some(names.slice(3))]
      : dice.some(names)
  return Object.fromEntries(chosen.map(name => [name, memberOf(dice, name)]))
}

function memberOf(dice: Dice, name: string): unknown {
  if (dice.once(15)) return oddValue(dice)
  if (name === "deep" || name === "workspace") return dice.once(2)
  if (name !== "items") return fieldText(name, dice)
  const count = dice.once(10) ? LIMITS.batchItemsMax + dice.below(3) - 1 : dice.below(8)
  return dice.times(count, () => (dice.once(40) ? oddValue(dice) : fieldText("input", dice)))
}

const oddValue = (dice: Dice): unknown =>
  dice.pick<unknown>([
    null,
    0,
    -1,
    1e308,
    true,
    [],
    {},
    [[]],
    { email: {} },
    "",
    oddText(dice),
    [oddText(dice)],
    { [oddText(dice)]: 1 },
  ])

function wordsOf(dice: Dice, route: RouteId, isChunked: boolean): Body {
  const fields = dice
    .some(FIELDS[route] ?? ANY)
    .map(name => `${name}=${encodeURIComponent(fieldText(name, dice).toWellFormed())}`)
  const text = dice.once(15) ? `${fields.join("&")}&%ff=%zz&${oddText(dice)}` : fields.join("&")
  return { headers: ["Content-Type: application/x-www-form-urlencoded"], bytes: Buffer.from(text), isChunked }
}

function partsOf(dice: Dice, route: RouteId, isChunked: boolean): Body {
  const boundary = dice.once(15) ? oddText(dice).replaceAll(/[^\x21-\x7e]/g, "") : "fuzz-boundary"
  const parts = dice.some(FIELDS[route] ?? ANY).map(name => {
    const file =
      name === "file"
        ? `; filename="${dice.pick(["block.txt", "", 'a"b', "../x", "a\r\nb"])}"\r\nContent-Type: ${dice.pick(["text/plain", "text/csv", "image/png"])}`
        : ""
    const text = name === "file" ? fieldText("entries", dice) : fieldText(name, dice)
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  const end = dice.once(15) ? dice.pick(["", "--", `--${boundary}`]) : `--${boundary}--\r\n`
  return {
    headers: [`Content-Type: multipart/form-data; boundary=${boundary}`],
    bytes: Buffer.from(parts.join("") + end),
    isChunked,
  }
}

/** A report of leaks, signed rightly most often. Its tokens are no keys of callers here. */
function reportOf(dice: Dice, { reporter }: Callers, isChunked: boolean): Body {
  const items = dice.times(dice.below(4), () => ({
    token: oddText(dice),
    type: "mailkind_key",
    url: fieldText("url", dice),
    source: "content",
  }))
  const bytes = Buffer.from(JSON.stringify(dice.once(15) ? oddValue(dice) : items))
  const signed = Object.entries(reporter.headers(dice.once(10) ? "other" : bytes)).map(
    ([name, value]) => `${name}: ${dice.once(20) ? value.slice(1) : value}`,
  )
  return { headers: ["Content-Type: application/json", ...signed], bytes, isChunked }
}
