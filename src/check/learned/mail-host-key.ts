import { classifySuffix } from "../address/public-suffix.ts"

/** Words that describe the role of a mail server and not its owner. */
const SERVER_ROLE_WORDS: ReadonlySet<string> = new Set([
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

/** A longer word may name a customer; a shorter one is a region or a server number (`eu`, `b`). */
const LOCATION_LENGTH_MAX = 2

/**
 * The name by which servers count as one mail host: the host without leading labels that only distinguish servers (`mx1`,
 * `mail-in-3`), down to its registrable domain. So `mx1.` and `mx2.` of a name are one host, while a customer's
 * `acme.mail.host.example` and a rented `vps-7.host.example` are different hosts. The host is lower case, without a trailing
 * dot. Null: the name cannot exist in public DNS.
 */
export function mailHostKey(host: string): string | null {
  const { fault, registrable } = classifySuffix(host)
  if (fault !== null) return null
  let key = host
  while (key.length > registrable.length) {
    const dot = key.indexOf(".")
    if (!isServerLabel(key.slice(0, dot))) break
    key = key.slice(dot + 1)
  }
  return key
}

/** Whether a label has only role words, numbers and short words. */
function isServerLabel(label: string): boolean {
  const words = label.match(/[a-z]+|\d+/g) ?? []
  return (
    words.some(word => SERVER_ROLE_WORDS.has(word)) &&
    words.every(word => SERVER_ROLE_WORDS.has(word) || word.length <= LOCATION_LENGTH_MAX || /^\d/.test(word))
  )
}
