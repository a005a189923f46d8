import type { Tenant } from "../verdict/evidence.ts"
import { type IdentityProvider, identityProviderOf } from "./identity-provider.ts"
import type { IdentityReply } from "./identity-request.ts"
import { memberOf } from "./outside-text.ts"

/** How a domain's people sign in. */
export type SignIn = { readonly auth: Tenant["auth"]; readonly identityProvider: IdentityProvider | null }

/** Where a domain's realm is told. The local part stands for nobody: no caller's is ever sent. */
export const userRealmUrl = (base: string, domain: string): string =>
  `${base}/getuserrealm.srf?login=x@${encodeURIComponent(domain)}&json=1`

/** How people sign in, by the reply; null: the reply does not tell. `organisational` is the domain's registrable domain. */
export function signInTold(reply: IdentityReply, organisational: string): SignIn | null {
  if (reply.kind !== "told" || typeof reply.json !== "object" || reply.json === null) return null
  const auth = authOf(memberOf(reply.json, "NameSpaceType"))
  const authUrl = memberOf(reply.json, "AuthURL")
  const isElsewhere = auth === "federated" && typeof authUrl === "string"
  return { auth, identityProvider: isElsewhere ? identityProviderOf(authUrl, organisational) : null }
}

function authOf(nameSpaceType: unknown): Tenant["auth"] {
  if (nameSpaceType === "Managed") return "managed"
  return nameSpaceType === "Federated" ? "federated" : null
}
