/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { LIMITS } from "../../../contract/limits.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { Problem } from "../../problem.ts"
import { queryOf } from "../../query.ts"
import type { Form } from "../form.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { changeList, importedChange, type ListChange, pastedChange } from "./own-list-change.ts"
import { exportedList } from "./own-list-file.ts"
import { OwnListPage } from "./own-list-page.tsx"
import { listDeedWords, listNamed, lookedAt, ownListView, pathOfLooked } from "./own-list-view.ts"

/** What the pages about the account's lists are built from. */
export type OwnListRoutesNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly changes: ChangeLog
}

/** The page of the account's block and allow lists, what its forms do, and each list as a file. */
export function ownListRoutes(needs: OwnListRoutesNeeds) {
  const { pages, enter, changes } = needs
  const changed = changing(needs)
  return new Elysia({ normalize: false })
    .get(ROUTES.ownLists.path, ({ request }) =>
      enter.account.page(request, async visitor => {
        const sent = queryOf(request.url)
        const looked = lookedAt(name => sent.get(name) ?? "")
        const view = await ownListView(changes.store, ownerOf(visitor), looked)
        return <OwnListPage visitor={visitor} view={view} done={listDeedWords(request.url)} refusal={null} />
      }),
    )
    .get(ROUTES.ownListFile.path, ({ request, params }) =>
      enter.account.page(request, async visitor => {
        const list = params.list.endsWith(".txt") ? listNamed(params.list.slice(0, -".txt".length)) : null
        if (list === null) throw new Problem("not_found", "There is no such list.")
        const text = await exportedList(changes, ownerOf(visitor), list)
        return pages.download(text, request, { name: `mailkind-${list}.txt`, mediaType: "text/plain; charset=utf-8" })
      }),
    )
    .post(ROUTES.postListEntries.path, ({ request }) => changed(request, pastedChange), { parse: "none" })
    .post(ROUTES.postListImport.path, ({ request }) => changed(request, importedChange), { parse: "none" })
}

/** Makes the change that a form wants and shows the list again; what is refused is shown with what is to be mended. */
function changing({ pages, enter, changes }: OwnListRoutesNeeds) {
  const changed = async (request: Request, visitor: Visitor, form: Form, change: ListChange): Promise<Response> => {
    const outcome = await changeList(changes, visitor.account.id, change)
    if (outcome.kind !== "refused") {
      const { kind: done, changedCount, leftCount } = outcome
      const counts = { changed: String(changedCount), left: String(leftCount) }
      return pages.goTo(pathOfLooked(lookedAt(form.text), { done, ...counts }), request)
    }
    const view = await ownListView(changes.store, ownerOf(visitor), { list: change.list, search: "", after: "" })
    const page = <OwnListPage visitor={visitor} view={view} done={null} refusal={outcome.refusal} />
    return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
  }
  return (request: Request, read: (form: Form) => ListChange | Promise<ListChange>): Promise<Response> =>
    enter.account.form(
      request,
      async (visitor, form) => await changed(request, visitor, form, await read(form)),
      LIMITS.ownListFormBytesMax,
    )
}

const ownerOf = ({ account }: Visitor) => ({ accountId: account.id })
