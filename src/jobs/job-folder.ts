import type { Random } from "../base/outside-world.ts"
import { createStoredMark, readStoredMark } from "../customers/jobs/jobs-folder.ts"
import type { Store } from "../customers/store/core/store.ts"
import { type JobFiles, readFolderMark, writeFolderMark } from "./job-files.ts"

/**
 * Whose the folder with the files of jobs is: `own`, or `foreign`, that of another database. `not_shared`: other servers over the same
 * database use another folder, so the files of their jobs are not here.
 */
export type JobFolderState = "own" | "foreign" | "not_shared"

/**
 * Compares the mark in the folder with that of the database, and makes both if there is none yet. `isShared`: other servers may share
 * the database. Alone, a server marks any folder without a mark, such as a new disk.
 */
export async function checkJobFolder(
  { store, files, random }: { readonly store: Store; readonly files: JobFiles; readonly random: Random },
  isShared: boolean,
): Promise<JobFolderState> {
  const found = await readFolderMark(files)
  const stored = await readStoredMark(store)
  if (stored !== null && found === stored) return "own"
  if (found !== null) return "foreign"
  if (stored !== null && isShared) return "not_shared"
  const mark = stored ?? (await createStoredMark(store, random))
  if (mark !== null) await writeFolderMark(files, mark)
  return "own"
}
