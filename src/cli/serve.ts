import { type Command, InvalidArgumentError, Option } from "commander"
import type { FirstAccountResult } from "../customers/keys/first-account.ts"
import type { Output } from "./output.ts"

/** The options of `serve`. */
export type ServeOptions = {
  /** Whether this process is a worker that the supervisor has started. */
  readonly worker: boolean
  /** Whether it takes over from the server that listens on its port, if there is one. */
  readonly replace: boolean
}

/** The arguments of a worker process. */
export const WORKER_ARGUMENTS: readonly string[] = ["serve", "--worker"]

/** Registers `serve`. */
export function registerServe(root: Command, serve: (options: ServeOptions) => Promise<void>): void {
  root
    .command("serve")
    .description("Serve the API and its pages.")
    .option("--replace", "take over from the running server on this port and data directory", false)
    .addOption(new Option("--worker [count]").default(false).argParser(refuseCount).hideHelp())
    .action(serve)
}

/** A worker has no number on its command line: who writes one means the number of workers. */
function refuseCount(): never {
  throw new InvalidArgumentError("Did you mean --workers?")
}

/** Where the server listens, and its public base URL. */
type ServerAddress = { readonly address: string; readonly baseUrl: string }

/**
 * Prints where the server listens and, after the first start, the new key, which is never shown again. `isPreset`: the operator has the
 * key, and it is not shown.
 */
export function printStart(
  output: Output,
  version: string,
  { address, baseUrl }: ServerAddress,
  first: FirstAccountResult,
  workersCount: number,
  isPreset: boolean,
): void {
  const as = baseUrl === address ? "" : ` as ${baseUrl}`
  const by = workersCount === 1 ? "" : ` with ${workersCount} workers`
  output.line(`mailkind ${version} listens on ${address}${as}${by}`)
  if (first.kind === "exists") return
  output.line("")
  const account = `The account ${first.account.email} was created with`
  if (isPreset) {
    output.line(`${account} the secret key of MAILKIND_FIRST_KEY.`)
    return
  }
  output.line(`${account} a secret key. Copy the key now, you cannot see it again:`)
  output.line(`  ${first.text}`)
  output.line("Try it:")
  output.line(`  ${curlLine(address, first.text)}`)
  output.line(`Or open ${baseUrl}/ in a browser; ${baseUrl}/sign-in leads to the dashboard.`)
}

/** A check as a shell command. */
const curlLine = (url: string, key: string): string =>
  `curl -s ${url}/v1/check -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"email":"jane@gmail.com"}'`
