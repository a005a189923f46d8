import { LIMITS } from "../../contract/limits.ts"
import { isAddressLiteral } from "./ip-address.ts"
import { type LocalPart, parseLocalPart } from "./local-part.ts"
import { type Host, INVALID_HOST, IP_HOST, parseHost } from "./parse-host.ts"
import type { Fault } from "./subject.ts"
import { isOver } from "./text.ts"

/** An address taken apart. Both parts are read as far as they go, whatever the fault. */
export type Email = {
  readonly host: Host
  /** Null: it does not parse, or is too long. */
  readonly localPart: LocalPart | null
  /** The whole address in its normal form. Null: it has a fault. */
  readonly normalized: string | null
  readonly fault: Fault | null
}

/**
 * Parses an address: RFC 5321 `Mailbox` with the letters of RFC 6531. No display name, no comment, no white space, none
 * of the obsolete forms. Lengths are octets of the UTF-8 form as sent, quotes counted; an address that is too long is
 * `too_long` whatever else is wrong with it. The text must be free of control characters.
 */
export function parseEmail(text: string): Email {
  // A domain holds no `@`, so the last one splits, even where a quoted local part has others.
  const at = text.lastIndexOf("@")
  const sentHost = text.slice(at + 1)
  const host = at < 0 ? INVALID_HOST : parseMailHost(sentHost)
  const sent = text.slice(0, Math.max(at, 0))
  if (isOver(text, LIMITS.addressOctetsMax) || isOver(sent, LIMITS.localPartOctetsMax)) {
    return { host, localPart: null, normalized: null, fault: "too_long" }
  }
  const localPart = parseLocalPart(sent)
  if (localPart === null || host.name === null)
    return { host, localPart, normalized: null, fault: localPart === null ? "invalid_syntax" : host.fault }
  // Most addresses are in their normal form, and are not put together again.
  const isNormal = localPart.text === sent && host.name === sentHost
  return { host, localPart, normalized: isNormal ? text : `${localPart.text}@${host.name}`, fault: null }
}

function parseMailHost(text: string): Host {
  if (text.charCodeAt(0) === 91) return isAddressLiteral(text) ? IP_HOST : INVALID_HOST
  return parseHost(text, false)
}
