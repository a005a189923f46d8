import { Elysia } from "elysia"
import { LIMITS } from "../../../../contract/limits.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { type ListOwner, listEntries, type OwnList } from "../../../../customers/own-lists/own-lists.ts"
import type { ChangeLog } from "../../../../customers/store/change-log/change-log.ts"
import { queryParameters } from "../../../request/request-url.ts"
import { Problem } from "../../../response/problem.ts"
import type { SubmittedForm } from "../../form-body.ts"
import type { Guards, SignedInUser } from "../../guards.ts"
import type { PageResponses } from "../../page-responses.ts"
import { applyListChange, type ListChange, parseImportedChange, parsePastedChange } from "./own-list-change.ts"
import { OwnListPage } from "./own-list-page.tsx"
import {
  ownListFlashMessage,
  ownListPath,
  parseListName,
  parseOwnListQuery,
  readOwnListPage,
} from "./own-list-query.ts"

/** @jsxImportSource preact */
/** What the pages about the account's lists are built from. */
type OwnListRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly changes: ChangeLog
}

/** The page of the account's block and allow lists, what its forms do, and each list as a file. */
export function ownListPageRoutes(needs: OwnListRoutesDeps) {
  const { pages, enter, changes } = needs
  const changed = createListFormHandler(needs)
  return new Elysia({ normalize: false })
    .get(ROUTES.ownLists.path, ({ request }) =>
      enter.requireAccount.page(request, async visitor => {
        const sent = queryParameters(request.url)
        const looked = parseOwnListQuery(name => sent.get(name) ?? "")
        const view = await readOwnListPage(changes.store, ownerOf(visitor), looked)
        return <OwnListPage user={visitor} data={view} flash={ownListFlashMessage(request.url)} rejected={null} />
      }),
    )
    .get(ROUTES.ownListFile.path, ({ request, params }) =>
      enter.requireAccount.page(request, async visitor => {
        const list = params.list.endsWith(".txt") ? parseListName(params.list.slice(0, -".txt".length)) : null
        if (list === null) throw new Problem("not_found", "There is no such list.")
        const text = await exportOwnList(changes, ownerOf(visitor), list)
        return pages.download(text, request, {
          fileName: `mailkind-${list}.txt`,
          mediaType: "text/plain; charset=utf-8",
        })
      }),
    )
    .post(ROUTES.postListEntries.path, ({ request }) => changed(request, parsePastedChange), { parse: "none" })
    .post(ROUTES.postListImport.path, ({ request }) => changed(request, parseImportedChange), { parse: "none" })
}

/** Makes the change that a form wants and shows the list again; what is refused is shown with what is to be mended. */
function createListFormHandler({ pages, enter, changes }: OwnListRoutesDeps) {
  const changed = async (
    request: Request,
    visitor: SignedInUser,
    form: SubmittedForm,
    change: ListChange,
  ): Promise<Response> => {
    const outcome = await applyListChange(changes, visitor.account.id, change)
    if (outcome.kind !== "refused") {
      const { kind: done, changedCount, unchangedCount } = outcome
      const counts = { changed: String(changedCount), left: String(unchangedCount) }
      return pages.redirect(ownListPath(parseOwnListQuery(form.text), { done, ...counts }), request)
    }
    const view = await readOwnListPage(changes.store, ownerOf(visitor), { list: change.list, search: "", after: "" })
    const page = <OwnListPage user={visitor} data={view} flash={null} rejected={outcome.rejected} />
    return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
  }
  return (request: Request, read: (form: SubmittedForm) => ListChange | Promise<ListChange>): Promise<Response> =>
    enter.requireAccount.form(
      request,
      async (visitor, form) => await changed(request, visitor, form, await read(form)),
      LIMITS.ownListFormBytesMax,
    )
}

const ownerOf = ({ account }: SignedInUser) => ({ accountId: account.id })

const EXPORT_PAGE_SIZE = 1000

/**
 * A list as a text of an entry a line, under comments that say what it is; to import it is to have the same entries. An
 * address is there as it is kept: as its hash, which no file turns back into the address.
 */
async function exportOwnList({ store, clock }: ChangeLog, owner: ListOwner, list: OwnList): Promise<string> {
  const lines = [
    `# The ${list} list of your account, as of ${new Date(clock()).toISOString()}.`,
    "# sha256:…@domain stands for one address: its SHA-256 is all that is kept of it. Such lines can be imported again.",
  ]
  for (let after = ""; ; ) {
    const page = await listEntries(store, owner, list, after, EXPORT_PAGE_SIZE)
    for (const { storedText } of page) lines.push(storedText)
    const last = page.at(-1)
    if (last === undefined || page.length < EXPORT_PAGE_SIZE) return `${lines.join("\n")}\n`
    after = last.storedText
  }
}
