import { type Static, Type as t } from "@sinclair/typebox"
import { LIMITS } from "./limits.ts"
import { boundedText, closed, describedAs, oneOf } from "./schema-parts.ts"

/** Why a sent entry changes nothing. */
export const OWN_LIST_FAULTS = {
  not_an_entry: { description: "It is neither an address, nor a domain, nor `*.` with a domain." },
  note_too_long: { description: `Its note has more than ${LIMITS.ownListNoteLengthMax} characters.` },
} as const satisfies Record<string, { readonly description: string }>
export type OwnListFault = keyof typeof OWN_LIST_FAULTS
const OWN_LIST_FAULT_NAMES = Object.keys(OWN_LIST_FAULTS) as OwnListFault[] // the keys of a table are its type's

const ENTRY = "`acme.com` (a domain with its subdomains), `*.acme.com` (its subdomains only), `jane@acme.com` (one address), or the stored form of an address"

/** The members of an answer that identify an entry. */
const TOLD_ENTRY = {
  entry: t.String({ description: "The stored form: `acme.com`, `*.acme.com`, or `sha256:…@acme.com`. Of an address only the hash is stored." }),
  shown_as: t.Union([t.String(), t.Null()], { description: "The masked form of an address, such as `j…e@acme.com`. Null for a domain, and where only the hash is known." }),
}

/** Body of POST /v1/block-list and /v1/allow-list. Unknown members are ignored. */
export const OwnListEntriesBody = t.Object(
  {
    entries: t.Array(
      t.Object(
        {
          entry: t.String({ description: `${ENTRY}.` }),
          note: t.Optional(boundedText(LIMITS.ownListNoteLengthMax, { description: "What you want to remember about it. Anything that looks like an address is removed. It replaces the note that the entry has." })),
        },
        { $id: "OwnListItem", description: "An entry to add. A plain string is an entry without a note." },
      ),
      { minItems: 1, maxItems: LIMITS.ownListRequestEntriesMax },
    ),
  },
  { $id: "OwnListEntriesBody", examples: [{ entries: [{ entry: "acme.com", note: "a competitor" }] }] },
)
export type OwnListEntriesBody = Static<typeof OwnListEntriesBody>

/** Body of DELETE /v1/block-list and /v1/allow-list. Unknown members are ignored. */
export const OwnListRemovalBody = t.Object({ entries: t.Array(t.String({ description: `${ENTRY}.` }), { minItems: 1, maxItems: LIMITS.ownListRequestEntriesMax }) }, { $id: "OwnListRemovalBody", examples: [{ entries: ["acme.com"] }] })

/** How many entries a page has where `limit` is absent. */
export const OWN_LIST_PAGE_ENTRIES = 100

/** The query of GET /v1/block-list and /v1/allow-list. */
export const OwnListQuery = t.Object({
  entry: t.Optional(t.String({ description: "Only this entry, if it is on the list: an address, a domain, `*.` with a domain, or a stored form." })),
  after: t.Optional(t.String({ description: "The `next` of the page before." })),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: LIMITS.ownListPageEntriesMax, description: `The most entries of the page, ${OWN_LIST_PAGE_ENTRIES} if absent.` })),
})

const OwnListEntryBody = t.Object(
  {
    ...TOLD_ENTRY,
    kind: oneOf("OwnListEntryKind", ["address", "domain", "subdomains"]),
    domain: t.String({ description: "The domain in A-labels." }),
    note: t.Union([t.String(), t.Null()], { description: "Your note. Null: there is none." }),
    added_at: t.String({ format: "date-time" }),
  },
  closed("OwnListEntry"),
)
export type OwnListEntryBody = Static<typeof OwnListEntryBody>

/** Response of GET /v1/block-list and /v1/allow-list. */
export const OwnListPage = t.Object(
  {
    entries: t.Array(OwnListEntryBody, { description: "Sorted by `entry`." }),
    next: t.Union([t.String(), t.Null()], { description: "What `after` takes for the next page. Null: this is the last one." }),
    total: t.Integer({ minimum: 0, description: "How many entries the list has." }),
  },
  closed("OwnListPage"),
)
export type OwnListPage = Static<typeof OwnListPage>

/** What became of one sent entry. */
const changeResult = <const S extends string>($id: string, statuses: readonly S[], description: string) =>
  t.Object(
    {
      index: t.Integer({ minimum: 0, description: "The position in `entries`, from 0." }),
      status: describedAs(oneOf(`${$id}Status`, statuses), description),
      entry: t.Union([TOLD_ENTRY.entry, t.Null()], { description: `${TOLD_ENTRY.entry.description} Null: it is invalid.` }),
      shown_as: TOLD_ENTRY.shown_as,
      reason: t.Union([oneOf("OwnListFault", OWN_LIST_FAULT_NAMES), t.Null()], { description: "Why it is invalid. Null: it is not." }),
    },
    closed($id),
  )

/** Response of POST /v1/block-list and /v1/allow-list. */
export const OwnListAddition = t.Object(
  {
    added: t.Integer({ minimum: 0 }),
    present: t.Integer({ minimum: 0, description: "How many were on the list already." }),
    invalid: t.Integer({ minimum: 0 }),
    results: t.Array(changeResult("AddedEntry", ["added", "present", "invalid"], "`present`: it was on the list already, or stands twice in this request."), { description: "One for each entry, in the same order." }),
  },
  closed("OwnListAddition"),
)
export type OwnListAddition = Static<typeof OwnListAddition>

/** Response of DELETE /v1/block-list and /v1/allow-list. */
export const OwnListRemoval = t.Object(
  {
    removed: t.Integer({ minimum: 0 }),
    absent: t.Integer({ minimum: 0, description: "How many were not on the list." }),
    invalid: t.Integer({ minimum: 0 }),
    results: t.Array(changeResult("RemovedEntry", ["removed", "absent", "invalid"], "`absent`: it was not on the list, or stands twice in this request."), { description: "One for each entry, in the same order." }),
  },
  closed("OwnListRemoval"),
)
export type OwnListRemoval = Static<typeof OwnListRemoval>
