import { errorCode } from "../../base/errors.ts"
import type { CacheValidators } from "../../base/fetch.ts"
import type { Clock } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { parseJson } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import type { DownloadResult } from "../fetch/download.ts"
import type { BootstrapSource } from "./age-probe.ts"
import { bundledBootstrap, parseBootstrap, type RdapBootstrap } from "./rdap-bootstrap.ts"

type BootstrapRefreshDeps = BootstrapFileDeps & {
  /** The operator set the URL. Then the bundled bootstrap is never used, not even before the first download. */
  readonly isOperatorUrl: boolean
  /** Downloads a bootstrap that is newer than the one with these validators; null: there is none yet. It never rejects. */
  readonly download: (validators: CacheValidators | null) => Promise<DownloadResult>
  /** Calls `work` at each interval, until the returned function is called. */
  readonly runInterval: (everyMs: number, work: () => void) => () => void
}

/** A bootstrap that is refreshed in the background. */
export type RefreshingBootstrap = BootstrapSource & {
  /** Starts the refreshes. The returned function stops them. */
  readonly start: () => () => void
}

/** How often it is checked whether a refresh is due. */
const CHECK_INTERVAL_MS = 10 * 60_000
/** When a failed download is repeated: in the background, and while lookups wait for the first bootstrap. */
const RETRY_MS = 60 * 60_000
const RETRY_BLOCKING_MS = 10_000

/**
 * Builds a bootstrap that is refreshed once a day. A download that is malformed, or that has lost a fifth of the names, is
 * rejected, and the previous bootstrap stays in use. Processes that share a folder share their downloads.
 */
export function createRefreshingBootstrap(deps: BootstrapRefreshDeps): RefreshingBootstrap {
  const active = new ActiveBootstrap(deps)
  const flight = new SingleFlight<"refresh", void>()
  let failedAtMs: number | null = null

  const download = async (): Promise<void> => {
    const result = await deps.download(active.stored?.validators ?? null)
    if (result.kind === "failed") deps.onWarning(`The RDAP bootstrap was not downloaded. ${result.message}`)
    const isAccepted = result.kind !== "failed" && active.applyDownload(result, deps.clock())
    failedAtMs = isAccepted ? null : deps.clock()
    if (isAccepted && active.stored !== null) await storeBootstrap(deps, active.stored)
  }
  const refresh = async (retryMs: number): Promise<void> => {
    active.applyStored(await readStoredBootstrap(deps))
    const isDue = active.stored === null || deps.clock() >= active.stored.checkedAtMs + DAY_MS
    if (isDue && (failedAtMs === null || deps.clock() >= failedAtMs + retryMs)) await download()
  }
  const refreshOnce = (retryMs: number): Promise<void> => flight.run("refresh", () => refresh(retryMs))

  return {
    current: () => active.current,
    ready: async () => {
      if (active.current === null) await refreshOnce(RETRY_BLOCKING_MS)
      return active.current
    },
    start: () => {
      // The bundled bootstrap is used until the first interval, so that many servers that start together do not all download.
      if (deps.isOperatorUrl) void refreshOnce(RETRY_MS)
      else void readStoredBootstrap(deps).then(stored => active.applyStored(stored))
      return deps.runInterval(CHECK_INTERVAL_MS, () => void refreshOnce(RETRY_MS))
    },
  }
}

/** A download that has lost one of every five names is incomplete. */
const LOST_NAMES_SHARE = 5

/** The bootstrap in use, and the stored one from which it was parsed. Only a valid bootstrap replaces it. */
class ActiveBootstrap {
  readonly #isOperatorUrl: boolean
  readonly #onWarning: (message: string) => void
  #bootstrap: RdapBootstrap | null = null
  #stored: StoredBootstrap | null = null

  constructor({ isOperatorUrl, onWarning }: BootstrapRefreshDeps) {
    this.#isOperatorUrl = isOperatorUrl
    this.#onWarning = onWarning
  }

  /** Null: the operator set the URL, and no download has succeeded yet. */
  get current(): RdapBootstrap | null {
    return this.#bootstrap ?? (this.#isOperatorUrl ? null : bundledBootstrap())
  }

  /** Null: nothing was downloaded yet, by this process or another. */
  get stored(): StoredBootstrap | null {
    return this.#stored
  }

