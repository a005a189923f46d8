/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { letterOf } from "../../../customers/notices/notices.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { noticeEndsAtMs } from "../../../customers/terms/notice-period.ts"
import {
  countUnaccepted,
  listTerms,
  type NewTerms,
  publishTerms,
  type Terms,
  weighTerms,
} from "../../../customers/terms/terms.ts"
import { doneWords } from "../deed.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { parameterOf } from "./paths.ts"
import { TERMS_DEEDS, TermsPage, type TermsRefusal, type TypedTerms } from "./terms-page.tsx"
import { TermsPreviewPage } from "./terms-preview-page.tsx"

/** What the pages about terms are built from. */
export type TermsNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly changes: ChangeLog
  readonly baseUrl: () => string
}

/** The published terms, and how others are published: written down, looked at, and only then sent. */
export function termsRoutes(needs: TermsNeeds) {
  const { enter, changes } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.adminTerms.path, ({ request }) =>
      enter.admin.page(request, visitor =>
        termsPage(
          changes,
          visitor,
          typedIn(name => parameterOf(request.url, name)),
          {
            refusal: null,
            done: doneWords(request.url, TERMS_DEEDS),
          },
        ),
      ),
    )
    .get(ROUTES.adminTermsPreview.path, ({ request }) => previewed(needs, request))
    .post(ROUTES.postAdminTerms.path, ({ request }) => published(needs, request), { parse: "none" })
}

const typedIn = (text: (name: keyof TypedTerms) => string): TypedTerms => ({
  version: text("version"),
  url: text("url"),
  material: text("material"),
})

type More = { readonly refusal: TermsRefusal | null; readonly done: string | null }

async function termsPage({ store }: ChangeLog, visitor: Visitor, typed: TypedTerms, more: More) {
  const published = await listTerms(store)
  const unacceptedCount = await countUnaccepted(store)
  return <TermsPage {...{ visitor, typed, published, unacceptedCount }} {...more} />
}

/** The terms that were typed; null: nothing says whether they are material. */
function wantedIn({ version, url, material }: TypedTerms): NewTerms | null {
  return material === "yes" || material === "no" ? { version, url, isMaterial: material === "yes" } : null
}

const previewed = (needs: TermsNeeds, request: Request) =>
  needs.enter.admin.page(request, async visitor => {
    const { changes, pages } = needs
    const typed = typedIn(name => parameterOf(request.url, name))
    const wanted = wantedIn(typed)
    const weighed = wanted && (await weighTerms(changes.store, changes.clock, wanted))
    if (weighed?.kind === "publishable") return await previewPage(needs, visitor, weighed.terms)
    if (weighed?.kind === "published") return pages.goTo(publishedPath(false), request)
    return await refusedPage(needs, visitor, request, typed, weighed?.kind ?? "material_unsaid")
  })

async function previewPage({ changes, baseUrl }: TermsNeeds, visitor: Visitor, terms: Terms) {
  const { all, mailable } = await countAccounts(changes.store)
  const { version, url, isMaterial } = terms
  const particulars = { version, url, endsAtMs: noticeEndsAtMs(terms) }
  const letter = isMaterial ? letterOf({ kind: "terms_change", particulars }, { baseUrl: baseUrl() }) : null
  const unacceptedCount = await countUnaccepted(changes.store)
  const counts = { accountCount: all, mailableCount: mailable, unacceptedCount }
  return <TermsPreviewPage {...{ visitor, terms, letter }} {...counts} />
}

const published = (needs: TermsNeeds, request: Request) =>
  needs.enter.admin.form(request, async (visitor, form) => {
    const { changes, pages } = needs
    const typed = typedIn(form.text)
    const wanted = wantedIn(typed)
    const publication = wanted && (await publishTerms(changes, wanted))
    if (publication?.kind === "published") return pages.goTo(publishedPath(publication.isNew), request)
    return await refusedPage(needs, visitor, request, typed, publication?.kind ?? "material_unsaid")
  })

const publishedPath = (isNew: boolean): string =>
  `${ROUTES.adminTerms.path}?done=${isNew ? "published" : "published-before"}`

async function refusedPage(
  { changes, pages }: TermsNeeds,
  visitor: Visitor,
  request: Request,
  typed: TypedTerms,
  refusal: TermsRefusal,
) {
  const page = await termsPage(changes, visitor, typed, { refusal, done: null })
  return pages.page(page, request, { status: PROBLEMS.invalid_input.status })
}
