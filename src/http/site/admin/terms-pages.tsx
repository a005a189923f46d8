/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { type MailContent, renderMailText } from "../../../customers/notices/mail-content.tsx"
import type { Terms, TermsPublication } from "../../../customers/terms/terms.ts"
import { noticeEndsAtMs } from "../../../customers/terms/terms-notices.ts"
import { withQuery } from "../links.ts"
import { formatCount } from "../ui/format.ts"
import { ActionButton, FlashMessage, SelectField, TextField, Timestamp } from "../ui/forms.tsx"
import { CodeBlock, DescriptionList } from "../ui/layout.tsx"
import { Empty, Notice } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const TERMS_FLASH = {
  published: "The terms are published.",
  "published-before": "These terms were published before. Nothing changed.",
} as const satisfies Record<string, string>

/** The values of the form for new terms. */
export type TermsFormValues = { readonly version: string; readonly url: string; readonly material: string }

/** Why the terms cannot be published. */
export type TermsFormError = Exclude<TermsPublication["kind"], "published"> | "material_unsaid"

type TermsPageProps = {
  /** The current terms come first. */
  readonly published: readonly Terms[]
  readonly unacceptedCount: number
  readonly values: TermsFormValues
  /** Null: nothing was refused. */
  readonly error: TermsFormError | null
  readonly flash: string | null
}

/** The published terms, and the form for new ones. */
export function TermsPage({ published, unacceptedCount, values, error, flash }: TermsPageProps) {
  return (
    <AdminLayout route="adminTerms" section="adminTerms" title="Terms">
      <FlashMessage message={flash} />
      {unacceptedCount === 0 ? null : (
        <Notice tone="review">{formatCount(unacceptedCount, "account")} must still accept the terms.</Notice>
      )}
      {published.length === 0 ? (
        <Empty>No terms are published.</Empty>
      ) : (
        <Table caption="Published terms" columns={TERMS_COLUMNS}>
          {published.map(terms => (
            <TermsRow key={terms.version} terms={terms} />
          ))}
        </Table>
      )}
      <NewTermsForm values={values} error={error} />
    </AdminLayout>
  )
}

const TERMS_COLUMNS = [
  { name: "Version", kind: "text" },
  { name: "Address", kind: "text" },
  { name: "Published", kind: "time" },
  { name: "Accept by", kind: "time", onPhone: "labelled" },
] as const satisfies readonly TableColumn[]

function TermsRow({ terms }: { readonly terms: Terms }) {
  const { version, url, isMaterial, publishedAtMs } = terms
  return (
    <tr>
      <th scope="row">{version}</th>
      <td>
        <a href={url} rel="noreferrer">
          {url}
        </a>
      </td>
      <td>
        <Timestamp atMs={publishedAtMs} />
      </td>
      <td>{isMaterial ? <Timestamp atMs={noticeEndsAtMs(terms)} /> : ""}</td>
    </tr>
  )
}

/** The message for each error, and its field. */
const TERMS_FORM_ERRORS: {
  readonly [R in TermsFormError]: { readonly field: keyof TermsFormValues; readonly message: string }
} = {
  bad_version: { field: "version", message: "A version has 1 to 40 letters, digits, dots, dashes and underscores." },
  version_taken: {
    field: "version",
    message: "This version exists already with other terms. Choose another version.",
  },
  bad_url: { field: "url", message: "Enter an address that begins with http:// or https://." },
  material_unsaid: { field: "material", message: "Choose if accounts must accept the terms." },
}

function NewTermsForm({ values, error }: Pick<TermsPageProps, "values" | "error">) {
  const rejection = error && TERMS_FORM_ERRORS[error]
  const errorAt = (field: keyof TermsFormValues) => (rejection?.field === field ? rejection.message : null)
  return (
    <section aria-labelledby="new">
      <h2 id="new">Publish terms</h2>
      <p>You see a preview first. Nothing is published yet.</p>
      <form class="form" method="get" action={ROUTES.adminTermsPreview.path}>
        <TextField
          name="version"
          label="Version"
          hint="A name, such as 2026-12."
          required
          maxLength={40}
          autocomplete="off"
          value={values.version}
          error={errorAt("version")}
        />
        <TextField
          name="url"
          label="Address"
          hint="Where people can read the terms."
          type="url"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          value={values.url}
          error={errorAt("url")}
        />
        <SelectField
          name="material"
          label="Must accounts accept the terms?"
          hint={`If yes, every account gets an email and has ${LIMITS.termsNoticeDays} days.`}
          options={MATERIAL_OPTIONS}
          selected={values.material}
          error={errorAt("material")}
        />
        <button type="submit">Preview</button>
      </form>
    </section>
  )
}

const MATERIAL_OPTIONS = [
  { value: "", label: "Choose…" },
  { value: "yes", label: "Yes, the change is material" },
  { value: "no", label: "No, the change is not material" },
] as const

type TermsPreviewPageProps = {
  /** The terms as they would be published now. */
  readonly terms: Terms
  /** The mail to the accounts; null: none is sent. */
  readonly mail: MailContent | null
  readonly accountCount: number
  /** How many accounts can get mail. */
  readonly mailableCount: number
  /** How many accounts have not accepted earlier terms yet. */
  readonly unacceptedCount: number
}

/** What the publication would do, before anything is published. */
export function TermsPreviewPage(props: TermsPreviewPageProps) {
  const { terms, mail, unacceptedCount } = props
  const { version, url, isMaterial } = terms
  const fields = { version, url, material: isMaterial ? "yes" : "no" }
  return (
    <AdminLayout route="adminTermsPreview" section="adminTerms" title={`Publish version ${version}?`}>
      <PublicationSummary {...props} />
      {mail === null ? null : <MailSection mail={mail} />}
      {isMaterial && unacceptedCount > 0 ? (
        <p class="told">
          {formatCount(unacceptedCount, "account", "accounts")} must still accept earlier terms. New ones give them no
          more time for those: they are refused when that ends.
        </p>
      ) : null}
      <p>You cannot change or remove published terms. To correct them, publish another version.</p>
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

/** What is published, which accounts have to accept it, and who gets an email. */
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
          isMaterial ? `${formatCount(accountCount, "has", "have")} to accept them` : "no account has to do anything",
        ],
        ...(isMaterial ? ([["Last day to accept", <Timestamp atMs={noticeEndsAtMs(terms)} />]] as const) : []),
        [
          "Emails",
          mail === null ? "none are sent" : `${formatCount(mailableCount, "account gets", "accounts get")} one`,
        ],
      ]}
    />
  )
}

/** The text of the mail. */
function MailSection({ mail }: { readonly mail: MailContent }) {
  return (
    <section aria-labelledby="mail">
      <h2 id="mail">The email</h2>
      <p>The email as it would be sent now, as plain text.</p>
      <CodeBlock caption={`Subject: ${mail.subject}`} code={renderMailText(mail)} />
    </section>
  )
}
