/** @jsxImportSource preact */
import { render } from "preact-render-to-string"
import { jobBody } from "../../../../customers/jobs/job-body.ts"
import { findJob } from "../../../../customers/jobs/job-row.ts"
import type { Exchange } from "../../../exchange.ts"
import { momentOf } from "../../../v1/jobs.ts"
import type { SiteContext } from "../../site-context.ts"
import { ListProgress } from "./list-page.tsx"
import { isLive } from "./list-words.ts"

/** Streams of an account and of a process at the same time. A page that gets none asks again and again in its place. */
export const STREAMS_PER_ACCOUNT_MAX = 4
const STREAMS_MAX = 200

/** A stream tells of its list so often, and ends after so many times. The browser opens another one then. */
const EVERY_MS = 1000
/** The same for a list that waits for units, perhaps for hours. */
const WAITING_EVERY_MS = 10_000
const TIMES_MAX = 300

/** A stream is silent for a second at most. */
const SILENCE_SECONDS = 30

/** The open streams, each with its account. */
export class OpenStreams {
  readonly #accountIds = new Map<symbol, string>()

  /** Takes a place for a stream and gives what frees it. Null: there is none. */
  open(accountId: string): (() => void) | null {
    const own = [...this.#accountIds.values()].filter(id => id === accountId)
    if (own.length >= STREAMS_PER_ACCOUNT_MAX || this.#accountIds.size >= STREAMS_MAX) return null
    const stream = Symbol("stream")
    this.#accountIds.set(stream, accountId)
    return () => void this.#accountIds.delete(stream)
  }
}

type ProgressDeps = Pick<SiteContext, "clock" | "setTimer" | "isDraining" | "allowSilence"> & {
  readonly jobs: Pick<SiteContext["jobs"], "store" | "keepHours">
}

/**
 * How far a list is, as server-sent events (HTML §9.2): each has the part of the page that has changed. The event `end` tells that nothing
 * changes any more.
 */
export function progressStream(
  deps: ProgressDeps,
  exchange: Exchange,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const { jobs, setTimer, isDraining, allowSilence } = deps
  let [times, told, isWaiting] = [0, "", false]
  let cancelTimer = (): void => undefined
  /** Null: the list is deleted. */
  const nextEvent = async (): Promise<string | null> => {
    const job = await findJob(jobs.store, accountId, id)
    if (job === null) return null
    const list = jobBody(job, momentOf(deps))
    const html = render(<ListProgress list={list} keepHours={jobs.keepHours} />)
    const event = html === told ? ":\n\n" : eventText(html)
    told = html
    isWaiting = list.state === "stopped"
    return isLive(list) ? event : `${event}${END}`
  }
  return new ReadableStream(
    {
      pull: async controller => {
        if (times++ > 0)
          await new Promise<void>(resolve => {
            cancelTimer = setTimer(isWaiting ? WAITING_EVERY_MS : EVERY_MS, resolve)
          })
        allowSilence(exchange.request, SILENCE_SECONDS)
        // A page that is told nothing asks in its place.
        const event = await nextEvent().catch(() => "")
        if (event !== "") controller.enqueue(Buffer.from(event ?? END))
        if (event === null || event === "" || event.endsWith(END) || times >= TIMES_MAX || isDraining()) {
          onEnd()
          controller.close()
        }
      },
      cancel: () => {
        cancelTimer()
        onEnd()
      },
    },
    { highWaterMark: 0 },
  )
}

const END = "event: end\ndata:\n\n"

const eventText = (text: string): string =>
  `${text
    .split("\n")
    .map(line => `data: ${line}\n`)
    .join("")}\n`
