import { join } from "node:path"

const GUIDE_PAGE = join(import.meta.dir, "../../src/http/site/docs/pages/operation.md")

/** The rows of the guide's table of memory: for so many workers, what they take at rest, and what they need. */
export async function memoryTable(): Promise<
  ReadonlyMap<number, { readonly idleBytes: number; readonly limitBytes: number }>
> {
  const guide = await Bun.file(GUIDE_PAGE).text()
  const rows = guide.matchAll(/^\| (\d+) +\| +(\d+) MB \|.*\| +(\d+) MiB \|$/gm)
  return new Map(
    [...rows].map(([, workers, idle, limit]) => [
      Number(workers),
      { idleBytes: Number(idle) * 1_000_000, limitBytes: Number(limit) * 1_048_576 },
    ]),
  )
}
