import { parseArgs } from "node:util"
import { MIX_KINDS, type Mix, readMix } from "./mix.ts"
import type { Pace } from "./open-loop.ts"

/** What the load program was asked to do. */
export type Options = {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** What every request is made of: parts of the built-in inputs, lines of a file, `-` for standard input, or nothing. A line is a body, or a query. */
  readonly inputs:
    | { readonly kind: "mix"; readonly mix: Mix }
    | { readonly kind: "bodies" | "queries"; readonly file: string }
    | { readonly kind: "none" }
  readonly connections: number
  /** Null: a closed loop. */
  readonly pace: Pace | null
  readonly durationMs: number
  readonly warmupMs: number
  readonly requestsMax: number | null
  readonly trustsAnybody: boolean
  readonly json: boolean
}

/** A wrong use of the load program, told in a sentence. */
export class WrongUse extends Error {
  override readonly name = "WrongUse"
}

const CONNECTIONS_MAX = 4096
const DURATION_S_MAX = 86_400
const REQUESTS_MAX = 1_000_000_000
const RATE_MAX = 1_000_000
const WAITING_MAX = 1_000_000
/** What has no body in its answer, whatever its head says, or is no longer HTTP. */
const METHODS_UNREADABLE = ["HEAD", "CONNECT"]

const KINDS = Object.entries(MIX_KINDS).map(([name, { description }]) => `                    ${name}: ${description}`)

/** How the load program is used. */
export const USAGE = `bun run bench:load URL [option…]
  --key KEY         sent as Authorization: Bearer KEY
  --header "N: V"   a header of every request; may be repeated
  --mix SHARES      requests to the server at URL by share, like check=80,batch=10,domain=10:
${KINDS.join("\n")}
  --bodies FILE     one JSON body a line, sent to URL in turn; - reads standard input
  --queries FILE    one query a line, sent behind the path of URL in turn, like email=jane%40example.com
  --method M        GET, or POST when there are bodies
  --connections N   connections, each with one request in flight (64)
  --rate N          requests per second, sent when they are due whatever the server does; latency counts from
                    then. Without it each connection sends its next request when it has its answer.
  --waiting N       with --rate: how many may be due and wait for a free connection; more are not sent (10000)
  --duration S      seconds of load (10)
  --warmup S        seconds of load before that, which are not counted (1)
  --requests N      end after N requests, if the time is not over before
  --json            report as JSON
  --any-address     load an address that is not this machine's loopback
  --any-certificate https: do not ask who the server is
Exit codes: 0 the load was sent, whatever was answered; 1 there is no server, or it cannot be used; 2 wrong use.`

/** Reads the arguments. Throws `WrongUse`; an address outside the loopback is one unless `--any-address` is there. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parsed(args)
  const [address, ...surplus] = positionals
  if (address === undefined || surplus.length > 0) throw new WrongUse("give one URL")
  const url = urlOf(address, values["any-address"])
  const inputs = inputsOf(values)
  if (inputs.kind === "queries" && url.search !== "") throw new WrongUse("--queries: the URL must not have a query")
  if (inputs.kind === "mix" && (url.pathname !== "/" || url.search !== "" || values.method !== undefined))
    throw new WrongUse("--mix has paths and methods of its own: give the server's address alone")
  return {
    url,
    method: methodOf(values.method ?? (inputs.kind === "none" || inputs.kind === "queries" ? "GET" : "POST")),
    headers: headersOf(values.header ?? [], values.key),
    inputs,
    connections: number("connections", values.connections, 1, CONNECTIONS_MAX, true),
    pace: paceOf(values.rate, values.waiting),
    durationMs: 1000 * number("duration", values.duration, 0.01, DURATION_S_MAX, false),
    warmupMs: 1000 * number("warmup", values.warmup, 0, DURATION_S_MAX, false),
    requestsMax: values.requests === undefined ? null : number("requests", values.requests, 1, REQUESTS_MAX, true),
    trustsAnybody: values["any-certificate"],
    json: values.json,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        key: { type: "string" },
        header: { type: "string", multiple: true },
        mix: { type: "string" },
        bodies: { type: "string" },
        queries: { type: "string" },
        method: { type: "string" },
        connections: { type: "string", default: "64" },
        rate: { type: "string" },
        waiting: { type: "string" },
        duration: { type: "string", default: "10" },
        warmup: { type: "string", default: "1" },
        requests: { type: "string" },
        json: { type: "boolean", default: false },
        "any-address": { type: "boolean", default: false },
        "any-certificate": { type: "boolean", default: false },
      },
    })
  } catch (fault) {
    throw fault instanceof TypeError ? new WrongUse(fault.message) : fault
  }
}

function urlOf(address: string, isAnyAllowed: boolean): URL {
  const url = URL.parse(address)
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new WrongUse("the URL must start with http:// or https://")
  if (url.username !== "" || url.password !== "") throw new WrongUse("the URL must not name a user: give a --header")
  if (!isLoopback(url.hostname) && !isAnyAllowed)
    throw new WrongUse(`${url.hostname} is not a loopback address; --any-address allows it`)
  return url
}

/** Literal loopback addresses and `localhost`. The URL parser has brought addresses into their one form. */
const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)

type InputValues = { readonly mix?: string; readonly bodies?: string; readonly queries?: string }

function inputsOf({ mix, bodies, queries }: InputValues): Options["inputs"] {
  if ([mix, bodies, queries].filter(value => value !== undefined).length > 1)
    throw new WrongUse("--mix, --bodies and --queries exclude each other")
  if (bodies !== undefined) return { kind: "bodies", file: bodies }
  if (queries !== undefined) return { kind: "queries", file: queries }
  if (mix === undefined) return { kind: "none" }
  const read = readMix(mix)
  if (read === null)
    throw new WrongUse(`--mix wants shares like check=80,batch=10 of ${Object.keys(MIX_KINDS).join(", ")}`)
  return { kind: "mix", mix: read }
}

function methodOf(method: string): string {
  if (!/^[A-Z]+$/.test(method) || METHODS_UNREADABLE.includes(method)) throw new WrongUse(`${method} is not measured`)
  return method
}

function paceOf(rate: string | undefined, waiting: string | undefined): Pace | null {
  if (rate === undefined) {
    if (waiting !== undefined) throw new WrongUse("--waiting goes with --rate")
    return null
  }
  return {
    perSecond: number("rate", rate, 0.01, RATE_MAX, false),
    waitingMax: number("waiting", waiting ?? "10000", 1, WAITING_MAX, true),
  }
}

function headersOf(texts: readonly string[], key: string | undefined): Options["headers"] {
  const headers = Object.fromEntries(texts.map(header))
  if (key === undefined) return headers
  if (!/^[\x21-\x7e]+$/.test(key)) throw new WrongUse("a key is one word")
  if (Object.keys(headers).some(name => name.toLowerCase() === "authorization"))
    throw new WrongUse("--key and a header Authorization exclude each other")
  return { Authorization: `Bearer ${key}`, ...headers }
}

function header(text: string): readonly [name: string, value: string] {
  const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw new WrongUse("a header is written as name, colon, value")
  return [name, value]
}

function number(name: string, text: string, min: number, max: number, isWhole: boolean): number {
  const value = Number(text)
  const fits = text.trim() !== "" && value >= min && value <= max && (!isWhole || Number.isInteger(value))
  if (!fits) throw new WrongUse(`--${name} wants a ${isWhole ? "whole " : ""}number from ${min} to ${max}`)
  return value
}
