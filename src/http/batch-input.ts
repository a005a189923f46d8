import { hasAtMost } from "../contract/character-count.ts"
import { LIMITS } from "../contract/limits.ts"
import { POLICIES, POLICY_DEFAULT, type Policy } from "../contract/policies.ts"
import { FAULTS_MAX, type InputFault, invalidInput, NO_OBJECT, NO_POLICY, Problem } from "./problem.ts"

/** What a batch asks: at least one item, at most as many as a batch has. */
export type BatchInput = { readonly items: readonly string[]; readonly policy: Policy }

/**
 * Reads the body of a batch. Throws `batch_too_large` for too many items, whatever else is wrong, else `invalid_input`
 * with its faults and their places. What stands in an item is no fault of the batch's.
 */
export function batchInput(sent: unknown): BatchInput {
  if (!isObject(sent)) throw invalidInput([NO_OBJECT])
  const { items, policy = POLICY_DEFAULT } = sent
  if (Array.isArray(items) && items.length > LIMITS.batchItemsMax) throw tooManyItems()
  if (areItems(items) && isPolicy(policy)) return { items, policy }
  const faults = [...(isPolicy(policy) ? [] : [POLICY_FAULT]), ...itemFaults(items)]
  throw invalidInput([faults[0] ?? POLICY_FAULT, ...faults.slice(1, FAULTS_MAX)])
}

/** The refusal of a batch with too many items. */
export const tooManyItems = (): Problem =>
  new Problem("batch_too_large", `A batch has at most ${LIMITS.batchItemsMax} items.`, { limit: LIMITS.batchItemsMax })

const isObject = (sent: unknown): sent is { readonly items?: unknown; readonly policy?: unknown } =>
  typeof sent === "object" && sent !== null && !Array.isArray(sent)

const areItems = (items: unknown): items is readonly string[] =>
  Array.isArray(items) && items.length > 0 && items.every(isItem)

const isItem = (item: unknown): item is string => typeof item === "string" && hasAtMost(item, LIMITS.batchItemLengthMax)

const isPolicy = (policy: unknown): policy is Policy => typeof policy === "string" && Object.hasOwn(POLICIES, policy)

const POLICY_FAULT: InputFault = { pointer: "/policy", detail: NO_POLICY }

/** Each item that is none, by its place. */
function itemFaults(items: unknown): readonly InputFault[] {
  if (!Array.isArray(items) || items.length === 0) {
    return [{ pointer: "/items", detail: `\`items\` must be an array of 1 to ${LIMITS.batchItemsMax} strings.` }]
  }
  const detail = `An item must be a string of at most ${LIMITS.batchItemLengthMax} characters.`
  return items.flatMap((item, at) => (isItem(item) ? [] : [{ pointer: `/items/${at}`, detail }]))
}
