/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { type MailContent, renderMailText } from "../../../customers/notices/mail-content.tsx"
import type { Terms } from "../../../customers/terms/terms.ts"
import { noticeEndsAtMs } from "../../../customers/terms/terms-notices.ts"
import { withQuery } from "../links.ts"
import { formatCount } from "../ui/format.ts"
import {
  Confirmation,
  DateStamp,
  FlashMessage,
  FormError,
  SelectField,
  TextField,
  Timestamp,
  VERBATIM,
} from "../ui/forms.tsx"
import { CodeBlock, DescriptionList } from "../ui/layout.tsx"
import { Empty, Notice, Panel } from "../ui/panels.tsx"
import { type CellColumn, RowTable } from "../ui/table.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const TERMS_FLASH = {
  published: "The terms are published.",
  "published-before": "These terms were published before. Nothing changed.",
  withdrawn: "The terms are withdrawn. Nobody has to accept them.",
  "withdrawn-before": "These terms were withdrawn before. Nothing changed.",
} as const satisfies Record<string, string>

/** The values of the form for new terms. */
export type TermsFormValues = { readonly version: string; readonly url: string; readonly material: string }

/** What is wrong with each field. */
export type TermsFormErrors = { readonly [F in keyof TermsFormValues]?: string }

type TermsPageProps = {
  /** The latest first. */
  readonly published: readonly Terms[]
  /** The terms of them that can be withdrawn now; null: none can. */
  readonly withdrawable: Terms | null
  readonly unacceptedCount: number
  readonly values: TermsFormValues
  readonly errors: TermsFormErrors
  readonly flash: string | null
}

/** The published terms, and the form for new ones. */
export function TermsPage({ published, withdrawable, unacceptedCount, values, errors, flash }: TermsPageProps) {
  return (
    <AdminLayout route="adminTerms" section="adminTerms" title="Terms">
      <FlashMessage message={flash} />
      {unacceptedCount === 0 ? null : (
        <Notice tone="review">{formatCount(unacceptedCount, "account")} must still accept the terms.</Notice>
      )}
      <Panel title="Published terms">
        {published.length === 0 ? (
          <Empty>No terms are published.</Empty>
        ) : (
          <RowTable caption="Published terms" columns={termsColumns(withdrawable)} rows={published} />
        )}
      </Panel>
      <NewTermsForm values={values} errors={errors} />
    </AdminLayout>
  )
}

const termsColumns = (withdrawable: Terms | null): readonly CellColumn<Terms>[] => [
  { name: "Version", kind: "text", cell: ({ version }) => version },
  { name: "Link", kind: "text", cell: ({ url }) => termsLink(url, urlEnd(url)) },
  {
    name: "Published",
    kind: "time",
    onPhone: "first",
    cell: ({ publishedAtMs }) => <DateStamp atMs={publishedAtMs} />,
  },
  {
    ...{ name: "Accept by", kind: "time", onPhone: "labelled" },
    cell: terms =>
      terms.withdrawnAtMs !== undefined ? (
        "withdrawn"
      ) : terms.isMaterial ? (
        <Timestamp atMs={noticeEndsAtMs(terms)} />
      ) : null,
  },
  ...(withdrawable === null ? [] : [withdrawalColumn(withdrawable)]),
]

const withdrawalColumn = (withdrawable: Terms): CellColumn<Terms> => ({
  ...{ name: "", kind: "actions", onPhone: "first" },
  cell: ({ version }) =>
    version === withdrawable.version ? (
      <a class="button small danger" href={ROUTES.adminTermsWithdrawal.path}>
        Withdraw…<span class="unseen"> version {version}</span>
      </a>
    ) : null,
})

