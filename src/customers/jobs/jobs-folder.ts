import type { Random } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"

/** The file in that folder that says which installation it belongs to: it holds the mark. */
export const MARK_FILE = "installation"

const MARK_BYTES = 16

/** The mark of the folder with the files of jobs, as the database knows it; null: no server has used one yet. */
export async function readStoredMark(store: Store): Promise<string | null> {
  return (await store.one<{ mark: string }>("SELECT mark FROM jobs_folder WHERE singleton = 1"))?.mark ?? null
}

/** Stores a new mark, unless there is one. Gives what is stored then. */
export async function createStoredMark(store: Store, random: Random): Promise<string | null> {
  await store.run("INSERT INTO jobs_folder (singleton, mark) VALUES (1, $1) ON CONFLICT (singleton) DO NOTHING", [
    Buffer.from(random(MARK_BYTES)).toString("hex"),
  ])
  return await readStoredMark(store)
}
