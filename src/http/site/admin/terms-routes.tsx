/** @jsxImportSource preact */
import { Elysia } from "elysia"
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
import { adminChanges } from "../attributed-changes.ts"
import type { SignedInUser } from "../guards.ts"
import { flashMessage, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { TERMS_FLASH, type TermsFormError, type TermsFormValues, TermsPage, TermsPreviewPage } from "./terms-pages.tsx"

/** The published terms, and the publication of new ones: a form, a preview, and the publication itself. */
export function adminTermsRoutes(site: SiteContext) {
  const { guards, changes } = site
  return new Elysia({ normalize: false })
    .get(ROUTES.adminTerms.path, ({ request }) =>
      guards.requireAdmin.page(request, user =>
        termsPage(changes, user, termsFormInUrl(request.url), {
          error: null,
          flash: flashMessage(request.url, TERMS_FLASH),
        }),
      ),
    )
    .get(ROUTES.adminTermsPreview.path, ({ request }) => handlePreview(site, request))
    .post(ROUTES.postAdminTerms.path, ({ request }) => handlePublish(site, request), { parse: "none" })
}

const readTermsForm = (text: (name: keyof TermsFormValues) => string): TermsFormValues => ({
  version: text("version"),
  url: text("url"),
  material: text("material"),
})

const termsFormInUrl = (url: string): TermsFormValues => readTermsForm(name => queryParameter(url, name))

type TermsPageState = { readonly error: TermsFormError | null; readonly flash: string | null }

async function termsPage({ store }: ChangeLog, user: SignedInUser, values: TermsFormValues, state: TermsPageState) {
  const published = await listTerms(store)
  const unacceptedCount = await countUnaccepted(store)
  return <TermsPage user={user} values={values} published={published} unacceptedCount={unacceptedCount} {...state} />
}

/** Null when the form does not say whether the terms are material. */
function parseNewTerms({ version, url, material }: TermsFormValues): NewTerms | null {
  return material === "yes" || material === "no" ? { version, url, isMaterial: material === "yes" } : null
}

const handlePreview = (site: SiteContext, request: Request) =>
  site.guards.requireAdmin.page(request, async user => {
    const { changes, pages } = site
    const values = termsFormInUrl(request.url)
    const newTerms = parseNewTerms(values)
    const preview = newTerms && (await previewPublication(changes.store, changes.clock, newTerms))
    if (preview?.kind === "publishable") return await previewPage(site, user, preview.terms)
    if (preview?.kind === "published") return pages.redirect(publishedPath(false), request)
    return await rejectedTermsPage(site, user, request, values, preview?.kind ?? "material_unsaid")
  })

async function previewPage({ changes, baseUrl }: SiteContext, user: SignedInUser, terms: Terms) {
  const { all, mailable } = await countAccounts(changes.store)
  const { version, url, isMaterial } = terms
  const params = { version, url, endsAtMs: noticeEndsAtMs(terms) }
  const mail = isMaterial ? noticeContent({ kind: "terms_change", params }, { baseUrl: baseUrl() }) : null
  const unacceptedCount = await countUnaccepted(changes.store)
  return (
    <TermsPreviewPage
      user={user}
      terms={terms}
      mail={mail}
      accountCount={all}
      mailableCount={mailable}
      unacceptedCount={unacceptedCount}
    />
  )
}

const handlePublish = (site: SiteContext, request: Request) =>
  site.guards.requireAdmin.form(request, async (user, form) => {
    const { pages } = site
    const values = readTermsForm(form.text)
    const newTerms = parseNewTerms(values)
    const publication = newTerms && (await publishTerms(adminChanges(site, user), newTerms))
    if (publication?.kind === "published") return pages.redirect(publishedPath(publication.isNew), request)
    return await rejectedTermsPage(site, user, request, values, publication?.kind ?? "material_unsaid")
  })

const publishedPath = (isNew: boolean): string =>
  withFlash(ROUTES.adminTerms.path, isNew ? "published" : "published-before")

async function rejectedTermsPage(
  { changes, pages }: SiteContext,
  user: SignedInUser,
  request: Request,
  values: TermsFormValues,
  error: TermsFormError,
) {
  const page = await termsPage(changes, user, values, { error, flash: null })
  return pages.renderInvalid(page, request)
}
