import { DAY_MS } from "../../base/utc-day.ts"
import { LIMITS } from "../../contract/limits.ts"

/** When accounts must have accepted terms, which are material: from that millisecond on they are refused. */
export function noticeEndsAtMs({ publishedAtMs }: { readonly publishedAtMs: number }): number {
  return publishedAtMs + LIMITS.termsNoticeDays * DAY_MS
}
