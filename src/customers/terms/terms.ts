import type { Clock } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { lockChangeHead, type RecordChange, recordChanges } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { countNotified, NOBODY_NOTIFIED, noticeEndsAtMs, notifyNextAccounts, stopNotices } from "./terms-notices.ts"

/** One version of the terms. No two are published in the same millisecond; the latest that was not withdrawn is current. */
export type Terms = {
  readonly version: string
  /** Their address, as returned by `parseTermsUrl`. */
  readonly url: string
  /** True: accounts have to accept them. False: an acceptance of the previous terms still counts. */
  readonly isMaterial: boolean
  readonly publishedAtMs: number
  /** When they were withdrawn, so that nobody has to accept them. Absent: they were not. */
  readonly withdrawnAtMs?: number
}

/** The input of a publication. */
export type NewTerms = { readonly version: string; readonly url: string; readonly isMaterial: boolean }

/** The published terms (`isNew` false: published before), or why they were not published. */
export type TermsPublication =
  | { readonly kind: "published"; readonly terms: Terms; readonly isNew: boolean }
  /** Other terms, these, have this version. */
  | { readonly kind: "version_taken"; readonly terms: Terms }
  | { readonly kind: "bad_version" }
  | { readonly kind: "bad_url" }

/** Whether a text can be a version: it appears unchanged in a header, a table and a command. */
export const isTermsVersion = (text: string): boolean => /^[A-Za-z0-9._-]{1,40}$/.test(text)

/**
 * Publishes terms, dated now, or after the latest terms when the clock was set back. Publishing the same terms again changes
 * nothing; other terms under an existing version are refused. Material terms notify every account that has not accepted
 * them: the first ones here, the rest by `notifyNextAccounts`.
 */
export async function publishTerms(log: AttributedLog, wanted: NewTerms): Promise<TermsPublication> {
  const publication = await recordChanges(log, async (store, note): Promise<TermsPublication> => {
    // The lock makes the later of two publications see the other and take a later date.
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
    await recordAct(log, store, { kind: "terms_published", accountId: null, details: version })
    return { kind: "published", terms: { version, url, isMaterial, publishedAtMs }, isNew: true }
  })
  // Not under the lock of the log's head: deleting an account locks its row and then the head; the opposite order here could deadlock.
  if (publication.kind === "published" && publication.isNew && publication.terms.isMaterial)
    await notifyNextAccounts(log.store, log.clock())
  return publication
}

/** The withdrawn terms (`isNew` false: withdrawn before), or why they stay as they are. `notifiedCount`: how many accounts have got the mail about them. */
export type TermsWithdrawal =
  | {
      readonly kind: "withdrawn"
      readonly terms: Terms & { readonly withdrawnAtMs: number }
      readonly isNew: boolean
      readonly notifiedCount: number
    }
  | { readonly kind: "unknown_version" }
  /** They hold: they are not material, or their notice has ended. */
  | { readonly kind: "in_force"; readonly terms: Terms }
  /** Other terms, these, were published after them. */
  | { readonly kind: "superseded"; readonly terms: Terms }

/** Whether nobody is refused for terms yet, because their notice runs. Terms that are not material hold at once. */
const isInNotice = (terms: Terms, nowMs: number): boolean => terms.isMaterial && nowMs < noticeEndsAtMs(terms)

/** Of all terms, the latest first, those that can be withdrawn now; null: none can. */
export function withdrawableTerms(published: readonly Terms[], nowMs: number): Terms | null {
  const current = published.find(({ withdrawnAtMs }) => withdrawnAtMs === undefined)
  return current !== undefined && isInNotice(current, nowMs) ? current : null
}

/**
 * Withdraws the current terms before they hold, which is while their notice runs: nobody has to accept them, mails about them that wait are not
 * sent, and the terms before them are current again. Who accepted them has accepted those too. A withdrawn version is never published again.
 */
