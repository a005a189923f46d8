import { DAY_MS } from "../base/utc-day.ts"
import type { Opened } from "../check/lists/domain-set.ts"
import type { RefreshState } from "../check/refresh/refresh-state.ts"
import { doubtful, type Examined, failing, well } from "./examined.ts"

/** How old lists may be that nobody refreshes. */
export const LISTS_OLD_DAYS = 90
/** How many refreshes in a row may be missed before they are late: a host may be off for a while. */
const MISSED_MAX = 3
const HOUR_MS = 3_600_000

/** What is known of refreshes; `everyHours` null: lists are not refreshed. */
export type Refreshes = {
  readonly state: RefreshState
  readonly everyHours: number | null
  readonly nowMs: number
}

/** Reads every byte of the pack in place, and looks at how its refreshes went. */
export function examineLists(opened: Opened, { state, everyHours, nowMs }: Refreshes): Examined {
  if (opened.kind === "refused") return failing(opened.says, opened.remedy)
  const { pack } = opened
  const verified = pack.verify()
  if (!verified.ok)
    return failing(verified.says, "Run `mailkind lists update`, or copy the program again from where it is whole.")
  const seen = `${pack.version} is whole, its sources as of ${pack.builtAt.slice(0, 10)}.`
  const days = Math.floor((nowMs - Date.parse(pack.builtAt)) / DAY_MS)
  if (everyHours === null) return aged(`${seen} They are not refreshed.`, days, "set MAILKIND_LISTS_REFRESH_HOURS")
  if (state.is_paused)
    return doubtful(
      `${seen} An operator went back to them.`,
      "Run `mailkind lists update` when they shall be refreshed again.",
    )
  if (state.refreshed_at_ms === 0)
    return aged(`${seen} They were never refreshed.`, days, "start the server, which refreshes them")
  const hours = Math.floor((nowMs - state.refreshed_at_ms) / HOUR_MS)
  if (hours > everyHours * MISSED_MAX)
    return doubtful(
      `${seen} They were refreshed ${hours} hours ago, and should be each ${everyHours}.`,
      "Run `mailkind lists update` and see what it says.",
    )
  const useless = Object.entries(state.sources).filter(
    ([, { outcome }]) => outcome === "refused" || outcome === "failed",
  )
  if (useless.length === 0) return well(`${seen} They were refreshed ${hours} hours ago.`)
  const names = useless.map(([id, { outcome }]) => `${id} ${outcome}`).join(", ")
  return doubtful(
    `${seen} Of the last refresh: ${names}.`,
    "See why by `mailkind lists info`; the last good copy of each serves.",
  )
}

function aged(seen: string, days: number, else_: string): Examined {
  if (days <= LISTS_OLD_DAYS) return well(seen)
  return doubtful(`${seen} That is ${days} days ago.`, `Run \`mailkind lists update\`, or ${else_}.`)
}
