import { isIP } from "node:net"
import { withTimeout } from "../base/concurrency.ts"
import type { FaultLog } from "../base/fault-log.ts"
import { type Log, logError } from "../base/log.ts"
import type { SetTimer } from "../base/outside-world.ts"
import { SingleFlight } from "../base/single-flight.ts"
import { createIntervals, DAY_MS } from "../base/time.ts"
import type { TrustedInstant } from "../base/trusted-clock.ts"
import { METRIC_LABELS, type Sample } from "../contract/metrics.ts"
import { REMINDERS_POLLED, remindOfExpiry } from "./keys/expiry-reminders.ts"
import { type MailOutageDeps, withOutageLog } from "./notices/mail-outages.ts"
import { createMail, MAIL_SENDER_BOUNDS, MailSender, senderDomain } from "./notices/mail-sender.ts"
import type { Mailer, OpenMailer, OutgoingMail, SendResult } from "./notices/mailer.ts"
import type { LinkContext } from "./notices/notice-blocks.ts"
import { type Notice, noticeContent } from "./notices/notices.ts"
import { countOutbox, OUTBOX_POLLED, oldestWaitingAtMs, pruneOutbox } from "./notices/outbox.ts"
import { isMailProtected, MAIL_PROTECTION_REMEDY, smtpPlace } from "./notices/smtp-mailer.ts"
import { randomBase62 } from "./store/core/id.ts"
import type { Store } from "./store/core/store.ts"
import type { StoredContext } from "./stored-context.ts"
import { NOTIFIED_TERMS_POLLED, notifyNextAccounts } from "./terms/terms-notices.ts"

/** Claims on mails are renewed three times per lease. */
const CLAIM_RENEWAL_MS = MAIL_SENDER_BOUNDS.leaseMs / 3
/** How long mails are stored that were sent or have failed, or that wait while no mail can be sent. */
const RETENTION_MS = 30 * DAY_MS
/** How long a stop waits for mails that are being sent. */
const STOP_TIMEOUT_MS = 3000

/** The settings that mails read. */
type MailSettings = {
  readonly MAILKIND_SMTP_URL: { readonly reveal: () => string } | null
  readonly MAILKIND_MAIL_FROM: string | null
}

type MailContext = StoredContext<MailSettings> & { readonly system: { readonly openMailer: OpenMailer } }

/** The sending of mails. */
export type MailService = ReturnType<typeof createMailService>

/** Creates the service over an open store. `baseUrl` is called for each mail, because its links point to this server. */
export function createMailService(
  context: MailContext,
  faults: FaultLog,
  baseUrl: () => string,
  shareEnd?: () => void,
) {
  const { system, settings, store, log, poll } = context
  const linkContext = (): LinkContext => ({ baseUrl: baseUrl() })
  const from = (): string => senderOf(settings, baseUrl())
  const { mailer, sender } = openSending(context, { faults, from, shareEnd }, linkContext)
  const queueAndSend = async (): Promise<void> => {
    // One batch of each per poll, so that other work runs in between.
    await notifyNextAccounts(store, system.clock())
    await remindOfExpiry(store, system.clock())
    sender?.sendDue()
  }
  const pollOutbox = () => queueAndSend().catch(logError(log, "mails about new terms or expiring keys were not queued"))
  const renewClaims = async (): Promise<void> => await sender?.renew()
  const readOutbox = () => outboxSamples(store, mailer === null ? null : system.clock())
  const areMailsLeft = watchOutbox(poll, sender, pollOutbox)
  const intervals = createIntervals(system.runInterval, [
    [CLAIM_RENEWAL_MS, () => (areMailsLeft() ? renewClaims() : undefined)],
  ])
  return {
    start: intervals.start,
    /**
     * Sends a notice once, without the outbox, to an address that may have no account: for sign-in codes, which expire within
     * minutes and must not be stored. `no_server` means that no mail server is set.
     */
    sendNow: async (to: string, notice: Notice): Promise<SendResult | { readonly kind: "no_server" }> => {
      if (mailer === null) return { kind: "no_server" }
      return await mailer.send(mailOf(system, from(), to, notice, linkContext()))
    },
    pollOutbox,
    renewClaims,
    /** The outage that another worker has seen is over. */
    noteEnd: () => mailer?.noteEnd(),
    /** Deletes expired mails, at most so many of a kind, and returns their count. */
    prune: (nowMs: TrustedInstant, countMax: number) =>
      pruneOldMails(store, nowMs, { prunesWaiting: sender?.isPaused() ?? true, countMax }, log),
    samples: (): readonly Sample[] => [["mailkind_mail_up", mailer?.isAway() === true ? 0 : 1]],
    queriedSamples: [{ read: readOutbox, failure: "the mails in the outbox were not counted" }] as const,
    /** A mail that takes too long is rescheduled. */
    stop: async () => {
      intervals.stop()
      if (sender !== null && mailer !== null) await stopSender(system, sender, mailer)
    },
  }
}

/** Opens the mail server of the setting, and the sender of the outbox over it; null: none is set. */
function openSending(
  { system, settings: { MAILKIND_SMTP_URL: url }, trustedTime, store, log }: MailContext,
  outageDeps: Omit<MailOutageDeps, "setTimer">,
  linkContext: () => LinkContext,
) {
  if (url === null) return { mailer: null, sender: null }
  const mailer = withOutageLog(system.openMailer(url.reveal()), { ...outageDeps, setTimer: system.setTimer })
  const place = { mailServer: smtpPlace(url.reveal()), from: outageDeps.from, linkContext }
  return { mailer, sender: new MailSender({ ...system, ...place, trustedTime, store, log, mailer }) }
}

