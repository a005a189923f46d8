import type { FaultLog } from "../../base/fault-log.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { type Mailer, unavailableFields } from "./mailer.ts"

/** How long the mail server must not fail after a reply until an outage is over: one that fails every other mail has one outage. */
export const MAIL_QUIET_MS = 10_000

const FAULT = "no_mail"

/** The same mailer, of which an outage of its server is logged when it begins and when it ends, whatever mails fail by it meanwhile. */
export function withOutageLog(
  mailer: Mailer,
  faults: FaultLog,
  setTimer: SetTimer,
): Mailer & { readonly isAway: () => boolean } {
  const tell = faults.outages("warn", "no mail can be sent now", "mails can be sent again", MAIL_QUIET_MS)
  let isAway = false
  let isClosed = false
  let cancelEnd: (() => void) | null = null
  const dropEnd = (): void => {
    cancelEnd?.()
    cancelEnd = null
  }
  const end = (): void => {
    cancelEnd = null
    isAway = false
    tell(null)
  }
  return {
    isAway: () => isAway,
    send: async mail => {
      const sending = await mailer.send(mail)
      // What was cut off by the end of this process is no outage.
      if (isClosed) return sending
      if (sending.kind !== "unavailable") {
        if (isAway) cancelEnd ??= setTimer(MAIL_QUIET_MS, end)
        return sending
      }
      dropEnd()
      if (isAway) faults.countTask(FAULT)
      else tell({ fault: FAULT, ...unavailableFields(sending) })
      isAway = true
      return sending
    },
    close: () => {
      isClosed = true
      dropEnd()
      mailer.close()
    },
  }
}
