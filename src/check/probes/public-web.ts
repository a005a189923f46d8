import { assert } from "../../base/assert.ts"
import type { Web } from "../../base/web.ts"
import type { Ask } from "../dns/question.ts"
import { publicAddressesOf } from "./public-addresses.ts"

/**
 * Builds a web that rejects, without a connection, for a name whose addresses are not all public. The name is resolved
 * again to connect, so it is for https alone, where whoever answers must show that the name is theirs.
 */
export function publicWeb(ask: Ask, web: Web): Web {
  return async (url, options) => {
    const { protocol, hostname } = new URL(url)
    assert(protocol === "https:", "a public web is asked by https")
    await publicAddressesOf(ask, hostname.replace(/\.$/, ""))
    return await web(url, options)
  }
}
