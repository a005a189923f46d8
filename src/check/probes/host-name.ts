import { LIMITS } from "../../contract/limits.ts"

/** How many characters a name has at most, without a trailing dot (RFC 1035 §2.3.4). */
export const NAME_LENGTH_MAX = LIMITS.domainOctetsMax

/** Whether a name from outside can be shown: printable ASCII without spaces, of a name's length, and not the root. */
export const isShowable = (name: string): boolean => name.length <= NAME_LENGTH_MAX && /^[!-~]+$/.test(name)

/** The name that stands under `domain` by `prefix`; null: it would be longer than names can be. */
export function nameUnder(prefix: string, domain: string): string | null {
  const name = `${prefix}.${domain}`
  return name.length <= NAME_LENGTH_MAX ? name : null
}
