import type { KnownKey } from "../customers/keys/held-keys.ts"
import type { KeyRing } from "../customers/keys/key-ring.ts"
import type { Admit } from "./admission.ts"
import { identify, unauthorized } from "./caller.ts"
import type { Load } from "./load.ts"
import type { Pass } from "./pass.ts"
import type { Watch } from "./watch.ts"

/** Answers a request that needs a secret key, which was let in by the pass; null: nothing limits it. A heavy one gives way first. */
export type Keyed = (
  request: Request,
  work: (known: KnownKey, pass: Pass | null) => Promise<Response>,
  isHeavy?: boolean,
) => Promise<Response>

/** Builds the way into every endpoint that takes secret keys only. */
export function keyed(keys: KeyRing, admit: Admit, watch: Watch, load: Load): Keyed {
  return async (request, work, isHeavy = false) => {
    const known = await identify(request.headers, keys)
    if (known === null) throw unauthorized()
    watch.admitted(request, known)
    const pass = admit(request, known, false)
    try {
      load.refuseShed(isHeavy)
      return await work(known, pass)
    } catch (error) {
      pass?.tellRefusal()
      throw error
    } finally {
      pass?.leave()
    }
  }
}
