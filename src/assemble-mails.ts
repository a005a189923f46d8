import { isIP } from "node:net"
import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import { DAY_MS } from "./base/utc-day.ts"
import type { Settings } from "./config/settings.ts"
import { domainOf, mailOf } from "./customers/notices/mail.ts"
import type { Mailer, Sending } from "./customers/notices/mailer.ts"
import { letterOf, type Notice, type Place } from "./customers/notices/notices.ts"
import { pruneOutbox } from "./customers/notices/outbox.ts"
import { SENDER_BOUNDS, Sender } from "./customers/notices/sender.ts"
import { randomBase62 } from "./customers/store/base62.ts"
import type { Store } from "./customers/store/store.ts"
import { tellNextAccounts } from "./customers/terms/terms-mails.ts"
import type { World } from "./world.ts"

/** How often the outbox is looked into, for mails of other processes too. */
const LOOK_MS = 1000
/** Claims are renewed three times in each lease. */
const RENEW_MS = SENDER_BOUNDS.leaseMs / 3
const PRUNE_MS = 600_000
/** How many rows a pruning deletes of each kind at once. */
const PRUNED_MAX = 1000
/** How long a mail that has ended is kept, and one that waits while none can be sent. */
const KEPT_MS = 30 * DAY_MS
/** How long a stop waits for what is under way. */
const END_MS = 3000

/** Mails at work. */
export type MailsAtWork = {
  /** Starts what is done in the background. */
  readonly begin: () => void
  /**
   * Sends a notice to an address that may belong to no account, once and without the outbox: for what is worthless in a
   * quarter of an hour and secret until then. `no_server`: none is set.
   */
  readonly sendNow: (to: string, notice: Notice) => Promise<Sending | { readonly kind: "no_server" }>
  /** Looks into the outbox now. It never rejects. */
  readonly look: () => Promise<void>
  /** Renews claims, and takes over what processes that died have left. It never rejects. */
  readonly renew: () => Promise<void>
  /** Deletes what is not kept. It never rejects. */
  readonly prune: () => Promise<void>
  /** Ends the work. A mail that is under way for longer than a stop waits is put back. The store is still open. */
  readonly end: () => Promise<void>
}

/** Builds the sending of mails over an open store. `baseUrl` is asked when a mail is written, with links to this server. */
export function mailsAtWork(
  world: World,
  settings: Settings,
  store: Store,
  log: Log,
  baseUrl: () => string,
): MailsAtWork {
  const { clock, random } = world
  const place = (): Place => ({ baseUrl: baseUrl() })
  const senderOf = (): string => settings.MAILKIND_MAIL_FROM ?? `mailkind@${hostOf(baseUrl())}`
  const url = settings.MAILKIND_SMTP_URL
  const mailer = url === null ? null : world.mailer(url.reveal())
  const sender = mailer && new Sender({ ...world, store, log, mailer, from: senderOf, place })
  const quietly = (failure: string, work: () => Promise<void>) => (): Promise<void> =>
    work().catch(failing(log, failure))
  const look = quietly("accounts were not written to about terms", async () => {
    // One batch a look: between two of them everything else has its turn.
    await tellNextAccounts(store, clock())
    sender?.turn()
  })
  const renew = async (): Promise<void> => await sender?.renew()
  const prune = quietly("old mails were not deleted", () =>
    prunedOutbox(store, clock(), sender?.isPaused() ?? true, log),
  )
  const repeated = repeating(world.every, [
    [LOOK_MS, () => void look()],
    [RENEW_MS, () => void renew()],
    [PRUNE_MS, () => void prune()],
  ])
  return {
    begin: repeated.begin,
    sendNow: async (to, notice) => {
      if (mailer === null) return { kind: "no_server" }
      const from = senderOf()
      const messageId = `${randomBase62(random, 20)}@${domainOf(from)}`
      return await mailer.send(mailOf(letterOf(notice, place()), { from, to, messageId, dateMs: clock() }))
    },
    look,
    renew,
    prune,
    end: async () => {
      repeated.end()
      if (sender !== null && mailer !== null) await ended(world, sender, mailer)
    },
  }
}

/** The host of a URL; an IP address is no domain to write from. */
function hostOf(url: string): string {
  const { hostname } = new URL(url)
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost"
}

/** Mails that wait are deleted by their age only while none can be sent: else each is tried first. */
async function prunedOutbox(store: Store, nowMs: number, isStill: boolean, log: Log): Promise<void> {
  const fromMs = nowMs - KEPT_MS
  const kept = { endedFromMs: fromMs, waitingFromMs: isStill ? fromMs : 0, countMax: PRUNED_MAX }
  const { waitingCount } = await pruneOutbox(store, kept)
  if (waitingCount > 0) log("warn", "mails that could not be sent for a month were deleted", { count: waitingCount })
}

/** Waits for what is under way; then what is left of it fails, and is put off. */
async function ended(world: World, sender: Sender, mailer: Mailer): Promise<void> {
  sender.end()
  const over = Promise.withResolvers<void>()
  const callOff = world.later(END_MS, over.resolve)
  await Promise.race([sender.settled(), over.promise])
  callOff()
  mailer.close()
  await sender.settled()
}
