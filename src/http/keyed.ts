import type { KnownKey } from "../customers/keys/held-keys.ts"
import type { KeyRing } from "../customers/keys/key-ring.ts"
import type { Admit } from "./admission.ts"
import { identify, unauthorized } from "./caller.ts"
import type { Extra } from "./extra-headers.ts"
import { within } from "./within.ts"

/** What the answer to a request that was let in has to carry, as of now; null: nothing. */
type Told = () => Extra | null

/** Answers a request that needs a secret key, which was let in. */
export type Keyed = (request: Request, work: (known: KnownKey, told: Told) => Promise<Response>) => Promise<Response>

const NOTHING: Told = () => null

/** Builds the way into every endpoint that takes secret keys only. */
export function keyed(keys: KeyRing, admit: Admit): Keyed {
  return async (request, work) => {
    const known = await identify(request.headers, keys)
    if (known === null) throw unauthorized()
    const pass = admit(request, known, false)
    return await (pass === null ? work(known, NOTHING) : within(pass, () => work(known, () => pass.told())))
  }
}
