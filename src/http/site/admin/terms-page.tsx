/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { noticeEndsAtMs } from "../../../customers/terms/notice-period.ts"
import type { Publication, Terms } from "../../../customers/terms/terms.ts"
import { Choice, Done, Instant, TextField } from "../fields.tsx"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, counted } from "./admin-layout.tsx"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const TERMS_DEEDS = {
  published: "The terms are published.",
  "published-before": "These terms had been published before; nothing changed.",
} as const satisfies Record<string, string>

/** What was typed about new terms. */
export type TypedTerms = { readonly version: string; readonly url: string; readonly material: string }

/** Why terms cannot be published. */
export type TermsRefusal = Exclude<Publication["kind"], "published"> | "material_unsaid"

type Props = {
  readonly visitor: Visitor
  /** The current ones first. */
  readonly published: readonly Terms[]
  readonly unacceptedCount: number
  readonly typed: TypedTerms
  /** Null: nothing was refused. */
  readonly refusal: TermsRefusal | null
  readonly done: string | null
}

/** The versions of the terms, and the form in which others are written down. */
export function TermsPage({ visitor, published, unacceptedCount, typed, refusal, done }: Props) {
  return (
    <AdminLayout route="adminTerms" section="adminTerms" title="Terms" visitor={visitor}>
      <Done says={done} />
      <p>{counted(unacceptedCount, "account has", "accounts have")} yet to accept material terms.</p>
      {published.length === 0 ? (
        <p>No terms are published.</p>
      ) : (
        <Table caption="Published terms" columns={["Version", "Address", "Published", "To be accepted"]}>
          {published.map(terms => (
            <TermsRow key={terms.version} terms={terms} />
          ))}
        </Table>
      )}
      <NewTermsForm typed={typed} refusal={refusal} />
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
        <Instant atMs={publishedAtMs} />
      </td>
      <td>
        {isMaterial ? (
          <>
            before <Instant atMs={noticeEndsAtMs(terms)} />
          </>
        ) : (
          "no"
        )}
      </td>
    </tr>
  )
}

/** Why terms cannot be published, and beside which field it is said. */
const REFUSALS: { readonly [R in TermsRefusal]: { readonly field: keyof TypedTerms; readonly says: string } } = {
  bad_version: { field: "version", says: "A version has 1 to 40 letters, digits, dots, dashes and underscores." },
  version_taken: {
    field: "version",
    says: "Other terms have this version, and published terms are never changed. Choose another version.",
  },
  bad_url: { field: "url", says: "The address is absolute and begins with http:// or https://." },
  material_unsaid: { field: "material", says: "Say whether accounts have to accept the terms." },
}

function NewTermsForm({ typed, refusal }: Pick<Props, "typed" | "refusal">) {
  const refused = refusal && REFUSALS[refusal]
  const faultAt = (field: keyof TypedTerms) => (refused?.field === field ? refused.says : null)
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
          value={typed.version}
          fault={faultAt("version")}
        />
        <TextField
          name="url"
          label="Address"
          hint="Where people read the terms."
          type="url"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          value={typed.url}
          fault={faultAt("url")}
        />
        <Choice
          name="material"
          label="Do accounts have to accept them?"
          hint={`When they do, every account is written to, and has ${LIMITS.termsNoticeDays} days.`}
          options={MATERIAL_OPTIONS}
          chosen={typed.material}
          fault={faultAt("material")}
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
