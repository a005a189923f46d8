/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { noticeContent } from "../../../customers/notices/notices.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import {
  countUnaccepted,
  isTermsVersion,
  listTerms,
  type NewTerms,
  parseTermsUrl,
  previewPublication,
  publishTerms,
  type Terms,
  withdrawableTerms,
  withdrawTerms,
} from "../../../customers/terms/terms.ts"
import { noticeEndsAtMs } from "../../../customers/terms/terms-notices.ts"
import type { Exchange } from "../../exchange.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { adminChanges } from "../attributed-changes.ts"
import { flashMessage, queryParameter, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import {
  TERMS_FLASH,
  type TermsFormErrors,
  type TermsFormValues,
  TermsPage,
  TermsPreviewPage,
  TermsWithdrawalPage,
} from "./terms-pages.tsx"

/** The published terms, and the publication of new ones: a form, a preview, and the publication itself. */
export function adminTermsRoutes(site: SiteContext) {
  const { guards, changes } = site
  return handlers({
    adminTerms: exchange =>
      guards.requireAdmin.page(exchange, () =>
        termsPage(changes, termsFormInUrl(exchange.request.url), flashMessage(exchange.request.url, TERMS_FLASH)),
      ),
    adminTermsPreview: exchange => handlePreview(site, exchange),
    postAdminTerms: exchange => handlePublish(site, exchange),
    adminTermsWithdrawal: exchange =>
      guards.requireAdmin.page(exchange, async () => (
        <TermsWithdrawalPage terms={withdrawableTerms(await listTerms(changes.store), changes.clock())} />
      )),
    postAdminTermsWithdrawal: exchange => handleWithdrawal(site, exchange),
  })
}

const readTermsForm = (text: (name: keyof TermsFormValues) => string): TermsFormValues => ({
  version: text("version"),
  url: text("url"),
  material: text("material"),
})

const termsFormInUrl = (url: string): TermsFormValues => readTermsForm(name => queryParameter(url, name))

/** The page with the values of a form. `isRefused`: it was sent, so the page says what is wrong with it. */
async function termsPage(
  { store, clock }: ChangeLog,
  values: TermsFormValues,
  flash: string | null,
  isRefused = false,
) {
  const published = await listTerms(store)
  const unacceptedCount = await countUnaccepted(store)
  const errors = isRefused ? findErrors(values, published) : {}
  const withdrawable = withdrawableTerms(published, clock())
  return <TermsPage {...{ values, published, withdrawable, unacceptedCount, errors, flash }} />
}

/** What is wrong with a form, all of it at once. */
function findErrors(values: TermsFormValues, published: readonly Terms[]): TermsFormErrors {
  const { version, url } = values
  const written = parseTermsUrl(url)
  const newTerms = parseNewTerms(values)
  const before = published.find(terms => terms.version === version)
  const isTaken =
    before !== undefined &&
    (before.url !== written || (newTerms?.isMaterial ?? before.isMaterial) !== before.isMaterial)
  return {
    ...(isTaken ? { version: "This version exists already with other terms. Choose another version." } : {}),
    ...(before?.withdrawnAtMs === undefined ? {} : { version: "This version was withdrawn. Choose another version." }),
    ...(isTermsVersion(version)
      ? {}
      : { version: "A version has 1 to 40 letters, digits, dots, dashes and underscores." }),
    ...(written === null ? { url: "Enter a link that begins with https:// or http://." } : {}),
    ...(newTerms === null ? { material: "Choose if accounts must accept the terms." } : {}),
  }
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
    return pages.renderInvalid(await termsPage(changes, values, null, true), exchange)
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
    const { changes, pages } = site
    const values = readTermsForm(form.text)
    const newTerms = parseNewTerms(values)
    const publication = newTerms && (await publishTerms(adminChanges(site, user), newTerms))
    if (publication?.kind === "published") return pages.redirect(publishedPath(publication.isNew), exchange)
    return pages.renderInvalid(await termsPage(changes, values, null, true), exchange)
  })

const CANNOT_WITHDRAW = "These terms cannot be withdrawn. They hold by now, or other ones were published since."

const handleWithdrawal = (site: SiteContext, exchange: Exchange) =>
  site.guards.requireAdmin.form(exchange, async (user, form) => {
    const withdrawal = await withdrawTerms(adminChanges(site, user), form.text("version"))
    if (withdrawal.kind !== "withdrawn") throw new Problem("not_found", CANNOT_WITHDRAW)
    const flash = withdrawal.isNew ? "withdrawn" : "withdrawn-before"
    return site.pages.redirect(withFlash(ROUTES.adminTerms.path, flash), exchange)
  })

const publishedPath = (isNew: boolean): string =>
  withFlash(ROUTES.adminTerms.path, isNew ? "published" : "published-before")
