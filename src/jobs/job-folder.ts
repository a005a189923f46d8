import type { Random } from "../base/outside-world.ts"
import { markFileName, newMark, readStoredMark, storeMark } from "../customers/jobs/jobs-folder.ts"
import type { Store } from "../customers/store/core/store.ts"
import { claimFileName, createEmptyFile, type JobFiles, toMarkFile } from "./job-files.ts"

/**
 * Whose the folder with the files of jobs is: `own`, or `foreign`, that of another database. `not_shared`: other servers over the same
 * database use another folder, so the files of their jobs are not here.
 */
export type JobFolderState = "own" | "foreign" | "not_shared"

type FolderDeps = { readonly store: Store; readonly files: JobFiles; readonly random: Random }

/**
 * Compares the mark in the folder with that of the database, and makes both if there is none yet. `isShared`: other servers may share
 * the database. Alone, a server marks any folder without a mark, such as a new disk.
 *
 * Servers may start together, and any of them may end at any point of this. So each claims the folder before it stores a mark. The
 * first mark that is stored wins, and a folder with a claim of that mark is the own one.
 */
export async function checkJobFolder(deps: FolderDeps, isShared: boolean): Promise<JobFolderState> {
  const stored = (await readStoredMark(deps.store)) ?? (await claimFolder(deps))
  if (stored === null) return "foreign"
  const found = (await deps.files.names()).flatMap(name => toMarkFile(name) ?? [])
  const isClaimed = found.some(({ mark }) => mark === stored)
  const isOthers = found.some(({ mark, isClaim }) => mark !== stored && !isClaim)
  const isOwn = isClaimed || !(isOthers || isShared)
  const isMarked = found.some(({ mark, isClaim }) => mark === stored && !isClaim)
  if (isOwn && !isMarked) await createEmptyFile(deps.files, markFileName(stored))
  for (const { mark, isClaim } of found) if (isClaim) await deps.files.remove(claimFileName(mark))
  if (isOwn) return "own"
  return isOthers ? "foreign" : "not_shared"
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
