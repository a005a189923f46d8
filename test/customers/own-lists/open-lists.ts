import { parseAddressOrDomain, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { type OwnListEntry, parseEntry } from "../../../src/customers/own-lists/entries.ts"
import {
  OWN_LIST_CACHE_BOUNDS,
  OwnListCache,
  type OwnListCacheBounds,
  type OwnListLookup,
} from "../../../src/customers/own-lists/own-list-cache.ts"
import { addEntries, type ListOwner, type OwnList, removeEntries } from "../../../src/customers/own-lists/own-lists.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { newAccount, tempLog, tempPlace, tempStore } from "../temp-store.ts"

function entries(texts: readonly string[]): OwnListEntry[] {
  return texts.map(text => parseEntry(text, parseAddressOrDomain)).filter(entry => entry !== null)
}

/** Held lists over a real store that counts what it is asked, can hold its answers back, and can fail. */
export async function openLists({ path = tempPlace(), bounds = {} as Partial<OwnListCacheBounds> } = {}) {
  const store = await tempStore(path)
  const outside = { requests: [] as unknown[], gate: Promise.resolve(), isBroken: false }
  const watched: Store = {
    ...store,
    all: async <Row>(sql: string, params: Parameters<Store["all"]>[1] = []) => {
      outside.requests.push(params[0])
      if (outside.isBroken) throw new Error("the store is broken")
      const rows = await store.all<Row>(sql, params)
      await outside.gate
      return rows
    },
  }
  const lists = new OwnListCache(watched, { ...OWN_LIST_CACHE_BOUNDS, ...bounds })
  const log: AttributedLog = { ...tempLog(store), notify: changes => lists.applyChanges(changes) }
  const add = (owner: ListOwner, list: OwnList, ...texts: string[]) => addEntries(log, owner, list, entries(texts))
  const remove = (owner: ListOwner, list: OwnList, ...texts: string[]) =>
    removeEntries(log, owner, list, entries(texts))
  const ask = async (accountId: string, text: string) => await askNow(accountId, text)
  const askNow = (accountId: string, text: string): OwnListLookup | Promise<OwnListLookup> => {
    const subject = parseSubject(text.includes("@") ? "email" : "domain", text, "")
    if (subject.domain === null) throw new Error(`${text} names nothing`)
    return lists.lookup(accountId, subject)
  }
  return {
    store,
    outside,
    lists,
    log,
    add,
    remove,
    ask,
    isHeld: (id: string) => !(askNow(id, "x.com") instanceof Promise),
  }
}

/** The same with an account. */
export async function openListsOfJane(options: Parameters<typeof openLists>[0] = {}) {
  const harness = await openLists(options)
  return { ...harness, jane: { accountId: await newAccount(harness.log) } }
}
