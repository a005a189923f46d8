import { DAY_MS } from "../base/time.ts"
import type { OpenPackResult } from "../check/lists/pack/pack.ts"
import type { ListsDamage } from "../check/refresh/list-files.ts"
import type { WaitingLists } from "../check/refresh/lists-in-force.ts"
import { askedAtMs, isUseless, type RefreshState } from "../check/refresh/refresh-state.ts"
import { type DiagnosticResult, failed, ok, warning } from "./diagnostics.ts"

/** How old lists may be that are not refreshed, as the alert MailkindListsOld has it. */
export const LISTS_AGE_DAYS_MAX = 14
/** How many refreshes in a row may be missed without a warning: a host may be off for a while. */
const MISSED_REFRESHES_MAX = 3
const HOUR_MS = 3_600_000

/** The state of refreshes. `everyHours` is `null` if the lists are not refreshed. */
export type RefreshStatus = {
  readonly state: RefreshState
  /** The last damage of their files that a server noticed; null: none for a week. */
  readonly damage: ListsDamage | null
  readonly everyHours: number | null
  /** The newest lists, if this node waits for them. */
  readonly waiting: WaitingLists | null
  readonly nowMs: number
}

/** Verifies every byte of the active pack and checks its refreshes. */
export function diagnoseLists(
  opened: OpenPackResult,
  { state, damage, everyHours, waiting, nowMs }: RefreshStatus,
): DiagnosticResult {
  if (opened.kind === "refused") return failed(opened.message, opened.remedy)
  const { pack } = opened
  const verified = pack.verify()
  if (!verified.ok)
    return failed(verified.message, "Run `mailkind lists update`, or copy the program again from an undamaged copy.")
  const waits =
    waiting === null
      ? ""
      : ` The newer ${waiting.version} waits until ${new Date(waiting.untilMs).toISOString()} (MAILKIND_LISTS_DELAY_HOURS).`
  const seen = `${pack.version} is undamaged. Its sources are from ${pack.builtAt.slice(0, 10)}.${waits}`
  if (damage !== null)
    return warning(
      `${seen} But on ${new Date(damage.noticed_at_ms).toISOString()} ${damage.file} was found damaged on the disk${damage.is_replaced ? ", and was replaced" : ""}.`,
      damage.is_replaced
        ? "Look for errors of the disk, and for programs that write to the data directory. This warning stays for a week."
        : "Run `mailkind lists update`, and look for errors of the disk.",
    )
  const days = Math.floor((nowMs - Date.parse(pack.builtAt)) / DAY_MS)
  if (everyHours === null) return listsAge(`${seen} They are not refreshed.`, days, "set MAILKIND_LISTS_REFRESH_HOURS")
  if (state.pinned !== null)
    return warning(`${seen} An operator pinned them.`, "Run `mailkind lists unpin` to use newer ones.")
  if (askedAtMs(state) === 0)
    return listsAge(`${seen} They were never refreshed.`, days, "start the server, which refreshes them")
  const hours = Math.floor((nowMs - state.refreshed_at_ms) / HOUR_MS)
  const isOld = hours > everyHours * MISSED_REFRESHES_MAX
  if (isOld && state.refreshed_at_ms > 0)
    return warning(
      `${seen} They were refreshed ${hours} hours ago. The schedule is every ${everyHours} hours.`,
      "Run `mailkind lists update` and read its output.",
    )
  const useless = Object.entries(state.sources).filter(([, source]) => isUseless(source))
  if (useless.length === 0) return ok(`${seen} They were refreshed ${hours} hours ago.`)
  const names = useless.map(([id, { outcome }]) => `${id} ${outcome}`).join(", ")
  return warning(
    `${seen} Problems of the last refresh: ${names}.`,
    "`mailkind lists info` shows why. The last good copy of each is in use.",
  )
}

function listsAge(seen: string, days: number, else_: string): DiagnosticResult {
  if (days <= LISTS_AGE_DAYS_MAX) return ok(seen)
  return warning(`${seen} That is ${days} days ago.`, `Run \`mailkind lists update\`, or ${else_}.`)
}
