import { type Command, InvalidArgumentError } from "commander"
import { DAY_MS, dayEndMs, HOUR_MS, parseInstant, utcDay } from "../base/time.ts"

/** An instant as an option names it, which may be relative to now. */
type When = (nowMs: number) => number

/** The values of the options that every list has for time. */
export type TimeFlags = { readonly since?: When; readonly until?: When }

/** Adds `--since` and `--until`, for a list of what happened or was created. */
export const addTimeOptions = (command: Command): Command =>
  command
    .option("--since <when>", "only from then on: 7d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z", parseSince)
    .option("--until <when>", "only up to then: the same forms, where a day counts as a whole", parseUntil)

/** The instants that the options name: from the first on, and before the second. */
export const timeRange = ({ since, until }: TimeFlags, nowMs: number) => ({
  fromMs: since?.(nowMs) ?? 0,
  toMs: until?.(nowMs) ?? Number.MAX_SAFE_INTEGER,
})

/** Whether an instant is in the range that the options name. */
export function isWithin(flags: TimeFlags, nowMs: number): (atMs: number) => boolean {
  const { fromMs, toMs } = timeRange(flags, nowMs)
  return atMs => atMs >= fromMs && atMs < toMs
}

const parseSince = (text: string): When => parseWhen(text, atMs => atMs)

const parseUntil = (text: string): When => parseWhen(text, atMs => (text.includes("T") ? atMs : dayEndMs(utcDay(atMs))))

/** An instant, or a time before now. */
function parseWhen(text: string, ofInstant: (atMs: number) => number): When {
  const [, count = "", unit = ""] = /^(\d{1,5})([dh])$/.exec(text) ?? []
  if (unit !== "") return nowMs => nowMs - Number(count) * (unit === "d" ? DAY_MS : HOUR_MS)
  const atMs = parseInstant(text)
  if (atMs === null) throw new InvalidArgumentError("Use 7d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z.")
  return () => ofInstant(atMs)
}

/** A whole number of at least 1. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new InvalidArgumentError("Use a whole number of at least 1.")
  return Number(text)
}

/** Whether a text has another one in it, in any case. An absent one is in every text. */
export const containsText = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase())
