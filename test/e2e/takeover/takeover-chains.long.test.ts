import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { takeoverChain } from "./takeover-chain.ts"

setDefaultTimeout(300_000)

// Only Linux lets a server choose the socket that a new connection goes to.
describe.skipIf(process.platform !== "linux")("a server of several workers, under callers that never pause,", () => {
  test.each([[[1, 3, 1]], [[3, 3, 2]], [[2, 4, 3]]])(
    "takes over from another, and is taken over from: %p processes lose no answer",
    async counts => {
      const { lost, codes, answered } = await takeoverChain(counts, { count: 12, pauseMs: 0 })
      expect(lost).toEqual([])
      expect(codes).toEqual(counts.map(() => 0))
      for (const count of answered) expect(count).toBeGreaterThan(1000)
    },
  )
})
