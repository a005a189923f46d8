import { accessSync, constants, existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { errorCode } from "../base/errors.ts"
import { markFileName } from "../customers/jobs/jobs-folder.ts"
import { type DiagnosticResult, failed, ok, warning } from "./diagnostics.ts"
import { writeErrorCode } from "./directory.ts"

/**
 * Checks that files can be written in the folder with the lists of jobs, and that it is the one that the database knows by its mark.
 * `mark`: undefined where only this server uses the database, null where no server has used a folder yet. It creates a file named after `token` for a
 * moment.
 */
export function diagnoseJobsFolder(path: string, mark: string | null | undefined, token: string): DiagnosticResult {
  const full = resolve(path)
  const remedy = `Let the user of the server write to ${full}, or set MAILKIND_JOBS_DIR.`
  const isThere = existsSync(full)
  const fault = isThere ? writeErrorCode(join(full, `doctor.${token}`)) : parentErrorCode(full)
  if (fault !== null) return failed(`A file in ${full} cannot be written (${fault}). No list can be uploaded.`, remedy)
  if (typeof mark === "string" && !existsSync(join(full, markFileName(mark))))
    return failed(
      `${full} is not the folder that other servers over this database use for the lists of jobs.`,
      `Set MAILKIND_JOBS_DIR to one folder that all servers share. If that one is lost, create the empty file ${join(full, markFileName(mark))}`,
    )
  if (mark === null && isThere)
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
