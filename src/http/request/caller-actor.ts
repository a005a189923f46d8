import { type Actor, ownerActor } from "../../customers/store/change-log/actor.ts"
import { SITE_KEY } from "../../customers/usage/measures.ts"

/** Who sends a request with a key. The key of the site stands for the owner on the pages. */
export const callerActor = (accountId: string, keyId: string): Actor =>
  keyId === SITE_KEY.id ? ownerActor(accountId) : { kind: "account", id: accountId, source: "api", keyId }
