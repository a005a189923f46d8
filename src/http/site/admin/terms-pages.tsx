import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { type MailContent, renderMailText } from "../../../customers/notices/mail-content.tsx"
import type { Terms, TermsPublication } from "../../../customers/terms/terms.ts"
import { noticeEndsAtMs } from "../../../customers/terms/terms-notices.ts"
import type { SignedInUser } from "../guards.ts"
import { withQuery } from "../links.ts"
import { ActionButton, FlashMessage, SelectField, TextField, Timestamp } from "../ui/forms.tsx"
import { CodeBlock, Table } from "../ui/layout.tsx"
import { AdminLayout, DescriptionList, formatCount } from "./admin-layout.tsx"

/** @jsxImportSource preact */
/** What may have been done just before the page is shown, by its name in the page's URL. */
export const TERMS_FLASH = {
  published: "The terms are published.",
  "published-before": "These terms had been published before; nothing changed.",
} as const satisfies Record<string, string>

/** What was typed about new terms. */
export type TermsFormValues = { readonly version: string; readonly url: string; readonly material: string }

/** Why terms cannot be published. */
export type TermsFormError = Exclude<TermsPublication["kind"], "published"> | "material_unsaid"

type TermsPageProps = {
  readonly user: SignedInUser
  /** The current ones first. */
  readonly published: readonly Terms[]
  readonly unacceptedCount: number
  readonly values: TermsFormValues
  /** Null: nothing was refused. */
  readonly error: TermsFormError | null
  readonly flash: string | null
}

/** The versions of the terms, and the form in which others are written down. */
export function TermsPage({ user, published, unacceptedCount, values, error, flash }: TermsPageProps) {
  return (
    <AdminLayout route="adminTerms" section="adminTerms" title="Terms" user={user}>
      <FlashMessage message={flash} />
      <p>{formatCount(unacceptedCount, "account has", "accounts have")} yet to accept material terms.</p>
      {published.length === 0 ? (
        <p>No terms are published.</p>
      ) : (
        <Table caption="Published terms" columns={["Version", "Address", "Published", "To be accepted"]}>
          {published.map(terms => (
            <TermsRow key={terms.version} terms={terms} />
          ))}
        </Table>
      )}
      <NewTermsForm values={values} error={error} />
    </AdminLayout>
  )
}

function TermsRow({ terms }: { readonly terms: Terms }) {
  const { version, url, isMaterial, publishedAtMs } = terms
  return (
    <tr>
      <th scope="row">
        <code>{version}</code>
      </th>
      <td class="address">
        <a href={url} rel="noreferrer">
          {url}
        </a>
      </td>
      <td>
        <Timestamp atMs={publishedAtMs} />
      </td>
      <td>
        {isMaterial ? (
          <>
            before <Timestamp atMs={noticeEndsAtMs(terms)} />
          </>
        ) : (
          "no"
        )}
      </td>
    </tr>
  )
}

/** Why terms cannot be published, and beside which field it is said. */
const TERMS_FORM_ERRORS: {
  readonly [R in TermsFormError]: { readonly field: keyof TermsFormValues; readonly message: string }
} = {
  bad_version: { field: "version", message: "A version has 1 to 40 letters, digits, dots, dashes and underscores." },
  version_taken: {
    field: "version",
    message: "Other terms have this version, and published terms are never changed. Choose another version.",
  },
  bad_url: { field: "url", message: "The address is absolute and begins with http:// or https://." },
  material_unsaid: { field: "material", message: "Say whether accounts have to accept the terms." },
}

