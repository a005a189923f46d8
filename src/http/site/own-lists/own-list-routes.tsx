/** @jsxImportSource preact */
import { createTimedPause } from "../../../base/concurrency.ts"
import { formatCsvRecord } from "../../../base/csv.ts"
import { isoInstant } from "../../../base/time.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { guardedCell } from "../../../customers/own-lists/entry-table.ts"
import {
  type DatedOwnListEntry,
  type ListOwner,
  listEntries,
  type OwnList,
} from "../../../customers/own-lists/own-lists.ts"
import type { RateLimiter } from "../../../customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../../customers/quota/rate/rate-subject.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import type { Exchange } from "../../exchange.ts"
import { pathOf, queryParameters } from "../../request/request-url.ts"
import { Problem, rateLimited } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import type { SubmittedForm } from "../form-body.ts"
import type { SignedInUser } from "../guards.ts"
import { queryParameter } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import {
  applyListChange,
  type ListChangeText,
  parseListChange,
  type RejectedListChange,
  readImportedText,
  readTypedText,
} from "./own-list-change.ts"
import { OwnListPage } from "./own-list-page.tsx"
import {
  ownListFlashMessage,
  ownListPath,
  parseListName,
  parseOwnListQuery,
  readOwnListPage,
} from "./own-list-query.ts"
import { ACCOUNT_LISTS, OPERATOR_LISTS, type OwnListScope } from "./own-list-scope.tsx"

/** The block and allow lists of an account and of the operator. */
export function ownListPageRoutes(site: SiteContext) {
  const own = ownListPages(site, ACCOUNT_LISTS)
  const operators = ownListPages(site, OPERATOR_LISTS)
  return handlers({
    ownLists: own.page,
    ownListFile: own.file,
    ownListTable: own.table,
    postListEntries: own.entries,
    postListImport: own.import,
    adminLists: operators.page,
    adminListFile: operators.file,
    adminListTable: operators.table,
    postAdminListEntries: operators.entries,
    postAdminListImport: operators.import,
  })
}

/** The lists of one owner: the page, its forms, and each list as a file. */
function ownListPages(site: SiteContext, scope: OwnListScope) {
  const { pages, guards, changes } = site
  const { ownerOf } = scope
  const guard = guards[scope.guard]
  const handleListForm = createListFormHandler(site, scope)
  const fileOf =
    (nameIn: (exchange: Exchange) => string, { ending, mediaType }: FileKind, write: WriteList) =>
    (exchange: Exchange) =>
      guard.page(exchange, async user => {
        const list = parseListName(nameIn(exchange))
        if (list === null) throw new Problem("not_found", "There is no such list.")
        const text = write(list, await allEntries(changes, ownerOf(user), list))
        return pages.download(text, exchange, { fileName: `mailkind-${list}.${ending}`, mediaType })
      })
  return {
    page: (exchange: Exchange) =>
      guard.page(exchange, async user => {
        const parameters = queryParameters(exchange.request.url)
        const query = parseOwnListQuery(name => parameters.get(name) ?? "")
        const data = await readOwnListPage(changes.store, ownerOf(user), query)
        return (
          <OwnListPage
            scope={scope}
            user={user}
            data={data}
            flash={ownListFlashMessage(exchange.request.url)}
            rejected={null}
          />
        )
      }),
    file: fileOf(
      ({ request }) => /\/([^/]*)\.txt$/.exec(pathOf(request))?.[1] ?? "",
      { ending: "txt", mediaType: "text/plain; charset=utf-8" },
      (list, rows) => ownListText(list, rows, scope, changes.clock()),
    ),
    table: fileOf(
      ({ request }) => queryParameter(request.url, "list"),
      { ending: "csv", mediaType: "text/csv; charset=utf-8" },
      (_list, rows) => ownListCsv(rows),
    ),
    entries: (exchange: Exchange) => handleListForm(exchange, readTypedText),
    import: (exchange: Exchange) => handleListForm(exchange, readImportedText),
  }
}

type FileKind = { readonly ending: string; readonly mediaType: string }
type WriteList = (list: OwnList, rows: readonly DatedOwnListEntry[]) => string

