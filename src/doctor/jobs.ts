import { accessSync, constants, existsSync, readdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { errorCode } from "../base/errors.ts"
import { compareMarks, describeWrongFolder } from "../customers/jobs/jobs-folder.ts"
import { STORE_ERRORS } from "../customers/store/core/store-error.ts"
import { isNoRoom } from "../customers/store/sqlite/database-file.ts"
import { type DiagnosticResult, failed, ok, warning } from "./diagnostics.ts"
import { ownerNote, writeErrorCode } from "./directory.ts"

/** What the database knows of the folder: its mark, null if it has none, and whether other servers may share the database. */
export type StoredFolder = { readonly mark: string | null; readonly isShared: boolean }

/**
 * Checks that files can be written in the folder with the lists of jobs, and that it is the one that the database knows by its mark.
 * `stored`: null where the database cannot be read. It creates a file named after `token` for a moment.
 */
export function diagnoseJobsFolder(path: string, stored: StoredFolder | null, token: string): DiagnosticResult {
  const full = resolve(path)
  const remedy = `Let the user of the server write to ${full}, or set MAILKIND_JOBS_DIR.`
  const isThere = existsSync(full)
  const fault = isThere ? writeErrorCode(join(full, `doctor.${token}`)) : parentErrorCode(full)
  if (fault !== null)
    return failed(
      `A file in ${full} cannot be written (${fault}).${isNoRoom(fault) ? "" : ownerNote(full)} No list can be uploaded.`,
      isNoRoom(fault) ? STORE_ERRORS.full.remedy : remedy,
    )
  const state = stored && compareMarks(isThere ? readdirSync(full) : [], stored.mark, stored.isShared)
  if (state !== null && state.kind !== "own") {
    const wrong = describeWrongFolder(state, full)
    return failed(`No list can be uploaded to ${full}. ${wrong.reason}`, wrong.remedy)
  }
  if (stored?.isShared && stored.mark === null && isThere)
    return warning(
      `No server has used ${full} yet.`,
      "Make sure that all servers over this database share this folder.",
    )
  if (!isThere) return ok(`${full} does not exist. The first list creates it.`)
  return ok(`Files in ${full} can be written.`)
}

function parentErrorCode(full: string): string | null {
  let parent = dirname(full)
  while (!existsSync(parent) && dirname(parent) !== parent) parent = dirname(parent)
  try {
    accessSync(parent, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    return errorCode(error)
  }
}
