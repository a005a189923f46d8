import { LIMITS } from "../../contract/limits.ts"

/** Reads and writes the cookies of one server. */
export type Cookies = {
  /** The cookie's value. Empty when the request has none. */
  readonly read: (request: Request, name: CookieName) => string
  /** A `Set-Cookie` value that sets the cookie. */
  readonly write: (name: CookieName, value: string) => string
  /** A `Set-Cookie` value that deletes the cookie. */
  readonly clear: (name: CookieName) => string
}

const DAY_S = 86_400
const MINUTE_S = 60

/** Every cookie that the site sets: its purpose, as the privacy page shows it, and its lifetime. */
export const COOKIES = {
  /** The secret of a session. */
  session: { description: "Sign-in: keeps you signed in.", maxAgeS: LIMITS.sessionDays * DAY_S },
  /** The secret of the browser that asked to sign in. It is worth nothing without the code from the email. */
  sign_in: {
    description: "Sign-in request: only this browser can use the code from the email.",
    maxAgeS: LIMITS.signInMinutes * MINUTE_S,
  },
  /** The secret of a pass. */
  pass: {
    description: "Pass: more free checks on the home page, and sign-in while demand is high.",
    maxAgeS: LIMITS.passMinutes * MINUTE_S,
  },
} as const satisfies Record<string, { readonly description: string; readonly maxAgeS: number }>

export type CookieName = keyof typeof COOKIES

/**
 * Builds the cookies of one server. Scripts cannot read them, and other sites' POST requests do not send them. Over HTTPS
 * they are sent over HTTPS only, and to this host only (RFC 6265bis §4.1.3.2, `__Host-`).
 */
export function createCookies(isHttps: boolean): Cookies {
  const fullName = (name: CookieName): string => `${isHttps ? "__Host-" : ""}mailkind_${name}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`
  return {
    read: (request, name) => cookieValue(request.headers.get("cookie") ?? "", fullName(name)),
    write: (name, value) => `${fullName(name)}=${value}; Max-Age=${COOKIES[name].maxAgeS}; ${attributes}`,
    clear: name => `${fullName(name)}=; Max-Age=0; ${attributes}`,
  }
}

function cookieValue(header: string, name: string): string {
  for (const pair of header.split(";")) {
    const index = pair.indexOf("=")
    if (index > 0 && pair.slice(0, index).trim() === name) return pair.slice(index + 1).trim()
  }
  return ""
}
