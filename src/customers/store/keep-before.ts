import { readdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { copyDatabase } from "./copy.ts"
import { KNOWN_HEAD } from "./look.ts"
import { headOf, makeTable } from "./migrate.ts"
import type { Store } from "./store.ts"

/** How many copies are kept: those before the latest migrations. */
export const KEPT_BEFORE_MAX = 2

/**
 * Keeps a copy of the database at `path`, which `store` has open, when it is behind and has anything to lose: beside it, named
 * after the migration that comes next. Where another process is faster, its copy is as good. Rejects with a `StoreFault`,
 * and then nothing has been migrated.
 */
export async function keepBefore(store: Store, path: string): Promise<void> {
  await makeTable(store)
  const head = await headOf(store)
  if (head === 0 || head >= KNOWN_HEAD) return
  if ((await store.one("SELECT 1 AS one FROM sqlite_master WHERE name = 'accounts'")) === null) return
  if ((await store.one("SELECT 1 AS one FROM accounts LIMIT 1")) === null) return
  copyDatabase(path, `${path}.before-${head + 1}`, { isNew: false, head })
  removeOld(path)
}

function removeOld(path: string): void {
  const directory = dirname(path)
  const start = `${basename(path)}.before-`
  const numbers = readdirSync(directory)
    .filter(name => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map(name => Number(name.slice(start.length)))
    .sort((a, b) => b - a)
  for (const number of numbers.slice(KEPT_BEFORE_MAX)) rmSync(join(directory, `${start}${number}`), { force: true })
}
