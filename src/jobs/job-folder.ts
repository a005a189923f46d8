import type { Random } from "../base/outside-world.ts"
import {
  claimFileName,
  compareMarks,
  type JobsFolderState,
  markFileName,
  newMark,
  readStoredMark,
  storeMark,
  toMarkFile,
} from "../customers/jobs/jobs-folder.ts"
import type { Store } from "../customers/store/core/store.ts"
import { createEmptyFile, type JobFiles } from "./job-files.ts"

type FolderDeps = { readonly store: Store; readonly files: JobFiles; readonly random: Random }

/**
 * Finds out whose the folder is, and marks it and the database if neither is marked. `isShared`: other servers may share the database.
 *
 * Servers may start together, and any of them may end at any point of this. So each claims the folder before it stores a mark. The
 * first mark that is stored wins, and a folder with a claim of that mark is the own one.
 */
export async function checkJobFolder(deps: FolderDeps, isShared: boolean): Promise<JobsFolderState> {
  const stored = (await readStoredMark(deps.store)) ?? (await claimFolder(deps))
  const names = await deps.files.names()
  const state = compareMarks(names, stored, isShared)
  if (state.kind === "own" && stored !== null && !names.includes(markFileName(stored)))
    await createEmptyFile(deps.files, markFileName(stored))
  for (const { mark, isClaim } of names.flatMap(name => toMarkFile(name) ?? []))
    if (isClaim && stored !== null) await deps.files.remove(claimFileName(mark))
  return state
}

/** Claims a folder without a mark, and gives the mark that the database has then; null: the folder has the mark of another database. */
async function claimFolder({ store, files, random }: FolderDeps): Promise<string | null> {
  const isMarked = (await files.names()).some(name => toMarkFile(name)?.isClaim === false)
  // Another server over this database may have marked it since the database was read.
  if (isMarked) return await readStoredMark(store)
  const mark = newMark(random)
  await createEmptyFile(files, claimFileName(mark))
  return await storeMark(store, mark)
}
