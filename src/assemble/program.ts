import manifest from "../../package.json" with { type: "json" }
import type { Settings } from "../config/settings.ts"
import type { BuildInfo } from "../http/metrics/exposition.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

/** The versions of this program and its runtime. */
export const BUILD: BuildInfo = { version: VERSION, bun: Bun.version }

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
