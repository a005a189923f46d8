import { STATUS_CODES } from "node:http"
import { Budget } from "../../base/budget.ts"
import { faultCode } from "../../base/fault-code.ts"
import type { Later } from "../../base/timer.ts"
import { utf8Text } from "../../base/utf8.ts"
import { isRedirect, type Validators, type Web } from "../../base/web.ts"
import { mayAsk, mayLead } from "./source-url.ts"
import { conditionsOf, validatorsOf } from "./validators.ts"

/** How far a download may go. */
export type DownloadBounds = {
  /** Of the body, as it came and as it is after decompression. */
  readonly bytesMax: number
  /** For all of it, redirects included. */
  readonly timeoutMs: number
  /** For the next part of the answer. */
  readonly idleMs: number
  readonly redirectsMax: number
}

/** The bounds of every list source. */
export const DOWNLOAD_BOUNDS = {
  bytesMax: 64 * 1024 * 1024,
  timeoutMs: 60_000,
  idleMs: 15_000,
  redirectsMax: 3,
} as const satisfies DownloadBounds

/** What a download needs of the outside world, and how it names itself there (RFC 9110 §10.1.5). */
export type DownloadNeeds = { readonly web: Web; readonly later: Later; readonly agent: string }

/** What became of a download. */
export type Download =
  /** The copy that the validators are of is the newest. */
  | { readonly kind: "unchanged" }
  /** The whole text, without a byte order mark; it may be empty. `bytes` counts its octets after decompression. */
  | { readonly kind: "taken"; readonly text: string; readonly validators: Validators; readonly bytes: number }
  /** Why there is no copy: a sentence for the log, which holds nothing that came in but a status, a length and a host. */
  | { readonly kind: "failed"; readonly says: string }

/**
 * Downloads the text of a list source, if it is newer than the copy that `known` is of; null: there is none. It never
 * rejects, it settles within `timeoutMs`, and no request outlives it.
 *
 * A body that breaks off short of its Content-Length, of its last chunk or of the end of its compression is a failure. One
 * that has none of the three ends where its connection does (RFC 9112 §6.3): nothing here can tell that it was cut.
 */
export async function download(
  needs: DownloadNeeds,
  url: string,
  known: Validators | null,
  bounds: DownloadBounds,
): Promise<Download> {
  const budget = new Budget(needs.later, bounds.timeoutMs)
  try {
    return await follow({ needs, bounds, budget, conditions: conditionsOf(known) }, url)
  } catch (fault) {
    return { kind: "failed", says: fault instanceof Refusal ? fault.message : `It failed by ${faultCode(fault)}.` }
  } finally {
    budget.end()
  }
}

type Asking = {
  readonly needs: DownloadNeeds
  readonly bounds: DownloadBounds
  readonly budget: Budget
  readonly conditions: Readonly<Record<string, string>>
}

/** Why the answer is not taken. */
class Refusal extends Error {}

async function follow(asking: Asking, text: string): Promise<Download> {
  const { redirectsMax } = asking.bounds
  let url = URL.parse(text)
  if (url === null) throw new Refusal("Its URL is none.")
  if (!mayAsk(url))
    throw new Refusal(
      `It is not asked at ${placeOf(url)}: by https alone, or http on loopback, and without a user name.`,
    )
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(asking, url)
    if (!(answer instanceof URL)) return answer
    if (redirects === redirectsMax) throw new Refusal(`It has more than ${redirectsMax} redirects.`)
    url = answer
  }
}

/** Puts one request: where it is redirected to, or what was downloaded. What is not read of an answer is not waited for. */
async function ask(asking: Asking, url: URL): Promise<Download | URL> {
  const request = new AbortController()
  const headers = { ...asking.conditions, "user-agent": asking.needs.agent }
  try {
    const sent = asking.needs.web(url.href, { signal: request.signal, headers })
    const response = await inTime(asking, sent, "Nobody answered")
    if (isRedirect(response.status)) return redirectOf(response, url)
    return await downloadOf(asking, response)
  } finally {
    request.abort()
  }
}

function redirectOf({ status, headers }: Response, from: URL): URL {
  const to = URL.parse(headers.get("location") ?? "", from)
  if (to === null || !headers.has("location")) throw new Refusal(`${wordsOf(status)}, but no URL to go to.`)
  if (!mayLead(from, to)) throw new Refusal(`${wordsOf(status)} and leads to ${placeOf(to)}, where no source is asked.`)
  return to
}

async function downloadOf(asking: Asking, response: Response): Promise<Download> {
  const { status, headers } = response
  if (status === 304) {
    if (Object.keys(asking.conditions).length === 0)
      throw new Refusal(`${wordsOf(status)}, though it was not asked whether anything changed.`)
    return { kind: "unchanged" }
  }
  if (status !== 200) throw new Refusal(`${wordsOf(status)}.`)
  if (HTML.test(headers.get("content-type") ?? "")) throw new Refusal("It is an HTML page.")
  const body = await bodyOf(asking, response)
  return { kind: "taken", text: textOf(body), validators: validatorsOf(headers), bytes: body.byteLength }
}

const HTML = /^\s*text\/html\s*(?:;|$)/i

/** The body, decompressed. */
async function bodyOf(asking: Asking, { headers, body }: Response): Promise<Uint8Array> {
  const { bytesMax } = asking.bounds
  const announced = headers.get("content-length")
  if (announced !== null && Number(announced) > bytesMax)
    throw new Refusal(`It says that it has ${Number(announced)} octets, more than ${bytesMax}.`)
  const reader = body?.getReader()
  const chunks: Uint8Array[] = []
  let count = 0
  for (;;) {
    const chunk = (await inTime(asking, reader?.read(), "The body broke off"))?.value
    if (chunk === undefined) break
    count += chunk.byteLength
    if (count > bytesMax) throw new Refusal(`It has more than ${bytesMax} octets.`)
    chunks.push(chunk)
  }
  // The length is that of what was sent, which is not known once it is decompressed; the decompression notices then.
  if (announced !== null && !headers.has("content-encoding") && count !== Number(announced))
    throw new Refusal(`It says that it has ${Number(announced)} octets, and has ${count}.`)
  return Buffer.concat(chunks)
}

function textOf(body: Uint8Array): string {
  const text = utf8Text(body)
  if (text === null) throw new Refusal("It is no UTF-8.")
  if (/^\s*</.test(text)) throw new Refusal("It begins with `<`, as HTML and XML do.")
  return text
}

/** What is promised, if it comes before the time is over and the other side is given up. */
async function inTime<T>({ needs, bounds, budget }: Asking, promised: T | Promise<T>, broken: string): Promise<T> {
  const { timeoutMs, idleMs } = bounds
  const idle = new Budget(needs.later, idleMs)
  const heard = Promise.resolve(promised).then(
    value => ({ value }),
    fault => ({ says: `${broken} (${faultCode(fault)}).` }),
  )
  const silent = idle.wait<Heard<T>>(heard, { says: `Nothing came for ${idleMs / 1000} s.` })
  const step = await budget.wait<Heard<T>>(silent, { says: `It was not whole after ${timeoutMs / 1000} s.` })
  idle.end()
  if ("says" in step) throw new Refusal(step.says)
  return step.value
}

type Heard<T> = { readonly value: T } | { readonly says: string }

const wordsOf = (status: number): string =>
  `The server answered ${status} (${STATUS_CODES[status] ?? "no known status"})`

/** A URL by its scheme and host alone: its path may be a secret. */
const placeOf = ({ protocol, host }: URL): string => `${protocol}//${host}`
