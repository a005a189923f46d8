import type { Command } from "commander"
import { escapeControls } from "../base/untrusted-text.ts"
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

/** A failure of the server as the error of a command. */
export function serverFailure(failure: Failure): ServerError {
  const { message, retryAfterMs } = failure
  const wait = retryAfterMs === undefined ? "" : ` Try again after ${Math.ceil(retryAfterMs / 1000)} seconds.`
  return new ServerError((serverFailureRemedy(failure, message) ?? message) + wait)
}

/** The same for a request whose refusal says what is wrong with it. */
export function replyFailure(failure: Failure): CommandError {
  const { because, problem } = failure
  const fault = problem?.errors?.[0]?.detail ?? problem?.detail
  return because === "refused" && problem?.status !== 401 && fault !== undefined
    ? new CommandError(escapeControls(fault))
    : serverFailure(failure)
}

/** What a failure means for the person who gave the options, and what to do. Null: `message` says all that is known. */
export function serverFailureRemedy({ because, problem }: Failure, message: string): string | null {
  if (because === "unreachable") return "No server answers at the address of --server. Is it running?"
  if (because === "malformed") return "What answers at the address of --server is not mailkind."
  return problem?.status === 401 ? `${message} Put a secret key of this server into the file of --key-file.` : null
}
