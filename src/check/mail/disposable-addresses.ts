import ADDRESSES from "../../../data/mail/disposable-addresses.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable } from "../../base/text-table.ts"
import { parsePublicAddress } from "../fetch/public-address.ts"

/** Parses a table of addresses. Throws `InvariantError` if one is not public, not in its canonical form, or occurs twice. */
export function parseDisposableAddresses(text: string): ReadonlySet<string> {
  const addresses = parseTable(text, ["address"]).map(({ address }) => address)
  for (const address of addresses) assert(parsePublicAddress(address) === address, `${address} is canonical and public`)
  assert(new Set(addresses).size === addresses.length, "the addresses differ")
  return new Set(addresses)
}

let disposableAddresses: ReadonlySet<string> | null = null

/** Whether mail hosts at the address, which is in its canonical form, are known to serve disposable domains only. */
export function isDisposableAddress(address: string): boolean {
  disposableAddresses ??= parseDisposableAddresses(ADDRESSES)
  return disposableAddresses.has(address)
}
