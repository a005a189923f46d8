import { STORE_ERRORS, StoreError } from "../customers/store/core/store-error.ts"
import { LicenceError } from "../licences/licence-policy.ts"

/** Why a part could not be built, and what to do about it. */
export class StartupError extends Error {
  override readonly name = "CannotStart"
}

const { unwritable, full, failed } = STORE_ERRORS

/** What an operator does about files that the system refuses, by its own codes: the same as about those of the database. */
const SYSTEM_ERROR_REMEDIES: ReadonlyMap<unknown, string> = new Map([
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
export function operatorMessage(error: unknown): string | null {
  if (error instanceof StoreError) return `${error.message.replace(/\.?$/, ".")} ${error.remedy}`
  if (error instanceof StartupError || error instanceof LicenceError) return error.message
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return null
  const remedy = SYSTEM_ERROR_REMEDIES.get(error.code)
  return remedy === undefined ? null : `${error.message}. ${remedy}`
}
