import { join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import type { Settings } from "../config/settings.ts"
import type { BuildInfo } from "../http/metrics/exposition.ts"
import { checkedOutCommit } from "../system/commit.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

/** Set by `src/build.ts`: the commit that an executable was built from. */
declare const MAILKIND_COMMIT: string | undefined

/** The first 12 digits of the commit that this program was built from, or that is checked out; null: it is not known. */
export const COMMIT: string | null =
  typeof MAILKIND_COMMIT === "string" ? MAILKIND_COMMIT || null : checkedOutCommit(join(import.meta.dir, "../.."))

/** The versions of this program and its runtime. */
export const BUILD: BuildInfo = { version: VERSION, commit: COMMIT ?? "", bun: process.versions.bun }

/** The `User-Agent` of outgoing requests: the program, its version, and where its documentation is. */
export function formatUserAgent({
  MAILKIND_BASE_URL: baseUrl,
  MAILKIND_HOST: host,
  MAILKIND_PORT: port,
}: Settings): string {
  const base = baseUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  // Parsing converts the URL to ASCII, as a header requires.
  return `mailkind/${VERSION} (+${new URL(`${base}/docs`).href})`
}
