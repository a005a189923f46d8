import { Problem } from "../response/problem.ts"

/** Lines of one name, which the runtime joins by a comma and a space. No host contains either; the last line may be empty. */
const JOINED_LINES = /, |,$/

/** `invalid_input` for a request with several `Host` lines (RFC 9112 §3.2), since a proxy may have gone by another one than we do; null: it has not. */
export function hostProblem({ headers }: Request): Problem | null {
  const host = headers.get("host")
  if (!host?.includes(",") || !JOINED_LINES.test(host)) return null
  return new Problem("invalid_input", "The request has more than one `Host` header. It must have exactly one.")
}
