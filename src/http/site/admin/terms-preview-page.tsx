/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { type Letter, letterText } from "../../../customers/notices/letter.ts"
import { noticeEndsAtMs } from "../../../customers/terms/notice-period.ts"
import type { Terms } from "../../../customers/terms/terms.ts"
import { ActionButton, Instant } from "../fields.tsx"
import { Sample } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, counted, Facts } from "./admin-layout.tsx"
import { withQuery } from "./paths.ts"

type Props = {
  readonly visitor: Visitor
  /** As they would be published now. */
  readonly terms: Terms
  /** The mail that accounts would get; null: they would get none. */
  readonly letter: Letter | null
  readonly accountCount: number
  /** How many of the accounts mail can reach. */
  readonly mailableCount: number
  /** How many of them have yet to accept earlier terms. */
  readonly unacceptedCount: number
}

/** What publishing terms would do, before anything is published. */
export function TermsPreviewPage(props: Props) {
  const { visitor, terms, letter, unacceptedCount } = props
  const { version, url, isMaterial } = terms
  const fields = { version, url, material: isMaterial ? "yes" : "no" }
  return (
    <AdminLayout route="adminTermsPreview" section="adminTerms" title={`Publish version ${version}?`} visitor={visitor}>
      <PublicationFacts {...props} />
      {letter === null ? null : <LetterSection letter={letter} />}
      {isMaterial && unacceptedCount > 0 ? (
        <p class="told">
          {counted(unacceptedCount, "account has", "accounts have")} yet to accept earlier terms. New ones give them no
          more time for those: they are refused when that ends.
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
function PublicationFacts({ terms, letter, accountCount, mailableCount }: Props) {
  const { version, url, isMaterial } = terms
  const link = (
    <a href={url} rel="noreferrer">
      {url}
    </a>
  )
  return (
    <Facts
      facts={[
        ["Version", <code>{version}</code>],
        ["Address", link],
        ["Accounts", isMaterial ? `${counted(accountCount, "has", "have")} to accept them` : "none has to do anything"],
        ...(isMaterial ? ([["To be accepted before", <Instant atMs={noticeEndsAtMs(terms)} />]] as const) : []),
        ["Mails", letter === null ? "none are sent" : `${counted(mailableCount, "account gets", "accounts get")} one`],
      ]}
    />
  )
}

/** The mail, word for word. */
function LetterSection({ letter }: { readonly letter: Letter }) {
  return (
    <section aria-labelledby="mail">
      <h2 id="mail">The mail</h2>
      <p>If the terms were published this minute. Its HTML says the same.</p>
      <Sample caption={`Subject: ${letter.subject}`} code={letterText(letter)} />
    </section>
  )
}
