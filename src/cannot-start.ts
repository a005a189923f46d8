import { STORE_FAULTS, StoreFault } from "./customers/store/store-fault.ts"
import { NotToBePassedOn } from "./supply/not-to-be-passed-on.ts"

/** Why a part could not be built, and what to do about it. */
export class CannotStart extends Error {
  override readonly name = "CannotStart"
}

const { unwritable, full, failed } = STORE_FAULTS

/** What an operator does about files that the system refuses, by its own codes: the same as about those of the database. */
const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", unwritable.remedy],
  ["EPERM", unwritable.remedy],
  ["EROFS", unwritable.remedy],
  ["ENOTDIR", unwritable.remedy],
  ["EISDIR", unwritable.remedy],
  ["ENOSPC", full.remedy],
  ["EDQUOT", full.remedy],
  ["EIO", failed.remedy],
])

/** What an operator can mend, and how, in words; null: the error is our fault, and shows where. */
export function remedyOf(error: unknown): string | null {
  if (error instanceof StoreFault) return `${error.message.replace(/\.?$/, ".")} ${error.remedy}`
  if (error instanceof CannotStart || error instanceof NotToBePassedOn) return error.message
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return null
  const remedy = REMEDIES.get(error.code)
  return remedy === undefined ? null : `${error.message}. ${remedy}`
}
