import { LRUCache } from "lru-cache"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { Web } from "../../base/web.ts"
import { registrationTold } from "./rdap-answer.ts"
import { askRdap, type RdapAsking, type RdapReply } from "./rdap-request.ts"
import { isOnLoopback, rdapDomainUrl } from "./rdap-url.ts"
import { type LineBounds, type LineFate, type LinePass, RegistryLine } from "./registry-line.ts"

/** When a domain was registered, in milliseconds since the Unix epoch. */
export type Registration = { readonly registeredAtMs: number }

/** How long one look-up may take, a redirect included, from when it is its turn. */
const LOOK_UP_TIMEOUT_MS = 3000

/** How many servers' lines are held: all of a bootstrap, which names 600, and where those redirect to. */
const LINES_MAX = 2000

/** What look-ups need of the outside world. */
export type RdapNeeds = RdapAsking & {
  readonly later: Later
  /** Asks a server that no bootstrap names but another server redirects to: at public addresses only. */
  readonly elsewhere: Web
}

/** Asks when a domain was registered, at the server under `base`. It never rejects. */
export type RdapLookUp = (base: string, domain: string) => Promise<LookedUpAge>

/** What one look-up found. */
export type LookedUpAge = {
  readonly registration: Finding<Registration | null>
  /** False: the server was not asked, since too many wait for it, it fails, or it wants to be left alone. */
  readonly isAsked: boolean
}

/**
 * Builds the look-up of a domain's registration. Each server has a line of its own: what the bootstrap names by its base
 * URL, since that is what a registry is known by, and what is redirected to by its origin.
 */
export function rdapLookUp(needs: RdapNeeds, bounds: LineBounds): RdapLookUp {
  const lines = new LRUCache<string, RegistryLine>({ max: LINES_MAX })
  const lineOf = (server: string): RegistryLine => {
    const line = lines.get(server) ?? new RegistryLine(needs.clock, bounds)
    lines.set(server, line)
    return line
  }

  /** Where the first server redirects to, the second's answer counts; nobody is followed further. */
  const ask = async (base: string, domain: string, pass: LinePass, deadline: AbortSignal): Promise<RdapReply> => {
    const url = new URL(rdapDomainUrl(base, domain))
    const reply = await askRdap(needs, url, deadline)
    pass(fateOf(reply))
    if (reply.kind !== "redirected") return reply
    const { to } = reply
    const isSame = to.origin === url.origin
    const second = lineOf(isSame ? base : to.origin).enter()
    if (second === null) return { kind: "refused" }
    const web = isSame || isOnLoopback(to) ? needs.web : needs.elsewhere
    const last = await askRdap({ ...needs, web }, to, deadline)
    second(fateOf(last))
    return last
  }

  return async (base, domain) => {
    const line = lineOf(base)
    const leave = await line.queue()
    if (leave === null) return NOT_ASKED
    const pass = line.enter() // the line may have been shut while it waited
    if (pass === null) {
      leave()
      return NOT_ASKED
    }
    const deadline = new AbortController()
    const callOff = needs.later(LOOK_UP_TIMEOUT_MS, () => deadline.abort())
    const reply = await ask(base, domain, pass, deadline.signal)
    callOff()
    leave()
    return { registration: registrationOf(reply, domain, needs.clock()), isAsked: reply.kind !== "sent_off" }
  }
}

const NOT_ASKED: LookedUpAge = { registration: unknown("unavailable"), isAsked: false }

/** A server that refuses one question works; so does one that redirects to another. */
function fateOf(reply: RdapReply): LineFate {
  if (reply.kind === "sent_off") return reply
  return { kind: reply.kind === "failed" || reply.kind === "timed_out" ? "failed" : "answered" }
}

function registrationOf(reply: RdapReply, domain: string, nowMs: number): Finding<Registration | null> {
  if (reply.kind === "timed_out") return unknown("timed_out")
  if (reply.kind === "not_found") return known(null)
  if (reply.kind !== "told") return unknown("unavailable")
  const told = registrationTold(reply.json, domain, nowMs)
  if (told.kind === "unreadable") return unknown("unavailable")
  return known(told.kind === "registered" ? { registeredAtMs: told.atMs } : null)
}