/** Builds the handler of all forms. It applies the change and redirects to the list, or displays the rejected form again. */
function createListFormHandler(site: SiteContext, scope: OwnListScope) {
  const { pages, guards, changes, rates, loadShedder, stopwatch } = site
  const handle = async (exchange: Exchange, user: SignedInUser, form: SubmittedForm, sent: ListChangeText) => {
    const owner = scope.ownerOf(user)
    const query = parseOwnListQuery(form.text)
    const rejectedPage = async (rejected: RejectedListChange) => {
      const data = await readOwnListPage(changes.store, owner, query)
      return <OwnListPage scope={scope} user={user} data={data} flash={null} rejected={rejected} />
    }
    const isLong = (sent.text?.length ?? 0) > LIMITS.ownListShortTextMax
    const refused = isLong ? importRefusal(rates, user.account.id) : null
    if (refused !== null) {
      const page = await rejectedPage({ ...sent, message: refused.detail, faults: [], faultCount: 0, field: null })
      return pages.renderProblem(page, exchange, refused)
    }
    const pause = createTimedPause(loadShedder.nextTick, stopwatch)
    const target = { changes: scope.changesOf(site, user), owner }
    const result = await applyListChange(target, await parseListChange(sent, pause), pause)
    if (result.kind === "refused") return pages.renderInvalid(await rejectedPage(result.rejected), exchange)
    const counts = { changed: String(result.changedCount), left: String(result.unchangedCount) }
    return pages.redirect(ownListPath(scope, query, { done: result.kind, ...counts }), exchange)
  }
  return (exchange: Exchange, readText: (form: SubmittedForm) => ListChangeText): Promise<Response> =>
    guards[scope.guard].form(
      exchange,
      async (user, form) => await handle(exchange, user, form, readText(form)),
      LIMITS.ownListFormBytesMax,
    )
}

const IMPORT_RATE = {
  perSecond: LIMITS.ownListImportsPerSecond,
  burst: LIMITS.ownListImportsBurst,
  isBurstWhole: true,
} as const

/** Limits the rate, since a long list takes half a second of processor time. Null: the change is admitted. */
function importRefusal(rates: RateLimiter, accountId: string): Problem | null {
  const { waitS } = rates.admit(rateSubject("ownListImport", accountId), IMPORT_RATE)
  return waitS === 0 ? null : rateLimited(TOO_MANY_IMPORTS, waitS, LIMITS.ownListImportsBurst)
}

const TOO_MANY_IMPORTS = "You sent too many long changes of your lists at once. Wait a moment and send it again."

const EXPORT_PAGE_SIZE = 1000

/**
 * A list as text: comments, then one entry a line. Importing the text restores the same entries. Addresses are exported as they
 * are stored, as hashes (DECISIONS 10).
 */
const ownListText = (
  list: OwnList,
  rows: readonly DatedOwnListEntry[],
  { ownerLabel }: OwnListScope,
  nowMs: number,
): string =>
  [
    `# The ${list} list of ${ownerLabel}, as of ${isoInstant(nowMs)}.`,
    "# sha256:…@domain is one address. Only its SHA-256 is stored. You can import such lines again.",
    ...rows.map(({ storedText }) => storedText),
    "",
  ].join("\n")

/** All entries of a list, sorted by stored form. */
async function allEntries({ store }: Pick<ChangeLog, "store">, owner: ListOwner, list: OwnList) {
  const entries: DatedOwnListEntry[] = []
  for (;;) {
    const page = await listEntries(store, owner, list, entries.at(-1)?.storedText ?? "", EXPORT_PAGE_SIZE)
    entries.push(...page)
    if (page.length < EXPORT_PAGE_SIZE) return entries
  }
}

/** A list as a CSV file (RFC 4180). Importing it restores the entries with their notes. No cell is a formula for a spreadsheet. */
function ownListCsv(entries: readonly DatedOwnListEntry[]): string {
  const rows = entries.map(({ storedText, note, shownAs, addedAtMs }) =>
    [storedText, note ?? "", shownAs ?? "", isoInstant(addedAtMs)].map(guardedCell),
  )
  return [["entry", "note", "shown_as", "added_at"], ...rows]
    .map(cells => `${formatCsvRecord(cells, ",")}\r\n`)
    .join("")
}
