import type { Command } from "commander"
import type { Failure } from "../client/outcome.ts"
import { CommandError } from "./output.ts"

/** A server that a command asks, and the file with the key for it; null: no key, for test addresses. */
export type ServerTarget = { readonly url: string; readonly keyFile: string | null }

/** The values of those options. */
export type ServerFlags = { readonly server?: string; readonly keyFile?: string }

/** Adds `--server` and `--key-file`. */
export const addServerOptions = (command: Command): Command =>
  command
    .option("--server <url>", "ask this server, with the key of --key-file")
    .option("--key-file <file>", "a file with a secret key of that server")

/** The server that the options name; null: none. */
export function readServerTarget({ server, keyFile }: ServerFlags, isOffline: boolean): ServerTarget | null {
  if (server !== undefined && isOffline) throw new CommandError("--server needs the network. Leave out --offline.", 2)
  if (server !== undefined) return { url: server, keyFile: keyFile ?? null }
  if (keyFile !== undefined) throw new CommandError("--key-file needs --server.", 2)
  return null
}

/** A server gave no result. What it gave before is not lost. */
export class ServerError extends CommandError {}

/** What a failure of the server means for the person who ran the command, and what to do. */
export function serverFailure({ because, message, problem, retryAfterMs }: Failure): ServerError {
  const wait = retryAfterMs === undefined ? "" : ` Try again after ${Math.ceil(retryAfterMs / 1000)} seconds.`
  if (because === "unreachable") return new ServerError("No server answers at the address of --server. Is it running?")
  if (because === "malformed") return new ServerError("What answers at the address of --server is not mailkind.")
  const isKeyWrong = problem?.status === 401
  return new ServerError(
    `${message}${isKeyWrong ? " Put a secret key of this server into the file of --key-file." : wait}`,
  )
}
