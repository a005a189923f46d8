import { StoreFault } from "./customers/store/store-fault.ts"

/** Why a part could not be built, and what to do about it. */
export class CannotStart extends Error {
  override readonly name = "CannotStart"
}

/** What an operator can mend, and how, in words; null: the error is our fault, and shows where. */
export function remedyOf(error: unknown): string | null {
  if (error instanceof StoreFault) return `${error.message} ${error.remedy}`
  return error instanceof CannotStart ? error.message : null
}
