import type { Mailkind } from "../client/client.ts"
import type { Reply } from "../client/outcome.ts"
import type { MailkindList } from "../client/own-lists.ts"
import { LIMITS } from "../contract/limits.ts"
import type { LabelledEntry } from "../customers/own-lists/entries.ts"
import {
  addEntries,
  type DatedOwnListEntry,
  type ListOwner,
  listEntries,
  OPERATOR,
  type OwnList,
  removeEntries,
} from "../customers/own-lists/own-lists.ts"
import { type CustomerCommandDeps, namedAccount } from "./account/accounts.ts"
import { CommandError } from "./output.ts"
import { replyFailure } from "./server.ts"

/** An entry as it was written, and what it says. */
export type NamedEntry = { readonly text: string; readonly entry: LabelledEntry }

/** How many entries a change has changed, and how many were already so. */
type EntryCounts = { readonly changed: number; readonly unchanged: number }

/** An entry as the commands print it. */
type PrintedEntry = {
  readonly entry: string
  readonly kind: string
  readonly domain: string
  readonly added_at: string
}

/** A list that the commands read and change. */
export type ListPlace = {
  /** The list in words, and in JSON. */
  readonly whose: string
  readonly told: Readonly<Record<string, string | null>>
  readonly add: (entries: readonly NamedEntry[]) => Promise<EntryCounts>
  readonly remove: (entries: readonly NamedEntry[]) => Promise<EntryCounts>
  readonly entries: () => Promise<readonly PrintedEntry[]>
}

const PAGE_SIZE = 500

/** A list in the database of this machine. `account` null: the operator's. */
export async function storedListPlace(
  customers: CustomerCommandDeps,
  list: OwnList,
  account: string | null,
): Promise<ListPlace> {
  const { changes } = customers
  const found = account === null ? null : await namedAccount(customers, account)
  const owner: ListOwner = found === null ? OPERATOR : { accountId: found.id }
  return {
    whose: found === null ? `the operator's ${list} list` : `the ${list} list of ${found.email}`,
    told: { list, account: found?.email ?? null },
    add: async entries => {
      const addition = await addEntries(changes, owner, list, entriesOf(entries))
      if (addition.kind !== "added") throw new CommandError(ADD_REFUSALS[addition.kind])
      return { changed: addition.addedCount, unchanged: addition.presentCount }
    },
    remove: async entries => {
      const { removedCount, absentCount } = await removeEntries(changes, owner, list, entriesOf(entries))
      return { changed: removedCount, unchanged: absentCount }
    },
    entries: async () => {
      const entries: DatedOwnListEntry[] = []
      for (;;) {
        const page = await listEntries(changes.store, owner, list, entries.at(-1)?.storedText ?? "", PAGE_SIZE)
        entries.push(...page)
        if (page.length < PAGE_SIZE) return entries.map(printedEntry)
      }
    },
  }
}

const entriesOf = (sent: readonly NamedEntry[]): readonly LabelledEntry[] => sent.map(({ entry }) => entry)

const printedEntry = ({ storedText, kind, domain, addedAtMs }: DatedOwnListEntry): PrintedEntry => ({
  ...{ entry: storedText, kind, domain, added_at: new Date(addedAtMs).toISOString() },
})

const ADD_REFUSALS = {
  too_many: `Nothing was added. Both lists together can have ${LIMITS.ownListEntriesMax} entries.`,
  unknown_account: "The account was deleted a moment ago.",
} as const

/** A list of the account whose key the client has. */
export function serverListPlace(client: Mailkind, url: string, list: OwnList): ListPlace {
  const own = list === "block" ? client.blockList : client.allowList
  return {
    whose: `your ${list} list at ${url}`,
    told: { list, server: url },
    add: entries =>
      inChunks(entries, async texts => {
        const { added, present } = resultOf(await own.add(texts))
        return { changed: added, unchanged: present }
      }),
    remove: entries =>
      inChunks(entries, async texts => {
        const { removed, absent } = resultOf(await own.remove(texts))
        return { changed: removed, unchanged: absent }
      }),
    entries: () => allOf(own),
  }
}

function resultOf<R>(reply: Reply<R>): R {
  if (reply.outcome === "answered") return reply.result
  throw replyFailure(reply)
}

/** Sends the entries in requests that are as long as the API accepts. If one fails, the requests before it stay done, and the error says how many. */
async function inChunks(
  entries: readonly NamedEntry[],
  send: (texts: readonly string[]) => Promise<EntryCounts>,
): Promise<EntryCounts> {
  // Of equal entries only one is counted, as everywhere in the commands.
  const texts = [...new Map(entries.map(({ text, entry }) => [entry.storedText, text])).values()]
  let [changed, unchanged] = [0, 0]
  for (let at = 0; at < texts.length; at += LIMITS.ownListRequestEntriesMax) {
    try {
      const counts = await send(texts.slice(at, at + LIMITS.ownListRequestEntriesMax))
      changed += counts.changed
      unchanged += counts.unchanged
    } catch (error) {
      if (at === 0 || !(error instanceof CommandError)) throw error
      throw new CommandError(`${error.message} The first ${at} entries are done.`)
    }
  }
  return { changed, unchanged }
}

async function allOf(own: MailkindList): Promise<readonly PrintedEntry[]> {
  const entries: PrintedEntry[] = []
  for (let after: string | null = ""; after !== null; ) {
    const page: Awaited<ReturnType<MailkindList["page"]>> = await own.page({
      after,
      limit: LIMITS.ownListPageEntriesMax,
    })
    const { entries: some, next } = resultOf(page)
    for (const { entry, kind, domain, added_at } of some) entries.push({ entry, kind, domain, added_at })
    after = next
  }
  return entries
}