/** Calls `pollOutbox` when a poll of the database finds something for it. Gives whether the outbox had mails that are not sent. */
function watchOutbox(
  poll: MailContext["poll"],
  sender: Pick<MailSender, "hasUnwritten"> | null,
  pollOutbox: () => Promise<void>,
): () => boolean {
  const runs = new SingleFlight<null, void>()
  let areMailsLeft = true
  poll.add({
    columns: { termsDue: NOTIFIED_TERMS_POLLED, remindersDue: REMINDERS_POLLED, ...OUTBOX_POLLED },
    observe: ({ rows: [row] }) => {
      areMailsLeft = row["mailsLeft"] === 1
      const areMailsDue = sender !== null && (row["mailsDue"] === 1 || sender.hasUnwritten)
      if (row["termsDue"] === 1 || row["remindersDue"] === 1 || areMailsDue) void runs.run(null, pollOutbox)
    },
  })
  return () => areMailsLeft
}

/** The sender of mails, by default of the host of the base address. */
export const senderOf = (
  { MAILKIND_MAIL_FROM: from }: Pick<MailSettings, "MAILKIND_MAIL_FROM">,
  baseUrl: string,
): string => from ?? `mailkind@${senderHost(baseUrl)}`

/** A mail with a notice, as it is sent now. */
function mailOf(
  { clock, random }: Pick<MailContext["system"], "clock" | "random">,
  from: string,
  to: string,
  notice: Notice,
  place: LinkContext,
): OutgoingMail {
  const messageId = `${randomBase62(random, 20)}@${senderDomain(from)}`
  return createMail(noticeContent(notice, place), { from, to, messageId, dateMs: clock() })
}

/** Sends one notice from a command, which has no service of mails. */
export async function mailOnce(
  {
    system,
    settings,
  }: Pick<MailContext, "settings"> & {
    readonly system: Pick<MailContext["system"], "clock" | "random" | "openMailer">
  },
  baseUrl: string,
  to: string,
  notice: Notice,
): Promise<SendResult | { readonly kind: "no_server" }> {
  const url = settings.MAILKIND_SMTP_URL
  if (url === null) return { kind: "no_server" }
  const mailer = system.openMailer(url.reveal())
  try {
    return await mailer.send(mailOf(system, senderOf(settings, baseUrl), to, notice, { baseUrl }))
  } finally {
    mailer.close()
  }
}

/** Warns of a mail server whose connection is neither encrypted for sure nor verified, since sign-in links travel on it. */
export function warnOfUnprotectedMail({
  settings: { MAILKIND_SMTP_URL: url },
  log,
}: {
  readonly settings: Pick<MailSettings, "MAILKIND_SMTP_URL">
  readonly log: Log
}): void {
  if (url !== null && !isMailProtected(url.reveal()))
    log("warn", "mails may be read or changed on their way to the mail server", {
      where: smtpPlace(url.reveal()),
      remedy: MAIL_PROTECTION_REMEDY,
    })
}

/** The host of a URL as a mail domain; `localhost` for IP addresses, which are not domains. */
function senderHost(url: string): string {
  const { hostname } = new URL(url)
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost"
}

/** Waiting mails expire only while no mail can be sent; otherwise each is tried first. */
async function pruneOldMails(
  store: Store,
  nowMs: TrustedInstant,
  bounds: { readonly prunesWaiting: boolean; readonly countMax: number },
  log: Log,
): Promise<number> {
  const { endedCount, waitingCount } = await pruneOutbox(store, nowMs, { storedMs: RETENTION_MS, ...bounds })
  if (waitingCount > 0) log("warn", "mails that could not be sent for a month were deleted", { count: waitingCount })
  return endedCount + waitingCount
}

/** `nowMs` null: no mail server is set, so mails wait without being late. */
async function outboxSamples(store: Store, nowMs: number | null): Promise<readonly Sample[]> {
  const counts = await countOutbox(store)
  const known: readonly string[] = METRIC_LABELS.notice
  const labelOf = (notice: string): string => (known.includes(notice) ? notice : "other")
  const mails = METRIC_LABELS.notice.flatMap(notice =>
    METRIC_LABELS.mail_state.map((state): Sample => {
      const matching = counts.filter(row => labelOf(row.notice) === notice && row.state === state)
      return ["mailkind_outbox_mails", matching.reduce((sum, { count }) => sum + count, 0), notice, state]
    }),
  )
  if (nowMs === null) return mails
  const oldestAtMs = await oldestWaitingAtMs(store)
  const waitingMs = oldestAtMs === null ? 0 : Math.max(0, nowMs - oldestAtMs)
  return [...mails, ["mailkind_outbox_oldest_waiting_seconds", waitingMs / 1000]]
}

/** Waits for mails that are being sent. After the timeout the rest fails and is rescheduled. */
async function stopSender(
  { setTimer }: { readonly setTimer: SetTimer },
  sender: MailSender,
  mailer: Mailer,
): Promise<void> {
  sender.stop()
  await withTimeout(setTimer, STOP_TIMEOUT_MS, sender.whenIdle(), undefined)
  mailer.close()
  await sender.whenIdle()
}
