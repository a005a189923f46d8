import type { Random } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"

const MARK_BYTES = 16

/** A mark for the folder with the files of jobs, which no other installation has: hexadecimal digits. */
export const newMark = (random: Random): string => Buffer.from(random(MARK_BYTES)).toString("hex")

/** The empty file in that folder that says which installation it belongs to. */
export const markFileName = (mark: string): string => `installation.${mark}`

/** A file that says that a server is about to mark the folder. */
export const claimFileName = (mark: string): string => `${markFileName(mark)}.new`

/** The mark that a file stands for; null: it stands for none. */
export function toMarkFile(name: string): { readonly mark: string; readonly isClaim: boolean } | null {
  const [, mark, claim] = /^installation\.([0-9a-f]+)(\.new)?$/.exec(name) ?? []
  return mark === undefined ? null : { mark, isClaim: claim !== undefined }
}

/** The mark of the folder with the files of jobs, as the database knows it; null: no server has used one yet. */
export async function readStoredMark(store: Store): Promise<string | null> {
  return (await store.one<{ mark: string }>("SELECT mark FROM jobs_folder WHERE singleton = 1"))?.mark ?? null
}

/** Stores a mark, unless there is one. Gives what is stored then. */
export async function storeMark(store: Store, mark: string): Promise<string | null> {
  await store.run("INSERT INTO jobs_folder (singleton, mark) VALUES (1, $1) ON CONFLICT (singleton) DO NOTHING", [mark])
  return await readStoredMark(store)
}

/**
 * Whose the folder with the files of jobs is: `own`, or `foreign`, that of another database, whose `mark` it has. `not_shared`: other
 * servers over the same database use another folder, so the files of their jobs are not here. `stored`: the mark that the database knows.
 */
export type JobsFolderState =
  | { readonly kind: "own" }
  | { readonly kind: "foreign"; readonly mark: string; readonly stored: string | null }
  | { readonly kind: "not_shared"; readonly stored: string }

/**
 * Compares the marks among the files of a folder with that of the database. `isShared`: other servers may share the database. Alone, a
 * server takes any folder without a mark, such as a new disk. A folder with a claim of the stored mark is the own one.
 */
export function compareMarks(names: readonly string[], stored: string | null, isShared: boolean): JobsFolderState {
  const found = names.flatMap(name => toMarkFile(name) ?? [])
  if (found.some(({ mark }) => mark === stored)) return { kind: "own" }
  const [others] = found.filter(({ isClaim }) => !isClaim)
  if (others !== undefined) return { kind: "foreign", mark: others.mark, stored }
  return isShared && stored !== null ? { kind: "not_shared", stored } : { kind: "own" }
}

/** Why the folder at `path` cannot be used, and the command that makes it usable. */
export function describeWrongFolder(
  state: Exclude<JobsFolderState, { readonly kind: "own" }>,
  path: string,
): { readonly reason: string; readonly remedy: string } {
  const fileOf = (mark: string): string => `${path}/${markFileName(mark)}`
  if (state.kind === "not_shared")
    return {
      reason: `The folder has no file ${markFileName(state.stored)}: other servers over this database use another one.`,
      remedy: `Set MAILKIND_JOBS_DIR to one folder that all servers share, and restart. If that one is lost, run \`touch ${fileOf(state.stored)}\`.`,
    }
  const { mark, stored } = state
  const command = stored === null ? `rm ${fileOf(mark)}` : `mv ${fileOf(mark)} ${fileOf(stored)}`
  return {
    reason: `The folder has the file ${markFileName(mark)} of another database. The id of this one is ${stored ?? "not there yet"}.`,
    remedy: `If no other server uses the folder, as after a restore, run \`${command}\`. Within a minute lists can be uploaded, and those of the other database are deleted. Else set MAILKIND_JOBS_DIR to another folder, and restart.`,
  }
}
