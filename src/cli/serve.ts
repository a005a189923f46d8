import type { FirstAccount } from "../customers/keys/first-account.ts"
import type { Output } from "./output.ts"

/** Where the server listens, and how the public reaches it. */
type Place = { readonly address: string; readonly baseUrl: string }

/** Tells that the server answers and, after the first start, the key that it made: it is never shown again. */
export function announce(output: Output, version: string, { address, baseUrl }: Place, first: FirstAccount): void {
  output.line(`mailkind ${version} listens on ${address}${baseUrl === address ? "" : ` as ${baseUrl}`}`)
  if (first.kind === "exists") return
  output.line("")
  output.line(`The account ${first.account.email} was created, with one secret key. It is shown this once:`)
  output.line(`  ${first.text}`)
  output.line("Try it:")
  output.line(`  ${curlLine(address, first.text)}`)
}

/** A check as one line for a shell. */
const curlLine = (url: string, key: string): string =>
  `curl -s ${url}/v1/check -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"email":"jane@gmail.com"}'`
