import { parseArgs } from "node:util"

/** What the load program was asked to do. */
export type Options = {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** File with one body a line; `-` is standard input; null: no bodies. */
  readonly bodies: string | null
  readonly connections: number
  readonly durationMs: number
  readonly warmupMs: number
  readonly requestsMax: number | null
  readonly json: boolean
}

/** A wrong use of the load program, told in a sentence. */
export class WrongUse extends Error {
  override readonly name = "WrongUse"
}

const CONNECTIONS_MAX = 4096
const DURATION_S_MAX = 600
const REQUESTS_MAX = 1_000_000_000

/** How the load program is used. */
export const USAGE = `bun bench/load/main.ts URL [option…]
  --connections N   connections, each with one request in flight (64)
  --duration S      seconds of load (10)
  --warmup S        seconds of load before that, which are not counted (1)
  --requests N      end after N requests, if the time is not over before
  --method M        GET, or POST when there are bodies
  --header "N: V"   a header of every request; may be repeated
  --bodies FILE     one JSON body a line, sent in turn; - reads standard input
  --json            report as JSON
  --any-address     load an address that is not this machine's loopback`

/** Reads the arguments. Throws `WrongUse`; an address outside the loopback is one unless `--any-address` is there. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parsed(args)
  const [address, ...surplus] = positionals
  if (address === undefined || surplus.length > 0) throw new WrongUse("give one URL")
  const url = URL.parse(address)
  if (url?.protocol !== "http:") throw new WrongUse("the URL must start with http://")
  if (!isLoopback(url.hostname) && values["any-address"] !== true)
    throw new WrongUse(`${url.hostname} is not a loopback address; --any-address allows it`)
  const bodies = values.bodies ?? null
  return {
    url,
    method: values.method ?? (bodies === null ? "GET" : "POST"),
    headers: Object.fromEntries((values.header ?? []).map(header)),
    bodies,
    connections: number("connections", values.connections ?? "64", 1, CONNECTIONS_MAX, true),
    durationMs: 1000 * number("duration", values.duration ?? "10", 0.01, DURATION_S_MAX, false),
    warmupMs: 1000 * number("warmup", values.warmup ?? "1", 0, DURATION_S_MAX, false),
    requestsMax: values.requests === undefined ? null : number("requests", values.requests, 1, REQUESTS_MAX, true),
    json: values.json ?? false,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        connections: { type: "string" },
        duration: { type: "string" },
        warmup: { type: "string" },
        requests: { type: "string" },
        method: { type: "string" },
        header: { type: "string", multiple: true },
        bodies: { type: "string" },
        json: { type: "boolean" },
        "any-address": { type: "boolean" },
      },
    })
  } catch (fault) {
    throw fault instanceof TypeError ? new WrongUse(fault.message) : fault
  }
}

/** Literal loopback addresses and `localhost`. The URL parser has brought addresses into their one form. */
const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)

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
