import { type ListOwner, listEntries, type OwnList } from "../../../customers/own-lists/own-lists.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"

const PAGE = 1000

/**
 * A list as a text of an entry a line, under comments that say what it is; to import it is to have the same entries. An
 * address is there as it is kept: as its hash, which no file turns back into the address.
 */
export async function exportedList({ store, clock }: ChangeLog, owner: ListOwner, list: OwnList): Promise<string> {
  const lines = [
    `# The ${list} list of your account, as of ${new Date(clock()).toISOString()}.`,
    "# sha256:…@domain stands for one address: its SHA-256 is all that is kept of it. Such lines can be imported again.",
  ]
  for (let after = ""; ; ) {
    const page = await listEntries(store, owner, list, after, PAGE)
    for (const { kept } of page) lines.push(kept)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return `${lines.join("\n")}\n`
    after = last.kept
  }
}
