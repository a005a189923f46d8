import type { Random } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"

const MARK_BYTES = 16

/** A mark for the folder with the files of jobs, which no other installation has: hexadecimal digits. */
export const newMark = (random: Random): string => Buffer.from(random(MARK_BYTES)).toString("hex")

/** The empty file in that folder that says which installation it belongs to. */
export const markFileName = (mark: string): string => `installation.${mark}`

/** The mark of the folder with the files of jobs, as the database knows it; null: no server has used one yet. */
export async function readStoredMark(store: Store): Promise<string | null> {
  return (await store.one<{ mark: string }>("SELECT mark FROM jobs_folder WHERE singleton = 1"))?.mark ?? null
}

/** Stores a mark, unless there is one. Gives what is stored then. */
export async function storeMark(store: Store, mark: string): Promise<string | null> {
  await store.run("INSERT INTO jobs_folder (singleton, mark) VALUES (1, $1) ON CONFLICT (singleton) DO NOTHING", [mark])
  return await readStoredMark(store)
}
