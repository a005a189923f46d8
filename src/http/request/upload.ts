import { withTimeout } from "../../base/concurrency.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { JOB_LIMITS } from "../../contract/jobs.ts"
import { invalidInput, type Problem } from "../response/problem.ts"

/** What reading an upload needs. */
export type UploadDeps = {
  readonly setTimer: SetTimer
  /** Lets the connection of a request be open for so many seconds from now on. */
  readonly allowSilence: (request: Request, seconds: number) => void
}

const cutOff = (): Problem => invalidInput([{ pointer: "", detail: "The body ended before it was complete." }])

const tooSlow = (): Problem =>
  invalidInput([
    {
      pointer: "",
      detail: `The body did not arrive in time: something of it within ${JOB_LIMITS.uploadIdleSeconds} seconds, and all of it within ${JOB_LIMITS.uploadSecondsMax}.`,
    },
  ])

const TIMED_OUT = Symbol("timed out")

/** The bytes of a long body as they arrive. Throws `invalid_input` when it is coded, cut off or too slow. */
export async function* uploadChunks(
  request: Request,
  { setTimer, allowSilence }: UploadDeps,
): AsyncGenerator<Uint8Array, undefined> {
  const coding = request.headers.get("content-encoding")
  if (coding !== null && coding.toLowerCase() !== "identity")
    throw invalidInput([
      {
        pointer: "",
        detail: "Send the list without `Content-Encoding`. A file that is compressed with gzip is unpacked.",
      },
    ])
  if (request.body === null) return
  const state = { isLate: false }
  const cancelTimer = setTimer(JOB_LIMITS.uploadSecondsMax * 1000, () => {
    state.isLate = true
  })
  const reader = request.body.getReader()
  let isEnded = false
  try {
    while (!isEnded) {
      // The time of the connection runs from here on, whatever arrives. Ours is shorter, and gets an answer.
      allowSilence(request, 2 * JOB_LIMITS.uploadIdleSeconds)
      const read = await withTimeout(setTimer, JOB_LIMITS.uploadIdleSeconds * 1000, reader.read(), TIMED_OUT).catch(
        () => null,
      )
      if (read === null) throw cutOff()
      if (read === TIMED_OUT || state.isLate) throw tooSlow()
      isEnded = read.done
      if (!read.done) yield read.value
    }
  } finally {
    cancelTimer()
    // What else the client sends is not wanted. The connection may be closed already.
    if (!isEnded) await reader.cancel().catch(() => undefined)
  }
}
