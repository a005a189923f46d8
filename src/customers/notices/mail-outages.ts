import type { FaultLog } from "../../base/fault-log.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { type Mailer, type OutgoingMail, type SendResult, unavailableFields } from "./mailer.ts"

/** How long the mail server must not fail after a reply until an outage is over: one that fails every other mail has one outage. */
export const MAIL_QUIET_MS = 10_000

/** How long nothing must have been sent in an outage until the server is tried without a mail. */
export const MAIL_TRIAL_MS = 60_000

const FAULT = "no_mail"

/** What an outage of the mail server needs. */
export type MailOutageDeps = {
  readonly faults: FaultLog
  readonly setTimer: SetTimer
  /** The sender with which the server is tried. */
  readonly from: () => string
  /** Tells the other workers that an outage is over. Absent: there are none. */
  readonly shareEnd?: (() => void) | undefined
}

/**
 * The same mailer, of which an outage of its server is logged when it begins and when it ends, whatever mails fail by it meanwhile. Who has no
 * more to send learns of its end from another worker, or tries the server without a mail.
 */
export function withOutageLog(mailer: Mailer, deps: MailOutageDeps) {
  const outages = followOutages(deps, () => mailer.tryServer(deps.from()))
  return {
    ...mailer,
    isAway: outages.isAway,
    /** The outage that another worker has seen is over. */
    noteEnd: outages.noteEnd,
    send: async (mail: OutgoingMail): Promise<SendResult> => {
      const sending = await mailer.send(mail)
      outages.noteSending(sending)
      return sending
    },
    close: () => {
      outages.close()
      mailer.close()
    },
  }
}

function followOutages({ faults, setTimer, shareEnd }: MailOutageDeps, tryServer: () => Promise<SendResult>) {
  const tell = faults.outages("warn", "no mail can be sent now", "mails can be sent again", MAIL_QUIET_MS)
  let state: "well" | "away" | "replying" | "closed" = "well"
  let cancelTimer = (): void => undefined
  const wait = (ms: number, work: () => void): void => {
    cancelTimer()
    cancelTimer = setTimer(ms, work)
  }
  const isAway = (): boolean => state === "away" || state === "replying"
  const end = (): void => {
    cancelTimer()
    state = "well"
    tell(null)
  }
  const noteReply = (): void => {
    if (state !== "away") return
    state = "replying"
    wait(MAIL_QUIET_MS, () => {
      end()
      shareEnd?.()
    })
  }
  const noteFailure = (): void => {
    state = "away"
    wait(MAIL_TRIAL_MS, () => void tryServer().then(noteTrial))
  }
  const noteTrial = (trial: SendResult): void => {
    if (trial.kind !== "unavailable") noteReply()
    else if (state === "away") noteFailure()
  }
  return {
    isAway,
    noteEnd: () => (isAway() ? end() : undefined),
    noteSending: (sending: SendResult): void => {
      // What was cut off by the end of this process is no outage.
      if (state === "closed") return
      if (sending.kind !== "unavailable") {
        noteReply()
        return
      }
      if (state === "well") tell({ fault: FAULT, ...unavailableFields(sending) })
      else faults.countTask(FAULT)
      noteFailure()
    },
    close: () => {
      state = "closed"
      cancelTimer()
    },
  }
}
