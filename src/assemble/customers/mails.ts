import { isIP } from "node:net"
import { type Log, logError } from "../../base/log.ts"
import { createIntervals, DAY_MS } from "../../base/time.ts"
import type { Settings } from "../../config/settings.ts"
import { createMail, MAIL_SENDER_BOUNDS, MailSender, senderDomain } from "../../customers/notices/mail-sender.ts"
import type { Mailer, SendResult } from "../../customers/notices/mailer.ts"
import { type LinkContext, type Notice, noticeContent } from "../../customers/notices/notices.ts"
import { pruneOutbox } from "../../customers/notices/outbox.ts"
import { randomBase62 } from "../../customers/store/core/id.ts"
import type { Store } from "../../customers/store/core/store.ts"
import { notifyNextAccounts } from "../../customers/terms/terms-notices.ts"
import type { System } from "../../system/system.ts"

/** How often the outbox is looked into, for mails of other processes too. */
const OUTBOX_POLL_MS = 1000
/** Claims are renewed three times in each lease. */
const CLAIM_RENEWAL_MS = MAIL_SENDER_BOUNDS.leaseMs / 3
const PRUNE_MS = 600_000
/** How many rows a pruning deletes of each kind at once. */
const PRUNED_ROWS_MAX = 1000
/** How long a mail that has ended is kept, and one that waits while none can be sent. */
const RETENTION_MS = 30 * DAY_MS
/** How long a stop waits for what is under way. */
const STOP_TIMEOUT_MS = 3000

/** Mails at work. */
export type MailService = {
  /** Starts what is done in the background. */
  readonly start: () => void
  /**
   * Sends a notice to an address that may belong to no account, once and without the outbox: for what is worthless in a
   * quarter of an hour and secret until then. `no_server`: none is set.
   */
  readonly sendNow: (to: string, notice: Notice) => Promise<SendResult | { readonly kind: "no_server" }>
  /** Looks into the outbox now. It never rejects. */
  readonly pollOutbox: () => Promise<void>
  /** Renews claims, and takes over what processes that died have left. It never rejects. */
  readonly renewClaims: () => Promise<void>
  /** Deletes what is not kept. It never rejects. */
  readonly prune: () => Promise<void>
  /** Ends the work. A mail that is under way for longer than a stop waits is put back. The store is still open. */
  readonly stop: () => Promise<void>
}

/** Builds the sending of mails over an open store. `normalizeBaseUrl` is asked when a mail is written, with links to this server. */
export function createMailService(
  system: System,
  settings: Settings,
  store: Store,
  log: Log,
  baseUrl: () => string,
): MailService {
  const { clock, random } = system
  const linkContext = (): LinkContext => ({ baseUrl: baseUrl() })
  const senderOf = (): string => settings.MAILKIND_MAIL_FROM ?? `mailkind@${senderHost(baseUrl())}`
  const url = settings.MAILKIND_SMTP_URL
  const mailer = url === null ? null : system.openMailer(url.reveal())
  const sender = mailer && new MailSender({ ...system, store, log, mailer, from: senderOf, linkContext })
  const quietly = (failure: string, work: () => Promise<void>) => (): Promise<void> =>
    work().catch(logError(log, failure))
  const pollOutbox = quietly("accounts were not written to about terms", async () => {
    // One batch a look: between two of them everything else has its turn.
    await notifyNextAccounts(store, clock())
    sender?.sendDue()
  })
  const renewClaims = async (): Promise<void> => await sender?.renew()
  const prune = quietly("old mails were not deleted", () =>
    pruneOldMails(store, clock(), sender?.isPaused() ?? true, log),
  )
  const repeated = createIntervals(system.runInterval, [
    [OUTBOX_POLL_MS, () => void pollOutbox()],
    [CLAIM_RENEWAL_MS, () => void renewClaims()],
    [PRUNE_MS, () => void prune()],
  ])
  return {
    start: repeated.start,
    sendNow: async (to, notice) => {
      if (mailer === null) return { kind: "no_server" }
      const from = senderOf()
      const messageId = `${randomBase62(random, 20)}@${senderDomain(from)}`
      return await mailer.send(
        createMail(noticeContent(notice, linkContext()), { from, to, messageId, dateMs: clock() }),
      )
    },
    pollOutbox,
    renewClaims,
    prune,
    stop: async () => {
      repeated.stop()
      if (sender !== null && mailer !== null) await stopSender(system, sender, mailer)
    },
  }
}

/** The host of a URL; an IP address is no domain to write from. */
function senderHost(url: string): string {
  const { hostname } = new URL(url)
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost"
}

/** Mails that wait are deleted by their age only while none can be sent: else each is tried first. */
async function pruneOldMails(store: Store, nowMs: number, isStill: boolean, log: Log): Promise<void> {
  const fromMs = nowMs - RETENTION_MS
  const kept = { endedFromMs: fromMs, waitingFromMs: isStill ? fromMs : 0, countMax: PRUNED_ROWS_MAX }
  const { waitingCount } = await pruneOutbox(store, kept)
  if (waitingCount > 0) log("warn", "mails that could not be sent for a month were deleted", { count: waitingCount })
}

/** Waits for what is under way; then what is left of it fails, and is put off. */
async function stopSender(system: System, sender: MailSender, mailer: Mailer): Promise<void> {
  sender.stop()
  const over = Promise.withResolvers<void>()
  const callOff = system.setTimer(STOP_TIMEOUT_MS, over.resolve)
  await Promise.race([sender.whenIdle(), over.promise])
  callOff()
  mailer.close()
  await sender.whenIdle()
}
