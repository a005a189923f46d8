import { StartupError } from "../base/errors.ts"
import { asSentence } from "../base/text.ts"
import { READ_ONLY_REMEDY, STORE_ERRORS, StoreError } from "../customers/store/core/store-error.ts"
import type { System } from "../system/system.ts"

const { unwritable, full, failed } = STORE_ERRORS

/** Remedies for what the system refuses, by error code. */
export const SYSTEM_ERROR_REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", unwritable.remedy],
  ["EPERM", unwritable.remedy],
  ["EROFS", READ_ONLY_REMEDY],
  ["ENOTDIR", unwritable.remedy],
  ["EISDIR", unwritable.remedy],
  ["ENOSPC", full.remedy],
  ["EDQUOT", full.remedy],
  ["EIO", failed.remedy],
  ["EMFILE", "Raise the limit of open files of this service."],
  ["ENFILE", "Raise the limit of open files of this host (fs.file-max)."],
])

/** The message for an error that the operator can fix, with what the host shows of it; `null` means that the error is a fault of ours. */
export function operatorMessage(error: unknown, { hostState }: Pick<System, "hostState">): string | null {
  if (error instanceof StartupError) return error.message
  const sentences = (codes: string, place: string, message: string, remedy: string): string =>
    [message, hostState(codes, place), remedy]
      .flatMap(text => text ?? [])
      .map(asSentence)
      .join(" ")
  if (error instanceof StoreError)
    return sentences(`${error.code} ${error.reason}`, error.location, error.message, error.remedy)
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return null
  const remedy = SYSTEM_ERROR_REMEDIES.get(error.code)
  const place = "path" in error ? String(error.path) : ""
  const message = error.message.includes(place) ? error.message : `${place}: ${error.message}`
  return remedy === undefined ? null : sentences(String(error.code), place, message, remedy)
}
