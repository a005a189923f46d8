/** @jsxImportSource preact */
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
import type { Exchange } from "../../exchange.ts"
import { handlers } from "../../router.ts"
import { adminChanges } from "../attributed-changes.ts"
import { flashMessage, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { TERMS_FLASH, type TermsFormError, type TermsFormValues, TermsPage, TermsPreviewPage } from "./terms-pages.tsx"

/** The published terms, and the publication of new ones: a form, a preview, and the publication itself. */
export function adminTermsRoutes(site: SiteContext) {
  const { guards, changes } = site
  return handlers({
    adminTerms: exchange =>
      guards.requireAdmin.page(exchange, () =>
        termsPage(changes, termsFormInUrl(exchange.request.url), {
          error: null,
          flash: flashMessage(exchange.request.url, TERMS_FLASH),
        }),
      ),
    adminTermsPreview: exchange => handlePreview(site, exchange),
    postAdminTerms: exchange => handlePublish(site, exchange),
  })
}

const readTermsForm = (text: (name: keyof TermsFormValues) => string): TermsFormValues => ({
  version: text("version"),
  url: text("url"),
  material: text("material"),
})

const termsFormInUrl = (url: string): TermsFormValues => readTermsForm(name => queryParameter(url, name))

type TermsPageState = { readonly error: TermsFormError | null; readonly flash: string | null }

async function termsPage({ store }: ChangeLog, values: TermsFormValues, state: TermsPageState) {
  const published = await listTerms(store)
  const unacceptedCount = await countUnaccepted(store)
  return <TermsPage values={values} published={published} unacceptedCount={unacceptedCount} {...state} />
}

/** Null when the form does not say whether the terms are material. */
function parseNewTerms({ version, url, material }: TermsFormValues): NewTerms | null {
  return material === "yes" || material === "no" ? { version, url, isMaterial: material === "yes" } : null
}

const handlePreview = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.page(exchange, async () => {
    const { changes, pages } = site
    const values = termsFormInUrl(exchange.request.url)
    const newTerms = parseNewTerms(values)
    const preview = newTerms && (await previewPublication(changes.store, changes.clock, newTerms))
    if (preview?.kind === "publishable") return await previewPage(site, preview.terms)
    if (preview?.kind === "published") return pages.redirect(publishedPath(false), exchange)
    return await rejectedTermsPage(site, exchange, values, preview?.kind ?? "material_unsaid")
  })

async function previewPage({ changes, baseUrl }: SiteContext, terms: Terms) {
  const { all, mailable } = await countAccounts(changes.store)
  const { version, url, isMaterial } = terms
  const params = { version, url, endsAtMs: noticeEndsAtMs(terms) }
  const mail = isMaterial ? noticeContent({ kind: "terms_change", params }, { baseUrl: baseUrl() }) : null
  const unacceptedCount = await countUnaccepted(changes.store)
  return (
    <TermsPreviewPage
      terms={terms}
      mail={mail}
      accountCount={all}
      mailableCount={mailable}
      unacceptedCount={unacceptedCount}
    />
  )
}

const handlePublish = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const { pages } = site
    const values = readTermsForm(form.text)
    const newTerms = parseNewTerms(values)
    const publication = newTerms && (await publishTerms(adminChanges(site, user), newTerms))
    if (publication?.kind === "published") return pages.redirect(publishedPath(publication.isNew), exchange)
    return await rejectedTermsPage(site, exchange, values, publication?.kind ?? "material_unsaid")
  })

const publishedPath = (isNew: boolean): string =>
  withFlash(ROUTES.adminTerms.path, isNew ? "published" : "published-before")

async function rejectedTermsPage(
  { changes, pages }: SiteContext,
  exchange: Exchange,
  values: TermsFormValues,
  error: TermsFormError,
) {
  const page = await termsPage(changes, values, { error, flash: null })
  return pages.renderInvalid(page, exchange)
}
