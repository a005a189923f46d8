import type { Stopwatch } from "../../base/outside-world.ts"
import { formatCount } from "../output.ts"

/** Shows the progress of a run. */
export type Progress = {
  /** `bytes` are read and `results` written so far. */
  readonly update: (bytes: number, results: number) => void
  /** Clears the display. */
  readonly stop: () => void
}

const DRAWS_PER_SECOND = 8

/** Draws on a terminal: a bar when `byteCount` is known, else only counts. `terminal` null: shows nothing. `what` names the things that are counted. */
export function createProgress(
  terminal: NodeJS.WritableStream | null,
  byteCount: number | null,
  stopwatch: Stopwatch,
  what = "results",
): Progress {
  if (terminal === null) return { update: () => undefined, stop: () => undefined }
  const isKnown = byteCount !== null && byteCount > 0
  const done = `{results} ${what} | {rate} per second`
  const { SingleBar } = require("cli-progress") as typeof import("cli-progress")
  const bar = new SingleBar({
    stream: terminal,
    format: isKnown ? `{bar} {percentage}% | ${done} | {left} left` : done,
    fps: DRAWS_PER_SECOND,
    barsize: 30,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    hideCursor: true,
    clearOnComplete: true,
    // Signals are handled elsewhere.
    gracefulExit: false,
  })
  const total = isKnown ? byteCount : 1
  const startedAt = stopwatch()
  bar.start(total, 0, { results: "0", rate: "0", left: "-" })
  return {
    update: (bytes, results) => {
      const tookMs = stopwatch() - startedAt
      const rate = formatCount(tookMs > 0 ? Math.round((results * 1000) / tookMs) : 0)
      const left = bytes > 0 ? formatDuration((tookMs / bytes) * Math.max(0, total - bytes)) : "-"
      bar.update(isKnown ? Math.min(bytes, total) : 0, { results: formatCount(results), rate, left })
    },
    stop: () => bar.stop(),
  }
}

/** A duration as hours, minutes and seconds. */
function formatDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const two = (count: number): string => String(count).padStart(2, "0")
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}
