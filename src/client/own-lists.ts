import { isRecord } from "./answers.ts"
import type { OwnListAddition, OwnListEntriesBody, OwnListEntry, OwnListPage, OwnListRemoval } from "./api-types.ts"
import type { CallOptions, ClientSettings, OnceOptions } from "./options.ts"
import type { Reply } from "./outcome.ts"
import { type ClientRequests, mapped, queryText, replyTo, type SingleCall, singleRequest } from "./requests.ts"

/** An entry to add: `acme.com`, `*.acme.com` or `jane@acme.com`, alone or with a note. */
export type OwnListItem = string | OwnListEntriesBody["entries"][number]

/** Which entries a page has: at most `limit`, after `after`, which is the `next` of the page before. */
export type OwnListPlace = { readonly after?: string | null | undefined; readonly limit?: number | undefined }

/** The block list or the allow list of the account. Up to 1 000 entries are changed by one call; bad ones are told in its results. */
export type MailkindList = {
  readonly page: (place?: OwnListPlace, options?: CallOptions) => Promise<Reply<OwnListPage>>
  /** The entry with exactly this value; null: it is not on the list. */
  readonly find: (entry: string, options?: CallOptions) => Promise<Reply<OwnListEntry | null>>
  readonly add: (entries: readonly OwnListItem[], options?: OnceOptions) => Promise<Reply<OwnListAddition>>
  readonly remove: (entries: readonly string[], options?: CallOptions) => Promise<Reply<OwnListRemoval>>
}

type ListDeps = { readonly settings: ClientSettings; readonly ask: ClientRequests }

/** Both lists. */
export const createOwnLists = (deps: ListDeps) => ({
  blockList: createOwnList(deps, "/v1/block-list"),
  allowList: createOwnList(deps, "/v1/allow-list"),
})

function createOwnList({ settings, ask }: ListDeps, path: "/v1/block-list" | "/v1/allow-list"): MailkindList {
  const send = <R>(call: SingleCall<R>, options: CallOptions): Promise<Reply<R>> =>
    replyTo(ask, singleRequest(settings, call, options))
  const page = (query: Readonly<Record<string, string | number | undefined>>, options: CallOptions = {}) =>
    send({ path: path + queryText(query), body: null, isAnswer: isPage }, options)
  return Object.freeze({
    page: ({ after, limit }: OwnListPlace = {}, options?: CallOptions) =>
      page({ after: after ?? undefined, limit }, options),
    find: async (entry: string, options?: CallOptions) =>
      mapped(await page({ entry }, options), ({ entries }) => entries[0] ?? null),
    add: async (entries: readonly OwnListItem[], { idempotencyKey, ...options }: OnceOptions = {}) =>
      send({ path, body: JSON.stringify({ entries }), idempotencyKey, isAnswer: isChange<OwnListAddition> }, options),
    remove: (entries: readonly string[], options: CallOptions = {}) =>
      send({ path, method: "DELETE", body: JSON.stringify({ entries }), isAnswer: isChange<OwnListRemoval> }, options),
  })
}

const isPage = (value: unknown): value is OwnListPage => isRecord(value) && Array.isArray(value["entries"])
const isChange = <R>(value: unknown): value is R & object => isRecord(value) && Array.isArray(value["results"])
