import { standingOf } from "../address/public-suffix.ts"

/** Words that say what a mail host is for, and not whose it is. */
const ROLE_WORDS: ReadonlySet<string> = new Set([
  "alt",
  "backup",
  "email",
  "fallback",
  "gateway",
  "gw",
  "imap",
  "in",
  "inbound",
  "incoming",
  "mail",
  "mailer",
  "mailgate",
  "mailgw",
  "mailhost",
  "mailin",
  "mailserver",
  "mta",
  "mx",
  "mxa",
  "mxb",
  "mxin",
  "pop",
  "post",
  "primary",
  "relay",
  "secondary",
  "smtp",
  "smtpin",
])

/** A region or a place in a row (`eu`, `b`): too short to name a customer. */
const PLACE_LENGTH_MAX = 2

/**
 * What counts as one mail host: the name without the leading labels that only tell one of several servers from the
 * others (`mx1`, `mail-in-3`), down to its registrable domain. So `mx1.` and `mx2.` of a name are one host, a customer's
 * own `acme.mail.host.example` and a rented machine's `vps-7.host.example` are hosts of their own. The host is lower case,
 * without a trailing dot. Null: it is no name that could exist in public DNS.
 */
export function hostKeyOf(host: string): string | null {
  const { fault, registrable } = standingOf(host)
  if (fault !== null) return null
  let key = host
  while (key.length > registrable.length) {
    const dot = key.indexOf(".")
    if (!isRole(key.slice(0, dot))) break
    key = key.slice(dot + 1)
  }
  return key
}

/** Whether a label says nothing but what the host is for and which of several it is. */
function isRole(label: string): boolean {
  const words = label.match(/[a-z]+|\d+/g) ?? []
  return (
    words.some(word => ROLE_WORDS.has(word)) &&
    words.every(word => ROLE_WORDS.has(word) || word.length <= PLACE_LENGTH_MAX || /^\d/.test(word))
  )
}