  /** Applies a download. False: it was rejected. */
  applyDownload(download: Exclude<DownloadResult, { kind: "failed" }>, checkedAtMs: number): boolean {
    if (download.kind === "taken")
      return this.#adopt({ text: download.text, validators: download.validators, checkedAtMs })
    if (this.#stored === null) return false
    this.#stored = { ...this.#stored, checkedAtMs }
    return true
  }

  /** Applies the bootstrap that an earlier or another process stored, if it is newer. */
  applyStored(stored: StoredBootstrap | null): void {
    if (stored === null || stored.checkedAtMs <= (this.#stored?.checkedAtMs ?? 0)) return
    if (stored.text === this.#stored?.text) this.#stored = stored
    else this.#adopt(stored)
  }

  #adopt(stored: StoredBootstrap): boolean {
    const parsed = parseBootstrap(stored.text, this.#isOperatorUrl)
    if (parsed.kind === "refused") return this.#reject(parsed.message)
    const shrinkage = shrinkageMessage(this.current, parsed.bootstrap)
    if (shrinkage !== null) return this.#reject(shrinkage)
    // A bundled bootstrap that was published later stays in use, as after an update of the program.
    if (this.#bootstrap !== null || !isOlder(parsed.bootstrap, this.current)) this.#bootstrap = parsed.bootstrap
    this.#stored = stored
    return true
  }

  #reject(message: string): false {
    this.#onWarning(`The RDAP bootstrap is refused. ${message}`)
    return false
  }
}

/** Why the new bootstrap must be incomplete; null: it may be complete. */
function shrinkageMessage(previous: RdapBootstrap | null, next: RdapBootstrap): string | null {
  if (previous === null) return null
  const lostCount = [...previous.names].filter(name => !next.names.has(name)).length
  if (lostCount === 0 || lostCount * LOST_NAMES_SHARE < previous.names.size) return null
  return `It has lost ${lostCount} of ${previous.names.size} names.`
}

const isOlder = (one: RdapBootstrap, other: RdapBootstrap | null): boolean =>
  one.publishedAtMs !== null && other?.publishedAtMs != null && one.publishedAtMs < other.publishedAtMs

/** A downloaded bootstrap, and when it was last known to be the newest, in milliseconds since the Unix epoch. */
type StoredBootstrap = {
  readonly text: string
  readonly validators: CacheValidators
  readonly checkedAtMs: number
}

/** The folder of the bootstrap file. Each function rejects with the system's error. */
export type BootstrapFiles = {
  /** Null: there is no such file. */
  readonly read: (name: string) => Promise<Uint8Array | null>
  /** Replaces the file as a whole. */
  readonly writeAtomic: (name: string, text: string) => Promise<void>
}

type BootstrapFileDeps = {
  /** The URL of the bootstrap. A stored bootstrap of another URL is ignored. */
  readonly url: string
  /** Null: nothing is stored. */
  readonly folder: BootstrapFiles | null
  readonly clock: Clock
  /** Receives a sentence for the log. */
  readonly onWarning: (message: string) => void
}

const BOOTSTRAP_FILE = "rdap-bootstrap.json"
const FILE_BYTES_MAX = 4 * 1024 * 1024

/** The stored bootstrap; null: there is none of this URL, or it cannot be read. It never rejects. */
async function readStoredBootstrap(deps: BootstrapFileDeps): Promise<StoredBootstrap | null> {
  const bytes = await readBootstrapFile(deps)
  if (bytes === null || bytes.byteLength > FILE_BYTES_MAX) return null
  // A file that is no JSON has no members.
  const json = parseJson(new TextDecoder().decode(bytes))
  const [text, checkedAtMs] = [ownMember(json, "text"), ownMember(json, "checked_at_ms")]
  if (ownMember(json, "url") !== deps.url || typeof text !== "string" || typeof checkedAtMs !== "number") return null
  const validators = {
    etag: stringOrNull(ownMember(json, "etag")),
    lastModified: stringOrNull(ownMember(json, "last_modified")),
  }
  return { text, validators, checkedAtMs: Math.min(checkedAtMs, deps.clock()) }
}

async function readBootstrapFile({ folder, onWarning }: BootstrapFileDeps): Promise<Uint8Array | null> {
  try {
    return (await folder?.read(BOOTSTRAP_FILE)) ?? null
  } catch (error) {
    onWarning(`${BOOTSTRAP_FILE} cannot be read: ${errorCode(error)}.`)
    return null
  }
}

/** Stores a bootstrap in place of the previous one. It never rejects. */
async function storeBootstrap(
  { folder, url, onWarning }: BootstrapFileDeps,
  { text, validators: { etag, lastModified }, checkedAtMs }: StoredBootstrap,
): Promise<void> {
  const json = { url, checked_at_ms: checkedAtMs, etag, last_modified: lastModified, text }
  await folder
    ?.writeAtomic(BOOTSTRAP_FILE, JSON.stringify(json))
    .catch(error => onWarning(`${BOOTSTRAP_FILE} cannot be written: ${errorCode(error)}.`))
}

const stringOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)
