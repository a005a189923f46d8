import { errorCode } from "../../base/errors.ts"
import type { CacheValidators } from "../../base/fetch.ts"
import type { Clock } from "../../base/outside-world.ts"
import { parseJson } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import type { BootstrapSource } from "./age-probe.ts"
import { bundledBootstrap, parseBootstrap, type RdapBootstrap } from "./rdap-bootstrap.ts"

/** What became of asking for a newer bootstrap. */
export type BootstrapDownload =
  | { readonly kind: "unchanged" }
  | { readonly kind: "taken"; readonly text: string; readonly validators: CacheValidators }
  /** Why there is none: a sentence for the log. */
  | { readonly kind: "failed"; readonly message: string }

/** What a refresh needs. */
type BootstrapRefreshDeps = BootstrapFileDeps & {
  /** The operator named the URL: the bootstrap that is built in is not used then, not even until there is one. */
  readonly isOperatorUrl: boolean
  /** Asks for a newer bootstrap than the one that the validators are of; null: there is none. It never rejects. */
  readonly download: (known: CacheValidators | null) => Promise<BootstrapDownload>
  /** Calls `work` every so often, until the returned function is called. */
  readonly runInterval: (everyMs: number, work: () => void) => () => void
}

/** A bootstrap that is kept fresh. */
export type RefreshingBootstrap = BootstrapSource & {
  /** Keeps it fresh from now on; the returned function ends that. */
  readonly start: () => () => void
}

/** How often it is looked whether a refresh is due. */
const CHECK_INTERVAL_MS = 10 * 60_000
/** How soon a download that failed is tried again: in the background, and where somebody waits since there is no bootstrap. */
const RETRY_MS = 60 * 60_000
const RETRY_BLOCKING_MS = 10_000

/**
 * Builds a bootstrap that is refreshed once a day. One that is malformed, or that has lost a fifth of its names, is
 * refused, and the last good one serves. Processes that share a folder use what one of them has downloaded.
 */
export function createRefreshingBootstrap(needs: BootstrapRefreshDeps): RefreshingBootstrap {
  const held = new ActiveBootstrap(needs)
  let failedAtMs: number | null = null
  let underWay: Promise<void> | null = null

  const download = async (): Promise<void> => {
    const answer = await needs.download(held.stored?.validators ?? null)
    if (answer.kind === "failed") needs.onWarning(`The RDAP bootstrap was not downloaded. ${answer.message}`)
    const isGood = answer.kind !== "failed" && held.applyDownload(answer, needs.clock())
    failedAtMs = isGood ? null : needs.clock()
    if (isGood && held.stored !== null) await storeBootstrap(needs, held.stored)
  }
  const refresh = async (retryMs: number): Promise<void> => {
    held.applyStored(await readStoredBootstrap(needs))
    const isDue = held.stored === null || needs.clock() >= held.stored.checkedAtMs + DAY_MS
    if (isDue && (failedAtMs === null || needs.clock() >= failedAtMs + retryMs)) await download()
  }
  const refreshOnce = (retryMs: number): Promise<void> => {
    underWay ??= refresh(retryMs).finally(() => {
      underWay = null
    })
    return underWay
  }

  const current = (): RdapBootstrap | null => held.current
  const ready = async (): Promise<RdapBootstrap | null> => {
    if (held.current === null) await refreshOnce(RETRY_BLOCKING_MS)
    return held.current
  }
  const start = (): (() => void) => {
    // The one that is built in serves until then, and many who start together do not ask together.
    if (needs.isOperatorUrl) void refreshOnce(RETRY_MS)
    else void readStoredBootstrap(needs).then(kept => held.applyStored(kept))
    return needs.runInterval(CHECK_INTERVAL_MS, () => void refreshOnce(RETRY_MS))
  }
  return { current, ready, start }
}

/** Of every five names one that is gone means that the copy is not whole. */
const LOST_NAMES_SHARE = 5

/** The bootstrap that is in use, which only a good one replaces, and the copy that it was read from. */
class ActiveBootstrap {
  readonly #isOperatorUrl: boolean
  readonly #onWarning: (says: string) => void
  #bootstrap: RdapBootstrap | null = null
  #stored: StoredBootstrap | null = null

  constructor({ isOperatorUrl, onWarning }: BootstrapRefreshDeps) {
    this.#isOperatorUrl = isOperatorUrl
    this.#onWarning = onWarning
  }

  /** Null: the operator named one, and it has never come. */
  get current(): RdapBootstrap | null {
    return this.#bootstrap ?? (this.#isOperatorUrl ? null : bundledBootstrap())
  }

  /** Null: it is the one that is built in. */
  get stored(): StoredBootstrap | null {
    return this.#stored
  }