function NewTermsForm({ values, error }: Pick<TermsPageProps, "values" | "error">) {
  const refused = error && TERMS_FORM_ERRORS[error]
  const faultAt = (field: keyof TermsFormValues) => (refused?.field === field ? refused.message : null)
  return (
    <section aria-labelledby="new">
      <h2 id="new">Publish terms</h2>
      <p>Nothing is published yet when you send this: first you see who would be told what.</p>
      <form class="form" method="get" action={ROUTES.adminTermsPreview.path}>
        <TextField
          name="version"
          label="Version"
          hint="A name for it, such as 2026-12."
          required
          maxLength={40}
          autocomplete="off"
          value={values.version}
          error={faultAt("version")}
        />
        <TextField
          name="url"
          label="Address"
          hint="Where people read the terms."
          type="url"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          value={values.url}
          error={faultAt("url")}
        />
        <SelectField
          name="material"
          label="Do accounts have to accept them?"
          hint={`When they do, every account is written to, and has ${LIMITS.termsNoticeDays} days.`}
          options={MATERIAL_OPTIONS}
          selected={values.material}
          error={faultAt("material")}
        />
        <button type="submit">See what would happen</button>
      </form>
    </section>
  )
}

const MATERIAL_OPTIONS = [
  { value: "", label: "Choose…" },
  { value: "yes", label: "Yes, the change is material" },
  { value: "no", label: "No, the change is not material" },
] as const

/** @jsxImportSource preact */
type TermsPreviewPageProps = {
  readonly user: SignedInUser
  /** As they would be published now. */
  readonly terms: Terms
  /** The mail that accounts would get; null: they would get none. */
  readonly mail: MailContent | null
  readonly accountCount: number
  /** How many of the accounts mail can reach. */
  readonly mailableCount: number
  /** How many of them have yet to accept earlier terms. */
  readonly unacceptedCount: number
}

/** What publishing terms would do, before anything is published. */
export function TermsPreviewPage(props: TermsPreviewPageProps) {
  const { user, terms, mail, unacceptedCount } = props
  const { version, url, isMaterial } = terms
  const fields = { version, url, material: isMaterial ? "yes" : "no" }
  return (
    <AdminLayout route="adminTermsPreview" section="adminTerms" title={`Publish version ${version}?`} user={user}>
      <PublicationSummary {...props} />
      {mail === null ? null : <MailSection mail={mail} />}
      {isMaterial && unacceptedCount > 0 ? (
        <p class="told">
          {formatCount(unacceptedCount, "account has", "accounts have")} yet to accept earlier terms. New ones give them
          no more time for those: they are refused when that ends.
        </p>
      ) : null}
      <p>Published terms are never changed or taken back: a correction is another version.</p>
      <div class="actions">
        <ActionButton
          path={ROUTES.postAdminTerms.path}
          fields={fields}
          label={`Publish version ${version}`}
          isDangerous
        />
        <a class="button small" href={withQuery(ROUTES.adminTerms.path, fields)}>
          Change it
        </a>
      </div>
    </AdminLayout>
  )
}

/** What is published, who has to do something about it, and who is told. */
function PublicationSummary({ terms, mail, accountCount, mailableCount }: TermsPreviewPageProps) {
  const { version, url, isMaterial } = terms
  const link = (
    <a href={url} rel="noreferrer">
      {url}
    </a>
  )
  return (
    <DescriptionList
      items={[
        ["Version", <code>{version}</code>],
        ["Address", link],
        [
          "Accounts",
          isMaterial ? `${formatCount(accountCount, "has", "have")} to accept them` : "none has to do anything",
        ],
        ...(isMaterial ? ([["To be accepted before", <Timestamp atMs={noticeEndsAtMs(terms)} />]] as const) : []),
        [
          "Mails",
          mail === null ? "none are sent" : `${formatCount(mailableCount, "account gets", "accounts get")} one`,
        ],
      ]}
    />
  )
}

/** The mail, word for word. */
function MailSection({ mail }: { readonly mail: MailContent }) {
  return (
    <section aria-labelledby="mail">
      <h2 id="mail">The mail</h2>
      <p>If the terms were published this minute. Its HTML says the same.</p>
      <CodeBlock caption={`Subject: ${mail.subject}`} code={renderMailText(mail)} />
    </section>
  )
}
