import { CATEGORY_NAMES } from "../../../contract/categories.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_NAMES, RECOMMENDATIONS } from "../../../contract/policies.ts"
import { API_PROBLEM_CODES } from "../../../contract/problems.ts"
import { REASON_NAMES } from "../../../contract/reasons.ts"
import SOURCE from "./clients/mailkind.py" with { type: "text" }
import { pythonTypes } from "./python-types.ts"

/** What the contract says, by the names that the client has for it. */
const VALUES: Readonly<Record<string, readonly string[] | number>> = {
  CATEGORIES: CATEGORY_NAMES,
  RECOMMENDATIONS,
  POLICIES: POLICY_NAMES,
  REASONS: REASON_NAMES,
  PROBLEM_CODES: API_PROBLEM_CODES,
  BATCH_ITEMS_MAX: LIMITS.batchItemsMax,
  BATCH_ITEM_LENGTH_MAX: LIMITS.batchItemLengthMax,
  BATCH_BODY_BYTES_MAX: LIMITS.batchBodyBytesMax,
}

/** What stands in the source for the types of verdicts. */
const TYPES_PATTERN = /^# The server writes the types of its verdicts here\.$[\s\S]*?^# Until here\.\n/m

/** The client for Python as a server sends it: with its own address (null: none), and with the values and the types of the contract. */
export function pythonClient(baseUrl: string | null): string {
  const filled = Object.entries(VALUES).reduce(
    (text, [name, value]) =>
      text.replace(
        new RegExp(`^(${name}(?:: [^=]+)?) = (?:\\(\\)|0)$`, "m"),
        (_, start) => `${start} = ${literal(value)}`,
      ),
    SOURCE,
  )
  const typed = filled.replace(TYPES_PATTERN, pythonTypes)
  return typed.replace(/^SERVER_URL = .*$/m, () => `SERVER_URL = ${JSON.stringify(baseUrl ?? "")}`)
}

/** A value in Python: texts a line each. */
const literal = (value: readonly string[] | number): string =>
  typeof value === "number" ? String(value) : `(\n${value.map(each => `    ${JSON.stringify(each)},\n`).join("")})`
