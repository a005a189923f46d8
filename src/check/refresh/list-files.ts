import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { errorCode, isSystemError } from "../../base/errors.ts"
import { parseJson } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"
import type { Folder } from "./refresh-state.ts"

/** A file of the lists in use, with its bytes in memory, which nothing on the disk can change. */
export type PackFile = { readonly name: string; readonly bytes: Uint8Array }

/** A file that is no longer what is in memory, and why in a sentence. */
export type ChangedFile = { readonly file: PackFile; readonly why: string }

/** The files that differ from their copy in memory, cannot be read, or are gone. It reads them piece by piece, and keeps nothing of them. */
export async function changedFiles(folder: Folder, files: readonly PackFile[]): Promise<readonly ChangedFile[]> {
  const changed: ChangedFile[] = []
  for (const file of files) {
    const why = await differenceOf(folder, file)
    if (why !== null) changed.push({ file, why })
  }
  return changed
}

async function differenceOf(folder: Folder, { name, bytes }: PackFile): Promise<string | null> {
  try {
    return (await folder.isSame(name, bytes)) ? null : "It is gone, or not what was read from it."
  } catch (error) {
    if (isSystemError(error)) return `It cannot be read (${errorCode(error)}).`
    throw error
  }
}

/** The file in the folder of refreshed lists that tells every process, and the doctor, of the last damage. */
export const DAMAGE_FILE = "damage.json"

const ListsDamageSchema = Type.Object({
  noticed_at_ms: Type.Integer({ minimum: 0 }),
  /** The name of the file that was damaged. */
  file: Type.String(),
  /** Whether it is whole again. */
  is_replaced: Type.Boolean(),
})

/** A damage of files of refreshed lists. */
export type ListsDamage = Static<typeof ListsDamageSchema>

/** How long a damage that was mended is told: a disk that damages one file may damage others. */
const DAMAGE_TOLD_MS = 7 * DAY_MS

/** Whether a damage is still told. */
export const isTold = ({ noticed_at_ms, is_replaced }: ListsDamage, nowMs: number): boolean =>
  !is_replaced || Math.abs(nowMs - noticed_at_ms) < DAMAGE_TOLD_MS

/** The last damage; null: none is known. */
export async function readDamage(folder: Folder): Promise<ListsDamage | null> {
  const damage = parseJson(new TextDecoder().decode((await folder.read(DAMAGE_FILE)) ?? undefined))
  return Value.Check(ListsDamageSchema, damage) ? damage : null
}

/** Tells every process of a damage. */
export const writeDamage = (folder: Folder, damage: ListsDamage): Promise<void> =>
  folder.writeAtomic(DAMAGE_FILE, `${JSON.stringify(damage)}\n`)