export async function withdrawTerms(log: AttributedLog, version: string): Promise<TermsWithdrawal> {
  return await recordChanges(log, async (store, note): Promise<TermsWithdrawal> => {
    // The row first, which `notifyNextAccounts` holds while it waits for rows of accounts; with the head first they could deadlock.
    await store.run("UPDATE terms SET told_up_to = told_up_to WHERE version = $1", [version])
    // The lock makes a publication at the same moment see this withdrawal, or this one see the publication.
    await lockChangeHead(store)
    const terms = await findTerms(store, version)
    if (terms === null) return { kind: "unknown_version" }
    const { withdrawnAtMs } = terms
    if (withdrawnAtMs !== undefined)
      return {
        kind: "withdrawn",
        terms: { ...terms, withdrawnAtMs },
        isNew: false,
        ...(await countNotified(store, version)),
      }
    const current = await currentTerms(store)
    if (current !== null && current.version !== version) return { kind: "superseded", terms: current }
    const nowMs = log.clock()
    if (!isInNotice(terms, nowMs)) return { kind: "in_force", terms }
    await note("terms_published", version)
    await store.run("UPDATE terms SET withdrawn_at_ms = $2 WHERE version = $1", [version, nowMs])
    await stopNotices(store, version)
    await recordAct(log, store, { kind: "terms_withdrawn", accountId: null, details: version })
    return {
      kind: "withdrawn",
      terms: { ...terms, withdrawnAtMs: nowMs },
      isNew: true,
      ...(await countNotified(store, version)),
    }
  })
}

/** The terms as they would be published now, or the refusal of `publishTerms`. */
type PublicationPreview = { readonly kind: "publishable"; readonly terms: Terms } | TermsPublication

/** Previews a publication without publishing anything. */
export async function previewPublication(
  store: Store,
  clock: Clock,
  { version, url, isMaterial }: NewTerms,
): Promise<PublicationPreview> {
  if (!isTermsVersion(version)) return { kind: "bad_version" }
  const written = parseTermsUrl(url)
  if (written === null) return { kind: "bad_url" }
  const before = await findTerms(store, version)
  if (before === null) {
    const publishedAtMs = await nextPublicationMs(store, clock)
    return { kind: "publishable", terms: { version, url: written, isMaterial, publishedAtMs } }
  }
  const isSame = before.url === written && before.isMaterial === isMaterial && before.withdrawnAtMs === undefined
  return isSame ? { kind: "published", terms: before, isNew: false } : { kind: "version_taken", terms: before }
}

/** All published terms, also those that were withdrawn, the latest first. */
export async function listTerms(store: Store): Promise<readonly Terms[]> {
  const rows = await store.all<TermsRow>("SELECT * FROM terms ORDER BY published_at_ms DESC")
  return rows.map(toTerms)
}

/** The version that a new account accepts; null when no terms are published. */
export async function currentTermsVersion(store: Store): Promise<string | null> {
  return (await currentTerms(store))?.version ?? null
}

/** The accepted terms and the time of acceptance (`isNew` false: accepted before), or why nothing was accepted. */
type TermsAcceptanceResult =
  | { readonly kind: "accepted"; readonly terms: Terms; readonly acceptedAtMs: number; readonly isNew: boolean }
  | { readonly kind: "none_published" }
  /** Other terms, these, are current than those that were read. */
  | { readonly kind: "other_version"; readonly terms: Terms }
  | { readonly kind: "unknown_account" }

/**
 * Accepts the current terms for an account; when it resolves, its keys are accepted again in this process. Idempotent: the
 * first time counts. Nothing changes when no terms are published, or when `readVersion`, the version that the person has
 * read, is not the current one (null: whichever is current).
 */
