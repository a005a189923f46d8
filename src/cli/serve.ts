import { type Command, InvalidArgumentError, Option } from "commander"
import type { FirstAccountResult } from "../customers/keys/first-account.ts"
import type { Output } from "./output.ts"

/** How a server is wanted. */
export type ServeOptions = {
  /** How many processes share the port; `auto`: as many as can run at once. */
  readonly workers: number | "auto"
  /** Whether this is one of them, which its supervisor has started. */
  readonly worker: boolean
  /** Whether it takes over from the server that runs on its port, if one does. */
  readonly replace: boolean
}

/** More would share each core with dozens of others. */
const WORKERS_MAX = 128

/** The words that start a worker. */
export const WORKER_ARGUMENTS: readonly string[] = ["serve", "--worker"]

/** Registers `serve`. */
export function registerServe(root: Command, serve: (options: ServeOptions) => Promise<void>): void {
  root
    .command("serve")
    .description("Serve the API and its pages.")
    .addOption(
      new Option("--workers <n>", "how many processes share the port, or `auto` for one on each core")
        .argParser(parseWorkers)
        .default(1),
    )
    .option("--replace", "take over from the server that runs on this port and data directory, which then ends", false)
    .addOption(new Option("--worker").default(false).hideHelp())
    .action(serve)
}

function parseWorkers(text: string): ServeOptions["workers"] {
  if (text === "auto") return text
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > WORKERS_MAX)
    throw new InvalidArgumentError(`It is a number from 1 to ${WORKERS_MAX}, or auto.`)
  return count
}

/** Where the server listens, and how the public reaches it. */
type ServerAddress = { readonly address: string; readonly baseUrl: string }

/** Tells that the server answers and, after the first start, the key that it made: it is never shown again. */
export function printStart(
  output: Output,
  version: string,
  { address, baseUrl }: ServerAddress,
  first: FirstAccountResult,
  workersCount: number,
): void {
  const as = baseUrl === address ? "" : ` as ${baseUrl}`
  const by = workersCount === 1 ? "" : ` with ${workersCount} workers`
  output.line(`mailkind ${version} listens on ${address}${as}${by}`)
  if (first.kind === "exists") return
  output.line("")
  output.line(`The account ${first.account.email} was created, with one secret key. It is shown this once:`)
  output.line(`  ${first.text}`)
  output.line("Try it:")
  output.line(`  ${curlLine(address, first.text)}`)
  output.line(`Or open ${baseUrl}/ in a browser; ${baseUrl}/sign-in leads to the dashboard.`)
}

/** A check as one line for a shell. */
const curlLine = (url: string, key: string): string =>
  `curl -s ${url}/v1/check -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"email":"jane@gmail.com"}'`
