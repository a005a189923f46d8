import type { Clock } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import { type ChangeLog, lockChangeHead, type RecordChange, recordChanges } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { NOBODY_NOTIFIED, notifyNextAccounts } from "./terms-notices.ts"

/** One version of the terms that accounts agree to. No two are published in the same millisecond: the latest is current. */
export type Terms = {
  readonly version: string
  /** Where they can be read, as `parseTermsUrl` writes it. */
  readonly url: string
  /** True: accounts have to accept them. False: whoever accepted those before has nothing to do. */
  readonly isMaterial: boolean
  readonly publishedAtMs: number
}

/** What is published. */
export type NewTerms = { readonly version: string; readonly url: string; readonly isMaterial: boolean }

/** The terms as they were published, now or (`isNew` false) before; or why they are not. */
export type TermsPublication =
  | { readonly kind: "published"; readonly terms: Terms; readonly isNew: boolean }
  /** Other terms have this version: these. */
  | { readonly kind: "version_taken"; readonly terms: Terms }
  | { readonly kind: "bad_version" }
  | { readonly kind: "bad_url" }

/** What a version may be written with: it stands in a header, a table and a command as it is. */
const VERSION_FORMAT = /^[A-Za-z0-9._-]{1,40}$/

/**
 * Publishes terms, dated now, or after the latest ones when the clock was set back. The same terms once more change
 * nothing; other terms under a version that exists are refused. When they are material, every account that has not
 * accepted them is written to: the first ones here, the rest by `notifyNextAccounts`, which the publication has set going.
 */
export async function publishTerms(log: ChangeLog, wanted: NewTerms): Promise<TermsPublication> {
  const publication = await recordChanges(log, async (store, note): Promise<TermsPublication> => {
    // So that of two publications the later one knows of the other, and gets another date.
    await lockChangeHead(store)
    const weighed = await previewPublication(store, log.clock, wanted)
    if (weighed.kind !== "publishable") return weighed
    const { version, url, isMaterial } = weighed.terms
    await note("terms_published", version)
    const publishedAtMs = await nextPublicationMs(store, log.clock)
    await store.run(
      "INSERT INTO terms (version, url, is_material, published_at_ms, told_up_to) VALUES ($1, $2, $3, $4, $5)",
      [version, url, isMaterial ? 1 : 0, publishedAtMs, isMaterial ? NOBODY_NOTIFIED : null],
    )
    await backdateAcceptances(store, note, publishedAtMs)
    return { kind: "published", terms: { version, url, isMaterial, publishedAtMs }, isNew: true }
  })
  // Not under the log's head: who removes an account has its row and waits for the head, and here it would be the other way round.
  if (publication.kind === "published" && publication.isNew && publication.terms.isMaterial)
    await notifyNextAccounts(log.store, log.clock())
  return publication
}

/** Terms as they would be published now; or what `publishTerms` would say of them without publishing anything. */
type PublicationPreview = { readonly kind: "publishable"; readonly terms: Terms } | TermsPublication

/** Tells what would become of a publication, and publishes nothing. */
export async function previewPublication(
  store: Store,
  clock: Clock,
  { version, url, isMaterial }: NewTerms,
): Promise<PublicationPreview> {
  if (!VERSION_FORMAT.test(version)) return { kind: "bad_version" }
  const written = parseTermsUrl(url)
  if (written === null) return { kind: "bad_url" }
  const before = await findTerms(store, version)
  if (before === null) {
    const publishedAtMs = await nextPublicationMs(store, clock)
    return { kind: "publishable", terms: { version, url: written, isMaterial, publishedAtMs } }
  }
  const isSame = before.url === written && before.isMaterial === isMaterial
  return isSame ? { kind: "published", terms: before, isNew: false } : { kind: "version_taken", terms: before }
}

/** All terms that were published, the current ones first. */
export async function listTerms(store: Store): Promise<readonly Terms[]> {
  const rows = await store.all<TermsRow>("SELECT * FROM terms ORDER BY published_at_ms DESC")
  return rows.map(toTerms)
}

/** The version that a new account accepts; null when no terms are published. */
export async function currentTermsVersion(store: Store): Promise<string | null> {
  return (await currentTerms(store))?.version ?? null
}

/** The terms that the account has accepted and when, now or (`isNew` false) before; or why it has accepted nothing. */
type TermsAcceptanceResult =
  | { readonly kind: "accepted"; readonly terms: Terms; readonly acceptedAtMs: number; readonly isNew: boolean }
  | { readonly kind: "none_published" }
  /** Others are current than the ones that were read: these. */
  | { readonly kind: "other_version"; readonly terms: Terms }
  | { readonly kind: "unknown_account" }

