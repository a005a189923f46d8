import type { Clock } from "../../base/clock.ts"
import { type Finding, known } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { Web } from "../../base/web.ts"
import type { Tenant } from "../verdict/evidence.ts"
import { askIdentity, type IdentityReply } from "./identity-request.ts"
import { openidConfigurationUrl, tenantTold } from "./openid-configuration.ts"
import { signInTold, userRealmUrl } from "./user-realm.ts"

/** How long the endpoints may take for one domain. */
const LOOK_UP_TIMEOUT_MS = 5000

/** What one look-up found. */
export type LookedUp = {
  readonly tenant: Finding<Tenant | null>
  /** False: something was not told: whether there is a tenant, or how its people sign in. */
  readonly isWhole: boolean
  /** How long the endpoint asked to be left alone when it refused; null: it did not. */
  readonly retryAfterMs: number | null
}

/** A look-up under way. */
export type LookUp = {
  readonly found: Promise<LookedUp>
  /** Resolves when nothing is asked any more, which may be later than what was found is known. */
  readonly ended: Promise<void>
}

/**
 * Builds the look-up of a domain's tenant at the endpoints under `base`: both are asked side by side. Its promises never
 * reject, and settle within the time-out.
 */
export function tenantLookUp(web: Web, clock: Clock, later: Later) {
  return (base: string, domain: string, organisational: string): LookUp => {
    const deadline = new AbortController()
    const callOff = later(LOOK_UP_TIMEOUT_MS, () => deadline.abort())
    const ask = (url: string): Promise<IdentityReply> => askIdentity(web, clock, url, deadline.signal)
    const openid = ask(openidConfigurationUrl(base, domain))
    const realm = ask(userRealmUrl(base, domain))
    return { found: foundBy(openid, realm, organisational), ended: Promise.all([openid, realm]).then(callOff) }
  }
}

/** Only a tenant waits for the realm: without one, nothing that the realm says counts. */
async function foundBy(
  openid: Promise<IdentityReply>,
  realm: Promise<IdentityReply>,
  organisational: string,
): Promise<LookedUp> {
  const reply = await openid
  const told = tenantTold(reply)
  const retryAfterMs = reply.kind === "refused" ? reply.retryAfterMs : null
  if (!told.known) return { tenant: told, isWhole: false, retryAfterMs }
  if (told.value === null) return { tenant: known(null), isWhole: true, retryAfterMs }
  const signIn = signInTold(await realm, organisational)
  const tenant = { ...told.value, ...(signIn ?? { auth: null, identityProvider: null }) }
  return { tenant: known(tenant), isWhole: signIn !== null, retryAfterMs }
}
