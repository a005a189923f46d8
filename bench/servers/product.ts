import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Program } from "./server-process.ts"

const ROOT = join(import.meta.dir, "../..")
const EXECUTABLE = join(ROOT, "dist", "mailkind")

/** The product's program out of this checkout; words that follow are its command. */
export const CHECKOUT = [process.execPath, join(ROOT, "src", "main.ts")] as const

/** The variable by which the runner of the tests names the executable that it has built. */
export const TEST_EXECUTABLE = "TEST_EXECUTABLE"

/**
 * The program that benches and tests start. Under the runner of the tests it is the executable, which starts in half the
 * processor time of the checkout and is what users run; otherwise the checkout.
 */
export const PROGRAM: Program["command"] = testExecutable() ?? CHECKOUT

function testExecutable(): Program["command"] | null {
  const path = process.env[TEST_EXECUTABLE]
  return path === undefined ? null : [path]
}

/** Commands that start the product's server: out of this checkout, and as the executable, if it was built. */
export const PRODUCT = {
  source: [...PROGRAM, "serve"],
  executable: existsSync(EXECUTABLE) ? [EXECUTABLE, "serve"] : null,
} as const satisfies Record<string, Program["command"] | null>

/**
 * What `bun run start` sets for the runtime: freed memory is kept for ten seconds before it goes back to the system. Without
 * it each tenth request takes a page that was given back a moment ago. Both servers of a comparison get it.
 */
export const KEEPING_MEMORY: Readonly<Record<string, string>> = { MIMALLOC_PURGE_DELAY: "10000" }

/** Settings under which a bench runs the product: any free port, and no question leaves this machine. */
export const productSettings = (directory: string): Readonly<Record<string, string>> => ({
  MAILKIND_PORT: "0",
  MAILKIND_DATA_DIR: directory,
  MAILKIND_DNS_SERVERS: "off",
  MAILKIND_IDENTITY_URL: "off",
  MAILKIND_LISTS_REFRESH_HOURS: "off",
  MAILKIND_LOG: "warn",
  // On a machine that is busy otherwise anything may be slow, and what is logged counts as a fault.
  MAILKIND_SLOW_MS: "off",
})

/** An empty directory that is removed with everything in it when it is disposed of. */
export async function emptyDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "mailkind-bench-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