/** Asks for confirmation before terms are withdrawn, which cannot be undone. `terms` null: none can be. */
export function TermsWithdrawalPage({ terms }: { readonly terms: Terms | null }) {
  if (terms === null)
    return (
      <AdminLayout route="adminTermsWithdrawal" section="adminTerms" title="Withdraw terms?">
        <p>
          No terms can be withdrawn now. <a href={ROUTES.adminTerms.path}>Back to the terms</a>
        </p>
      </AdminLayout>
    )
  const { version, url } = terms
  return (
    <AdminLayout route="adminTermsWithdrawal" section="adminTerms" title={`Withdraw version ${version}?`}>
      <Confirmation
        path={ROUTES.postAdminTermsWithdrawal.path}
        fields={{ version }}
        label={`Withdraw version ${version}`}
        cancelPath={ROUTES.adminTerms.path}
      >
        <DescriptionList
          items={[
            ["Link", termsLink(url, url)],
            ["Accept by", <Timestamp atMs={noticeEndsAtMs(terms)} />],
          ]}
        />
        <p>
          Nobody has to accept this version any more, and the terms before it hold again. Emails about it that wait are
          not sent. Anyone who got one is not told, so tell them.
        </p>
        <p>You cannot undo this. To publish the same terms again, choose another version.</p>
      </Confirmation>
    </AdminLayout>
  )
}

/** The part in which the links of versions differ, if they have one. */
function urlEnd(url: string): string {
  const { host, pathname, search } = new URL(url)
  return pathname + search === "/" ? host : pathname + search
}

const termsLink = (url: string, text: string) => (
  <a href={url} rel="noreferrer" title={text === url ? undefined : url}>
    {text}
  </a>
)

function NewTermsForm({ values, errors }: Pick<TermsPageProps, "values" | "errors">) {
  const isFaulty = Object.keys(errors).length > 0
  return (
    <Panel title="Publish terms" id="new">
      <FormError message={isFaulty ? "Nothing was published. Fix the marked fields and try again." : null} />
      <p>You see a preview before anything is published.</p>
      {/* The browser would tell of the first faulty field alone. */}
      <form class="form" method="get" action={ROUTES.adminTermsPreview.path} noValidate>
        <TextField
          name="version"
          label="Version"
          hint="A name, such as 2026-12."
          required
          maxLength={40}
          {...VERBATIM}
          value={values.version}
          error={errors.version ?? null}
        />
        <TextField
          name="url"
          label="Link to the terms"
          hint="Where people can read them."
          type="url"
          required
          maxLength={LIMITS.urlLengthMax}
          {...VERBATIM}
          value={values.url}
          error={errors.url ?? null}
        />
        <SelectField
          name="material"
          label="Must accounts accept the terms?"
          hint={`If yes, every account gets an email and has ${LIMITS.termsNoticeDays} days.`}
          options={MATERIAL_OPTIONS}
          selected={values.material}
          error={errors.material ?? null}
        />
        <button type="submit">Preview</button>
      </form>
    </Panel>
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
      {isMaterial && unacceptedCount > 0 ? (
        <Notice tone="review">
          {formatCount(unacceptedCount, "account")} must still accept earlier terms. New ones give them no more time for
          those: they are refused when that ends.
        </Notice>
      ) : null}
      <Confirmation
        path={ROUTES.postAdminTerms.path}
        fields={fields}
        label={`Publish version ${version}`}
        isDangerous={false}
        cancelPath={withQuery(ROUTES.adminTerms.path, fields)}
      >
        <DescriptionList items={publicationFacts(props)} />
        <p>You cannot change published terms. You can withdraw material ones until accounts must have accepted them.</p>
      </Confirmation>
      {mail === null ? null : (
        <Panel title="The email" id="mail">
          <CodeBlock caption={`Subject: ${mail.subject}`} code={renderMailText(mail)} />
        </Panel>
      )}
    </AdminLayout>
  )
}

/** What is published, which accounts have to accept it, and who gets an email. */
function publicationFacts({ terms, mail, accountCount, mailableCount }: TermsPreviewPageProps) {
  const { version, url, isMaterial } = terms
  const accounts = isMaterial
    ? `${formatCount(accountCount, "has", "have")} to accept them`
    : "no account has to do anything"
  const emails = mail === null ? "none are sent" : `${formatCount(mailableCount, "account gets", "accounts get")} one`
  return [
    ["Version", <code>{version}</code>],
    ["Link", termsLink(url, url)],
    ["Accounts", accounts],
    ...(isMaterial ? ([["Accept by", <Timestamp atMs={noticeEndsAtMs(terms)} />]] as const) : []),
    ["Emails", emails],
  ] as const
}
