import { LIMITS } from "../../contract/limits.ts"

/** Cookies of one server: read from a request, written into an answer. */
export type Cookies = {
  /** The value of the cookie of this name; empty when none was sent. */
  readonly read: (request: Request, name: CookieName) => string
  /** The value of `Set-Cookie` that gives the browser a cookie. */
  readonly write: (name: CookieName, value: string) => string
  /** The value of `Set-Cookie` that takes it back. */
  readonly clear: (name: CookieName) => string
}

const DAY_S = 86_400
const MINUTE_S = 60

/** Every cookie that we set: what it is for, in words for its owner, and how long a browser keeps it, in seconds. */
export const COOKIES = {
  /** The secret of a session. */
  session: { says: "Signing in: knows you again.", seconds: LIMITS.sessionDays * DAY_S },
  /** The secret of the browser that asked to sign in. It signs nobody in without the code from the mail. */
  sign_in: {
    says: "Asking to sign in: takes the code from the mail in this browser alone.",
    seconds: LIMITS.signInMinutes * MINUTE_S,
  },
  /** The secret of a pass of the free checker. */
  pass: {
    says: "Checking on the first page beyond the first checks of the day.",
    seconds: LIMITS.passMinutes * MINUTE_S,
  },
} as const satisfies Record<string, { readonly says: string; readonly seconds: number }>

export type CookieName = keyof typeof COOKIES

/**
 * Builds the cookies of one server: out of reach of scripts, not sent with what other sites post, and over HTTPS never
 * without it and for this host alone (RFC 6265bis §4.1.3.2, `__Host-`).
 */
export function createCookies(isHttps: boolean): Cookies {
  const named = (name: CookieName): string => `${isHttps ? "__Host-" : ""}mailkind_${name}`
  const rest = `Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`
  return {
    read: (request, name) => cookieValue(request.headers.get("cookie") ?? "", named(name)),
    write: (name, value) => `${named(name)}=${value}; Max-Age=${COOKIES[name].seconds}; ${rest}`,
    clear: name => `${named(name)}=; Max-Age=0; ${rest}`,
  }
}

function cookieValue(header: string, name: string): string {
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=")
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return ""
}
