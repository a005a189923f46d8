import { LIMITS } from "../../contract/limits.ts"
import type { ProblemCode } from "../../contract/problems.ts"
import { problemHeaders } from "../response/example-responses.ts"
import { REPLAYED_HEADER } from "../response/idempotency-problems.ts"
import { type JsonSchema, reference } from "./json-schemas.ts"

/** The content of a response or a body in JSON. */
export const jsonContent = (schema: string, examples: JsonSchema): JsonSchema => ({
  "application/json": { schema: reference(schema), examples },
})

/** The headers that a response may have, besides those that HTTP needs. */
export const HEADER_OBJECTS = {
  "X-Request-Id": {
    description: `The id of the request. You can send your own, with 1 to ${LIMITS.requestIdLengthMax} letters, digits, \`.\`, \`_\` and \`-\`. The log also has the id of your trace, if the request has a \`traceparent\` (W3C Trace Context).`,
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait before the next try.", schema: { type: "integer", minimum: 0 } },
  "WWW-Authenticate": {
    description: "How to send a key (RFC 9110 §11.6.1).",
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description:
      "The limits of the key: requests per second (`second`) and units per day (`day`). Absent if the key has no limits. With status 429 it has the limit that was met, which may be another one: of a client address (`client`), of requests at once (`concurrent`) or of reports (`reports`).",
    schema: { type: "string" },
  },
  RateLimit: {
    description:
      "What is left of each policy (`r`), and the seconds until it is full again (`t`). The policy `day` is absent while the number of units left is not known. `GET /v1/usage` always has it. With status 429 it has the limit that was met.",
    schema: { type: "string" },
  },
  "Idempotent-Replayed": {
    description: "`true`: a request with this `Idempotency-Key` got this answer before, and nothing was done now.",
    schema: { type: "string", enum: ["true"] },
  },
  Location: { description: "The path of the job.", schema: { type: "string" } },
  ETag: { description: "The state of the results. It changes when there are more.", schema: { type: "string" } },
  "Accept-Ranges": { description: "`bytes`: a download can be continued.", schema: { type: "string" } },
  "Content-Range": {
    description: "Which bytes of the results these are, and how many there are in all.",
    schema: { type: "string" },
  },
  "Content-Disposition": { description: "A name for the file.", schema: { type: "string" } },
  Warning: {
    description: "The account has not accepted new terms yet. `Link` leads to them.",
    schema: { type: "string" },
  },
  Link: { description: 'The terms, with `rel="terms-of-service"`.', schema: { type: "string" } },
} as const

/** Headers of responses to a key: its limits, if it has any, and new terms, if there are any. */
export const KEY_HEADERS = ["RateLimit-Policy", "RateLimit", "Warning", "Link"]

/** The same of a request that an `Idempotency-Key` makes one that can be sent again. */
export const ONCE_HEADERS = [...KEY_HEADERS, REPLAYED_HEADER]

/** The header of a request that can be sent again. */
export const IDEMPOTENCY_KEY: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: `A text of your own, new for each request, such as a UUID. For ${LIMITS.idempotencyHours} hours the same request with the same key gets the first answer, and nothing is done twice. An upload is forgotten with its job.`,
  schema: { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKeyLengthMax },
}

/** References to `X-Request-Id`, to `more` and to the headers of these problems. */
export function headerReferences(codes: readonly ProblemCode[] = [], more: readonly string[] = []): JsonSchema {
  const names = new Set(["X-Request-Id", ...more, ...codes.flatMap(code => Object.keys(problemHeaders(code)))])
  return Object.fromEntries([...names].map(name => [name, { $ref: `#/components/headers/${name}` }]))
}
