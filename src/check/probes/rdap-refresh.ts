import { DAY_MS } from "../../base/utc-day.ts"
import type { Validators } from "../../base/web.ts"
import { type BootstrapCopy, type CopyNeeds, keepCopy, readCopy } from "./bootstrap-copy.ts"
import type { BootstrapInUse } from "./rdap.ts"
import { type Bootstrap, builtInBootstrap, readBootstrap } from "./rdap-bootstrap.ts"

/** What became of asking for a newer bootstrap. */
export type BootstrapDownloaded =
  | { readonly kind: "unchanged" }
  | { readonly kind: "taken"; readonly text: string; readonly validators: Validators }
  /** Why there is none: a sentence for the log. */
  | { readonly kind: "failed"; readonly says: string }

/** What a refresh needs. */
export type BootstrapNeeds = CopyNeeds & {
  /** The operator named the URL: the bootstrap that is built in is not used then, not even until there is one. */
  readonly isOwn: boolean
  /** Asks for a newer bootstrap than the one that the validators are of; null: there is none. It never rejects. */
  readonly download: (known: Validators | null) => Promise<BootstrapDownloaded>
  /** Calls `work` every so often, until the returned function is called. */
  readonly every: (everyMs: number, work: () => void) => () => void
}

/** A bootstrap that is kept fresh. */
export type RefreshedBootstrap = BootstrapInUse & {
  /** Keeps it fresh from now on; the returned function ends that. */
  readonly start: () => () => void
}

/** How often it is looked whether a refresh is due. */
const LOOK_MS = 10 * 60_000
/** How soon a download that failed is tried again: in the background, and where somebody waits since there is no bootstrap. */
const RETRY_MS = 60 * 60_000
const RETRY_WAITED_MS = 10_000

/**
 * Builds a bootstrap that is refreshed once a day. One that is malformed, or that has lost a fifth of its names, is
 * refused, and the last good one serves. Processes that share a folder use what one of them has downloaded.
 */
export function refreshedBootstrap(needs: BootstrapNeeds): RefreshedBootstrap {
  const held = new HeldBootstrap(needs)
  let failedAtMs: number | null = null
  let underWay: Promise<void> | null = null

  const download = async (): Promise<void> => {
    const answer = await needs.download(held.copy?.validators ?? null)
    if (answer.kind === "failed") needs.complain(`The RDAP bootstrap was not downloaded. ${answer.says}`)
    const isGood = answer.kind !== "failed" && held.take(answer, needs.clock())
    failedAtMs = isGood ? null : needs.clock()
    if (isGood && held.copy !== null) await keepCopy(needs, held.copy)
  }
  const refresh = async (retryMs: number): Promise<void> => {
    held.takeKept(await readCopy(needs))
    const isDue = held.copy === null || needs.clock() >= held.copy.checkedAtMs + DAY_MS
    if (isDue && (failedAtMs === null || needs.clock() >= failedAtMs + retryMs)) await download()
  }
  const refreshOnce = (retryMs: number): Promise<void> => {
    underWay ??= refresh(retryMs).finally(() => {
      underWay = null
    })
    return underWay
  }

  const current = (): Bootstrap | null => held.inUse
  const ready = async (): Promise<Bootstrap | null> => {
    if (held.inUse === null) await refreshOnce(RETRY_WAITED_MS)
    return held.inUse
  }
  const start = (): (() => void) => {
    // The one that is built in serves until then, and many who start together do not ask together.
    if (needs.isOwn) void refreshOnce(RETRY_MS)
    else void readCopy(needs).then(kept => held.takeKept(kept))
    return needs.every(LOOK_MS, () => void refreshOnce(RETRY_MS))
  }
  return { current, ready, start }
}

/** Of every five names one that is gone means that the copy is not whole. */
const LOST_SHARE = 5

/** The bootstrap that is in use, which only a good one replaces, and the copy that it was read from. */
class HeldBootstrap {
  readonly #isOwn: boolean
  readonly #complain: (says: string) => void
  #bootstrap: Bootstrap | null = null
  #copy: BootstrapCopy | null = null

  constructor({ isOwn, complain }: BootstrapNeeds) {
    this.#isOwn = isOwn
    this.#complain = complain
  }

  /** Null: the operator named one, and it has never come. */
  get inUse(): Bootstrap | null {
    return this.#bootstrap ?? (this.#isOwn ? null : builtInBootstrap())
  }

  /** Null: it is the one that is built in. */
  get copy(): BootstrapCopy | null {
    return this.#copy
  }

  /** Takes what was downloaded; false: it is refused. */
  take(answer: Exclude<BootstrapDownloaded, { kind: "failed" }>, checkedAtMs: number): boolean {
    if (answer.kind === "taken") return this.#adopt({ text: answer.text, validators: answer.validators, checkedAtMs })
    if (this.#copy === null) return false
    this.#copy = { ...this.#copy, checkedAtMs }
    return true
  }

  /** Takes what this process before its start, or another, has kept, if it is newer than what is in use. */
  takeKept(kept: BootstrapCopy | null): void {
    if (kept === null || kept.checkedAtMs <= (this.#copy?.checkedAtMs ?? 0)) return
    if (kept.text === this.#copy?.text) this.#copy = kept
    else this.#adopt(kept)
  }

  #adopt(copy: BootstrapCopy): boolean {
    const read = readBootstrap(copy.text, this.#isOwn)
    if (read.kind === "refused") return this.#refuse(read.says)
    const says = shrinkage(this.inUse, read.bootstrap)
    if (says !== null) return this.#refuse(says)
    // What a newer program carries serves on; the copy is still the newest that there is.
    if (this.#bootstrap !== null || !isOlder(read.bootstrap, this.inUse)) this.#bootstrap = read.bootstrap
    this.#copy = copy
    return true
  }

  #refuse(says: string): false {
    this.#complain(`The RDAP bootstrap is refused. ${says}`)
    return false
  }
}

/** Why the new bootstrap cannot be whole; null: it may be. */
function shrinkage(before: Bootstrap | null, after: Bootstrap): string | null {
  if (before === null) return null
  const lostCount = before.names.difference(after.names).size
  if (lostCount === 0 || lostCount * LOST_SHARE < before.names.size) return null
  return `It has lost ${lostCount} of ${before.names.size} names.`
}

const isOlder = (one: Bootstrap, other: Bootstrap | null): boolean =>
  one.publishedAtMs !== null && other?.publishedAtMs != null && one.publishedAtMs < other.publishedAtMs