  /** Takes what was downloaded; false: it is refused. */
  applyDownload(answer: Exclude<BootstrapDownload, { kind: "failed" }>, checkedAtMs: number): boolean {
    if (answer.kind === "taken") return this.#adopt({ text: answer.text, validators: answer.validators, checkedAtMs })
    if (this.#stored === null) return false
    this.#stored = { ...this.#stored, checkedAtMs }
    return true
  }

  /** Takes what this process before its start, or another, has kept, if it is newer than what is in use. */
  applyStored(kept: StoredBootstrap | null): void {
    if (kept === null || kept.checkedAtMs <= (this.#stored?.checkedAtMs ?? 0)) return
    if (kept.text === this.#stored?.text) this.#stored = kept
    else this.#adopt(kept)
  }

  #adopt(copy: StoredBootstrap): boolean {
    const read = parseBootstrap(copy.text, this.#isOperatorUrl)
    if (read.kind === "refused") return this.#reject(read.message)
    const says = shrinkageMessage(this.current, read.bootstrap)
    if (says !== null) return this.#reject(says)
    // What a newer program carries serves on; the copy is still the newest that there is.
    if (this.#bootstrap !== null || !isOlder(read.bootstrap, this.current)) this.#bootstrap = read.bootstrap
    this.#stored = copy
    return true
  }

  #reject(says: string): false {
    this.#onWarning(`The RDAP bootstrap is refused. ${says}`)
    return false
  }
}

/** Why the new bootstrap cannot be whole; null: it may be. */
function shrinkageMessage(before: RdapBootstrap | null, after: RdapBootstrap): string | null {
  if (before === null) return null
  const lostCount = before.names.difference(after.names).size
  if (lostCount === 0 || lostCount * LOST_NAMES_SHARE < before.names.size) return null
  return `It has lost ${lostCount} of ${before.names.size} names.`
}

const isOlder = (one: RdapBootstrap, other: RdapBootstrap | null): boolean =>
  one.publishedAtMs !== null && other?.publishedAtMs != null && one.publishedAtMs < other.publishedAtMs

/** A bootstrap as it came, and when it was last known to be the newest, in milliseconds since the Unix epoch. */
type StoredBootstrap = {
  readonly text: string
  readonly validators: CacheValidators
  readonly checkedAtMs: number
}

/** Where a copy is kept for the next start. Each function rejects with the system's error. */
export type BootstrapFiles = {
  /** Null: there is no such file. */
  readonly read: (name: string) => Promise<Uint8Array | null>
  /** Puts a file in place of what was there, whole. */
  readonly writeAtomic: (name: string, text: string) => Promise<void>
}

/** How copies are kept. */
type BootstrapFileDeps = {
  /** Where the bootstrap is; a copy from elsewhere is not read. */
  readonly url: string
  /** Null: copies are not kept. */
  readonly folder: BootstrapFiles | null
  readonly clock: Clock
  /** Is told what went wrong, in a sentence for the log. */
  readonly onWarning: (says: string) => void
}

const BOOTSTRAP_FILE = "rdap-bootstrap.json"
const FILE_BYTES_MAX = 4 * 1024 * 1024

/** The copy that is kept; null: there is none of this URL, or it cannot be read. It never rejects. */
async function readStoredBootstrap(needs: BootstrapFileDeps): Promise<StoredBootstrap | null> {
  const bytes = await readBootstrapFile(needs)
  if (bytes === null || bytes.byteLength > FILE_BYTES_MAX) return null
  // No JSON, as when somebody else wrote there, has no members.
  const kept = parseJson(new TextDecoder().decode(bytes))
  const [text, checkedAtMs] = [ownMember(kept, "text"), ownMember(kept, "checked_at_ms")]
  if (ownMember(kept, "url") !== needs.url || typeof text !== "string" || typeof checkedAtMs !== "number") return null
  const validators = {
    etag: stringOrNull(ownMember(kept, "etag")),
    lastModified: stringOrNull(ownMember(kept, "last_modified")),
  }
  return { text, validators, checkedAtMs: Math.min(checkedAtMs, needs.clock()) }
}

async function readBootstrapFile({ folder, onWarning }: BootstrapFileDeps): Promise<Uint8Array | null> {
  try {
    return (await folder?.read(BOOTSTRAP_FILE)) ?? null
  } catch (error) {
    onWarning(`${BOOTSTRAP_FILE} cannot be read: ${errorCode(error)}.`)
    return null
  }
}

/** Keeps a copy in place of the one before. It never rejects. */
async function storeBootstrap(
  { folder, url, onWarning }: BootstrapFileDeps,
  { text, validators: { etag, lastModified }, checkedAtMs }: StoredBootstrap,
): Promise<void> {
  const kept = { url, checked_at_ms: checkedAtMs, etag, last_modified: lastModified, text }
  await folder
    ?.writeAtomic(BOOTSTRAP_FILE, JSON.stringify(kept))
    .catch(error => onWarning(`${BOOTSTRAP_FILE} cannot be written: ${errorCode(error)}.`))
}

const stringOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)
