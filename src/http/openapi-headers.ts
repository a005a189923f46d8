import { LIMITS } from "../contract/limits.ts"
import type { ProblemCode } from "../contract/problems.ts"
import { problemHeaders } from "./openapi-examples.ts"
import type { JsonSchema } from "./openapi-schemas.ts"

/** Who may ask. The empty requirement stands for a test address, which needs no key. */
export const SECURITY = {
  anybody: [],
  "secret key": [{ bearer: [] }, { apiKey: [] }],
  "key or test address": [{ bearer: [] }, { apiKey: [] }, {}],
} as const

/** How a key is sent. */
export const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "The key in `Authorization: Bearer <API_KEY>` (preferred)." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "The key in `X-API-Key: <API_KEY>`." },
} as const

/** Every header that an answer may have, beside what HTTP itself needs. */
export const HEADERS = {
  "X-Request-Id": {
    description: `Names the request. A caller's own is kept when it is 1 to ${LIMITS.requestIdLengthMax} of letters, digits, \`.\`, \`_\` and \`-\`.`,
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait before the next try.", schema: { type: "integer", minimum: 0 } },
  "WWW-Authenticate": {
    description: "The scheme in which a key is sent (RFC 9110 §11.6.1).",
    schema: { type: "string" },
  },
  Allow: { description: "The methods that the path takes.", schema: { type: "string" } },
  "RateLimit-Policy": {
    description: "What the key may do: requests a second, and units a day. Absent where nothing limits it.",
    schema: { type: "string" },
  },
  RateLimit: {
    description: "What is left of each policy (`r`), and the seconds until it is whole again (`t`).",
    schema: { type: "string" },
  },
  Warning: {
    description: "New terms were published and not accepted yet; `Link` leads to them.",
    schema: { type: "string" },
  },
  Link: { description: 'The terms, with `rel="terms-of-service"`.', schema: { type: "string" } },
} as const

/** Headers of every answer to a key: of limits where it has any, of terms where there are new ones. */
export const KEYED_HEADERS = ["RateLimit-Policy", "RateLimit", "Warning", "Link"]

/** References to `X-Request-Id` and to the headers that come with any of the problems. */
export function headers(codes: readonly ProblemCode[] = [], more: readonly string[] = []): JsonSchema {
  const names = new Set(["X-Request-Id", ...more, ...codes.flatMap(code => Object.keys(problemHeaders(code)))])
  return Object.fromEntries([...names].map(name => [name, { $ref: `#/components/headers/${name}` }]))
}
