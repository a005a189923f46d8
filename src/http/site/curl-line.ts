import { ROUTES } from "../../contract/routes.ts"

/**
 * A command for a shell that asks this server about an address, with a key unless that is null. The body keeps the address out
 * of URLs and logs.
 */
export const curlLine = (baseUrl: string, address: string, key: string | null = null): string =>
  [
    `curl -s '${baseUrl}${ROUTES.postCheck.path}'`,
    ...(key === null ? [] : [`-H 'Authorization: Bearer ${key}'`]),
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ email: address })}'`,
  ].join(" \\\n  ")
