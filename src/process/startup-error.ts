import { StartupError } from "../base/errors.ts"
import { asSentence } from "../base/text.ts"
import { STORE_ERRORS, StoreError } from "../customers/store/core/store-error.ts"

const { unwritable, full, failed } = STORE_ERRORS

/** Remedies for what the system refuses, by error code. */
export const SYSTEM_ERROR_REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", unwritable.remedy],
  ["EPERM", unwritable.remedy],
  ["EROFS", unwritable.remedy],
  ["ENOTDIR", unwritable.remedy],
  ["EISDIR", unwritable.remedy],
  ["ENOSPC", full.remedy],
  ["EDQUOT", full.remedy],
  ["EIO", failed.remedy],
  ["EMFILE", "Raise the limit of open files of this service."],
  ["ENFILE", "Raise the limit of open files of this host (fs.file-max)."],
])

/** The message for an error that the operator can fix; `null` means that the error is a fault of ours. */
export function operatorMessage(error: unknown): string | null {
  if (error instanceof StoreError) return `${asSentence(error.message)} ${error.remedy}`
  if (error instanceof StartupError) return error.message
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return null
  const remedy = SYSTEM_ERROR_REMEDIES.get(error.code)
  return remedy === undefined ? null : `${asSentence(error.message)} ${remedy}`
}
