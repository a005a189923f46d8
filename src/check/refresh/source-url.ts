/** IPv4 and IPv6 loopback and the name for both, as the URL parser writes them: `127.1` has become `127.0.0.1` by then. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

/** Whether a list source may be asked at the URL: by https, or by http on loopback; and without a user name or a password. */
export function mayAsk(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
}

/**
 * Whether a redirect may be followed: to where a source may be asked, and to loopback from there only. No server elsewhere
 * sends us to what listens on this machine.
 */
export function mayLead(from: URL, to: URL): boolean {
  return mayAsk(to) && (isLoopback(from) || !isLoopback(to))
}

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)