export async function acceptTerms(
  log: AttributedLog,
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
    // With a clock that was set back, the acceptance is still not dated before the terms.
    const acceptedAtMs = Math.max(log.clock(), terms.publishedAtMs)
    await store.run("UPDATE accounts SET accepted_terms_version = $2, accepted_terms_at_ms = $3 WHERE id = $1", [
      accountId,
      terms.version,
      acceptedAtMs,
    ])
    await recordAct(log, store, { kind: "terms_accepted", accountId, details: terms.version })
    await note("account_changed", accountId)
    return { kind: "accepted", terms, acceptedAtMs, isNew: true }
  })
  // Another process may have accepted them without this one having read it yet.
  if (result.kind === "accepted" && !result.isNew) log.notify([{ kind: "account_changed", subject: accountId }])
  return result
}

/** Counts the accounts that have yet to accept material terms, before or after the end of their notice. */
export async function countUnaccepted(store: Store): Promise<number> {
  const row = await store.one<{ unaccepted: number }>(
    `SELECT COUNT(*) AS unaccepted FROM accounts LEFT JOIN terms ON terms.version = accounts.accepted_terms_version
     WHERE COALESCE(terms.published_at_ms, accounts.accepted_terms_at_ms, -1)
       < (SELECT MAX(published_at_ms) FROM terms WHERE is_material = 1 AND withdrawn_at_ms IS NULL)`,
  )
  return row?.unaccepted ?? 0
}

type TermsRow = {
  readonly version: string
  readonly url: string
  readonly is_material: 0 | 1
  readonly published_at_ms: number
  readonly withdrawn_at_ms: number | null
}

type AcceptanceRow = { readonly accepted_terms_version: string | null; readonly accepted_terms_at_ms: number | null }

function toTerms(row: TermsRow): Terms {
  return {
    version: row.version,
    url: row.url,
    isMaterial: row.is_material === 1,
    publishedAtMs: row.published_at_ms,
    ...(row.withdrawn_at_ms === null ? {} : { withdrawnAtMs: row.withdrawn_at_ms }),
  }
}

async function findTerms(store: Store, version: string): Promise<Terms | null> {
  const row = await store.one<TermsRow>("SELECT * FROM terms WHERE version = $1", [version])
  return row && toTerms(row)
}

async function currentTerms(store: Store): Promise<Terms | null> {
  const row = await store.one<TermsRow>(
    "SELECT * FROM terms WHERE withdrawn_at_ms IS NULL ORDER BY published_at_ms DESC LIMIT 1",
  )
  return row && toTerms(row)
}

/** The publication date of terms published now, which is after that of all others. */
async function nextPublicationMs(store: Store, clock: Clock): Promise<number> {
  const row = await store.one<{ latest: number | null }>("SELECT MAX(published_at_ms) AS latest FROM terms")
  return Math.max(clock(), (row?.latest ?? -1) + 1)
}

/**
 * An account created before there were terms has a time of acceptance and no version. If the clock was set back since, that
 * time is not before this publication and would count as accepting it; so the publication is dated after it.
 */
async function backdateAcceptances(store: Store, note: RecordChange, publishedAtMs: number): Promise<void> {
  const dated = await store.all<{ id: string }>(
    `UPDATE accounts SET accepted_terms_at_ms = $1
     WHERE accepted_terms_version IS NULL AND accepted_terms_at_ms > $1 RETURNING id`,
    [publishedAtMs - 1],
  )
  for (const { id } of dated) await note("account_changed", id)
}

/** Scheme and two slashes (RFC 3986), without space, control character or backslash, which `URL` would drop or convert. */
const URL_FORMAT = /^https?:\/\/(?!\/)[^\s\p{C}\\]+$/iu

/**
 * Parses the address of terms and returns it as `URL` serialises it: absolute, `http` or `https`, without user and password,
 * at most `LIMITS.urlLengthMax` printable ASCII characters. Null when the text is no such address.
 */
export function parseTermsUrl(text: string): string | null {
  if (text.length > LIMITS.urlLengthMax || !URL_FORMAT.test(text)) return null
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return null
  return url.href.length > LIMITS.urlLengthMax ? null : url.href
}
