/** IPv4 and IPv6 loopback and the name for both, as the URL parser writes them: `127.1` has become `127.0.0.1` by then. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[^.]+\.)*localhost\.?)$/

/** An address, or a name of one label: what some network at home knows, and never what a registry's certificate is for. */
const NOT_PUBLIC = /^(?:\[.*\]|\d{1,3}(?:\.\d{1,3}){3}|[^.]*\.?)$/

/** Whether the URL is on this machine. */
export const isOnLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

/**
 * Whether a bootstrap may name an RDAP server at the URL: by https, at a public name. One that the operator named, which
 * `isOwn` says, may name any host by https, and what is on loopback by plain HTTP too. A user name is never sent.
 */
export function mayServe(url: URL, isOwn: boolean): boolean {
  if (url.username !== "" || url.password !== "") return false
  if (isOwn && isOnLoopback(url)) return url.protocol === "https:" || url.protocol === "http:"
  return url.protocol === "https:" && (isOwn || isPublic(url))
}

/**
 * Whether an RDAP server may send us from one URL to the other: by https to a public name at its usual port, and to
 * loopback only from there. No server elsewhere sends us to what listens on this machine or in its network.
 */
export function mayRedirect(from: URL, to: URL, isOwn: boolean): boolean {
  if (!mayServe(to, isOwn)) return false
  if (to.origin === from.origin) return true
  return isOnLoopback(to) ? isOnLoopback(from) : isPublic(to) && to.port === ""
}

const isPublic = (url: URL): boolean => !isOnLoopback(url) && !NOT_PUBLIC.test(url.hostname)

/** Where an RDAP server tells of a domain (RFC 9082 §3.1.3). `base` ends with a slash; `domain` is A-labels, lower case. */
export const rdapDomainUrl = (base: string, domain: string): string => `${base}domain/${encodeURIComponent(domain)}`
