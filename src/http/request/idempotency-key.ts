import { LIMITS } from "../../contract/limits.ts"
import { invalidInput } from "../response/problem.ts"

/** A string of a structured field (RFC 9651 §3.3.3). */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/

/** The `Idempotency-Key` of a request, in quotes or without; null: it has none. Throws `invalid_input`. */
export function idempotencyKeyOf({ headers }: Request): string | null {
  const sent = headers.get("idempotency-key")?.trim() ?? null
  if (sent === null) return null
  const key = QUOTED.exec(sent)?.[1]?.replace(/\\(.)/g, "$1") ?? sent
  if (key !== "" && key.length <= LIMITS.idempotencyKeyLengthMax) return key
  throw invalidInput([{ detail: `\`Idempotency-Key\` must have 1 to ${LIMITS.idempotencyKeyLengthMax} characters.` }])
}
