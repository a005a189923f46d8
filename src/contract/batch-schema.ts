import { type Static, Type as t } from "@sinclair/typebox"
import { LIMITS } from "./limits.ts"
import { CheckBody, CheckResult } from "./schemas.ts"

/** Body of POST /v1/check/batch. Members that we do not know are ignored. */
export const BatchBody = t.Object(
  {
    items: t.Array(t.String({ maxLength: LIMITS.batchItemLengthMax }), {
      minItems: 1,
      maxItems: LIMITS.batchItemsMax,
      description: "Addresses, domains and website addresses, mixed. An `@` makes an item an address, then a `/` a website address; the rest are domains.",
    }),
    policy: CheckBody.properties.policy,
  },
  { additionalProperties: true, examples: [{ items: ["jane@stripe.com", "gmail.com", "https://www.mit.edu/"], policy: "b2b" }] },
)
export type BatchBody = Static<typeof BatchBody>

/** Answer of POST /v1/check/batch. */
export const BatchResult = t.Object(
  {
    results: t.Array(CheckResult, { description: "A result an item, in the order of the items. Each has the request id of the batch." }),
    took_ms: t.Integer({ description: "The time of the item that took longest; all are checked side by side." }),
    request_id: t.String(),
  },
  { additionalProperties: false },
)
export type BatchResult = Static<typeof BatchResult>
