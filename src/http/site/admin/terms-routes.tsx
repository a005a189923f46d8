/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { noticeContent } from "../../../customers/notices/notices.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import {
  countUnaccepted,
  listTerms,
  type NewTerms,
  previewPublication,
  publishTerms,
  type Terms,
} from "../../../customers/terms/terms.ts"
import { noticeEndsAtMs } from "../../../customers/terms/terms-notices.ts"
import type { Guards, SignedInUser } from "../guards.ts"
import { queryParameter } from "../links.ts"
import type { PageResponses } from "../page-responses.ts"
import { flashMessage } from "../ui/forms.tsx"
import { TERMS_FLASH, type TermsFormError, type TermsFormValues, TermsPage, TermsPreviewPage } from "./terms-pages.tsx"

/** What the pages about terms are built from. */
export type AdminTermsRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly changes: ChangeLog
  readonly baseUrl: () => string
}

/** The published terms, and how others are published: written down, looked at, and only then sent. */
export function adminTermsRoutes(needs: AdminTermsRoutesDeps) {
  const { enter, changes } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.adminTerms.path, ({ request }) =>
      enter.requireAdmin.page(request, visitor =>
        termsPage(
          changes,
          visitor,
          readTermsForm(name => queryParameter(request.url, name)),
          {
            error: null,
            flash: flashMessage(request.url, TERMS_FLASH),
          },
        ),
      ),
    )
    .get(ROUTES.adminTermsPreview.path, ({ request }) => handlePreview(needs, request))
    .post(ROUTES.postAdminTerms.path, ({ request }) => handlePublish(needs, request), { parse: "none" })
}

const readTermsForm = (text: (name: keyof TermsFormValues) => string): TermsFormValues => ({
  version: text("version"),
  url: text("url"),
  material: text("material"),
})

type TermsPageState = { readonly error: TermsFormError | null; readonly flash: string | null }

async function termsPage({ store }: ChangeLog, user: SignedInUser, values: TermsFormValues, more: TermsPageState) {
  const published = await listTerms(store)
  const unacceptedCount = await countUnaccepted(store)
  return <TermsPage {...{ user, values, published, unacceptedCount }} {...more} />
}

/** The terms that were typed; null: nothing says whether they are material. */
function parseNewTerms({ version, url, material }: TermsFormValues): NewTerms | null {
  return material === "yes" || material === "no" ? { version, url, isMaterial: material === "yes" } : null
}

const handlePreview = (needs: AdminTermsRoutesDeps, request: Request) =>
  needs.enter.requireAdmin.page(request, async visitor => {
    const { changes, pages } = needs
    const typed = readTermsForm(name => queryParameter(request.url, name))
    const wanted = parseNewTerms(typed)
    const weighed = wanted && (await previewPublication(changes.store, changes.clock, wanted))
    if (weighed?.kind === "publishable") return await previewPage(needs, visitor, weighed.terms)
    if (weighed?.kind === "published") return pages.redirect(publishedPath(false), request)
    return await rejectedTermsPage(needs, visitor, request, typed, weighed?.kind ?? "material_unsaid")
  })

async function previewPage({ changes, baseUrl }: AdminTermsRoutesDeps, user: SignedInUser, terms: Terms) {
  const { all, mailable } = await countAccounts(changes.store)
  const { version, url, isMaterial } = terms
  const params = { version, url, endsAtMs: noticeEndsAtMs(terms) }
  const mail = isMaterial ? noticeContent({ kind: "terms_change", params }, { baseUrl: baseUrl() }) : null
  const unacceptedCount = await countUnaccepted(changes.store)
  const counts = { accountCount: all, mailableCount: mailable, unacceptedCount }
  return <TermsPreviewPage {...{ user, terms, mail }} {...counts} />
}

const handlePublish = (needs: AdminTermsRoutesDeps, request: Request) =>
  needs.enter.requireAdmin.form(request, async (visitor, form) => {
    const { changes, pages } = needs
    const typed = readTermsForm(form.text)
    const wanted = parseNewTerms(typed)
    const publication = wanted && (await publishTerms(changes, wanted))
    if (publication?.kind === "published") return pages.redirect(publishedPath(publication.isNew), request)
    return await rejectedTermsPage(needs, visitor, request, typed, publication?.kind ?? "material_unsaid")
  })

const publishedPath = (isNew: boolean): string =>
  `${ROUTES.adminTerms.path}?done=${isNew ? "published" : "published-before"}`

async function rejectedTermsPage(
  { changes, pages }: AdminTermsRoutesDeps,
  visitor: SignedInUser,
  request: Request,
  typed: TermsFormValues,
  error: TermsFormError,
) {
  const page = await termsPage(changes, visitor, typed, { error, flash: null })
  return pages.render(page, request, { status: PROBLEMS.invalid_input.status })
}