/**
 * Accepts the current terms for an account, whose keys are let in again in this process when it resolves. Accepting twice
 * is accepting once, at the first time. Nothing changes when no terms are published, nor when `readVersion`, that of the
 * terms that somebody has read and agrees to, is not the current one; null: whichever is current.
 */
export async function acceptTerms(
  log: ChangeLog,
  accountId: string,
  readVersion: string | null = null,
): Promise<TermsAcceptanceResult> {
  const result = await recordChanges(log, async (store, note): Promise<TermsAcceptanceResult> => {
    const account = await store.one<AcceptanceRow>(
      "SELECT accepted_terms_version, accepted_terms_at_ms FROM accounts WHERE id = $1",
      [accountId],
    )
    if (account === null) return { kind: "unknown_account" }
    const terms = await currentTerms(store)
    if (terms === null) return { kind: "none_published" }
    if (readVersion !== null && readVersion !== terms.version) return { kind: "other_version", terms }
    const { accepted_terms_version: version, accepted_terms_at_ms: atMs } = account
    if (version === terms.version && atMs !== null) return { kind: "accepted", terms, acceptedAtMs: atMs, isNew: false }
    // A clock that was set back does not date it before what it accepts.
    const acceptedAtMs = Math.max(log.clock(), terms.publishedAtMs)
    await store.run("UPDATE accounts SET accepted_terms_version = $2, accepted_terms_at_ms = $3 WHERE id = $1", [
      accountId,
      terms.version,
      acceptedAtMs,
    ])
    await note("account_changed", accountId)
    return { kind: "accepted", terms, acceptedAtMs, isNew: true }
  })
  // Another process may have accepted them, and this one not have read of it yet.
  if (result.kind === "accepted" && !result.isNew) log.notify([{ kind: "account_changed", subject: accountId }])
  return result
}

/** How many accounts have yet to accept material terms, be their notice over or not. */
export async function countUnaccepted(store: Store): Promise<number> {
  const row = await store.one<{ unaccepted: number }>(
    `SELECT COUNT(*) AS unaccepted FROM accounts LEFT JOIN terms ON terms.version = accounts.accepted_terms_version
     WHERE COALESCE(terms.published_at_ms, accounts.accepted_terms_at_ms, -1)
       < (SELECT MAX(published_at_ms) FROM terms WHERE is_material = 1)`,
  )
  return row?.unaccepted ?? 0
}

type TermsRow = {
  readonly version: string
  readonly url: string
  readonly is_material: 0 | 1
  readonly published_at_ms: number
}

type AcceptanceRow = { readonly accepted_terms_version: string | null; readonly accepted_terms_at_ms: number | null }

function toTerms(row: TermsRow): Terms {
  return {
    version: row.version,
    url: row.url,
    isMaterial: row.is_material === 1,
    publishedAtMs: row.published_at_ms,
  }
}

async function findTerms(store: Store, version: string): Promise<Terms | null> {
  const row = await store.one<TermsRow>("SELECT * FROM terms WHERE version = $1", [version])
  return row && toTerms(row)
}

async function currentTerms(store: Store): Promise<Terms | null> {
  const row = await store.one<TermsRow>("SELECT * FROM terms ORDER BY published_at_ms DESC LIMIT 1")
  return row && toTerms(row)
}

/** The date of terms that are published now. */
async function nextPublicationMs(store: Store, clock: Clock): Promise<number> {
  const latest = await currentTerms(store)
  return Math.max(clock(), (latest?.publishedAtMs ?? -1) + 1)
}

/**
 * An account that was made before there were terms has a time in place of a version. When the clock was set back since
 * then, or stands still, that time is not before this publication, and would pass for an acceptance of what is published.
 */
async function backdateAcceptances(store: Store, note: RecordChange, publishedAtMs: number): Promise<void> {
  const dated = await store.all<{ id: string }>(
    `UPDATE accounts SET accepted_terms_at_ms = $1
     WHERE accepted_terms_version IS NULL AND accepted_terms_at_ms > $1 RETURNING id`,
    [publishedAtMs - 1],
  )
  for (const { id } of dated) await note("account_changed", id)
}

/** Scheme and two slashes as RFC 3986 writes them, and no space, control or backslash, which `URL` would drop or turn. */
const URL_FORMAT = /^https?:\/\/(?!\/)[^\s\p{C}\\]+$/iu

/**
 * The address of terms as `URL` writes it: absolute, `http` or `https`, without user and password, at most
 * `LIMITS.urlLengthMax` characters, all of them printable ASCII. Null when the text is no such address.
 */
export function parseTermsUrl(text: string): string | null {
  if (text.length > LIMITS.urlLengthMax || !URL_FORMAT.test(text)) return null
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return null
  return url.href.length > LIMITS.urlLengthMax ? null : url.href
}
