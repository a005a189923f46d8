import { expect, test } from "bun:test"
import { RESPONSIVE_WAITS } from "../../../../src/base/responsive-timer.ts"
import { KNOWN_CHANGES_BOUNDS, KnownChanges } from "../../../../src/customers/store/change-log/known-changes.ts"
import { outcomeOf } from "../../../support/outcome-of.ts"
import { settled } from "../../../support/time.ts"

const { ageMs, waitMs } = KNOWN_CHANGES_BOUNDS

/** One whose database answers when the test says so, and whose time the test sets. */
function setUp() {
  const outside = { nowMs: 5_000, asked: 0, answer: Promise.withResolvers<void>(), waits: [] as [number, () => void][] }
  const known = new KnownChanges({
    clock: () => outside.nowMs,
    setTimer: (ms, work) => {
      outside.waits.push([ms, work])
      return () => undefined
    },
    ask: () => {
      outside.asked++
      return outside.answer.promise
    },
  })
  return { outside, known }
}

test("what is known of changes is relied on until it is too old, and not when the clock was set back", () => {
  const { outside, known } = setUp()
  const isRecentAt = (ms: number) => {
    outside.nowMs = 5_000 + ms
    return known.isRecent
  }
  expect([0, ageMs - 1, ageMs, 30_000, -1].map(isRecentAt)).toEqual([true, true, false, false, false])
  known.note(35_000)
  expect(isRecentAt(30_000)).toBe(true)
})

test("all who ask at once share one question, and know when it is answered", async () => {
  const { outside, known } = setUp()
  outside.nowMs += ageMs
  const all = Promise.all([known.askNow(), known.askNow(), known.askNow()])
  expect([outside.asked, known.isRecent]).toEqual([1, false])
  known.note(outside.nowMs)
  outside.answer.resolve()
  await all
  expect(known.isRecent).toBe(true)
  outside.nowMs += ageMs
  await known.askNow()
  expect(outside.asked).toBe(2)
})

test("a database that does not answer is waited for as long as the bound says, and not again before what is cached is too old again", async () => {
  const { outside, known } = setUp()
  outside.nowMs += ageMs
  const asking = known.askNow()
  // A wait ends when it was over piece by piece: a process that stands still does not take the database for silent.
  let waitedMs = 0
  for (const [ms, end] of outside.waits) {
    waitedMs += ms
    outside.nowMs += ms
    end()
  }
  await asking
  expect(waitedMs).toBe(waitMs)
  expect(known.isRecent).toBe(true)
  outside.nowMs += ageMs
  expect(known.isRecent).toBe(false)
})

test("a process that stands still goes on waiting for the answer", async () => {
  const { outside, known } = setUp()
  outside.nowMs += ageMs
  const state = { isAnswered: false }
  const asking = known.askNow().then(() => {
    state.isAnswered = true
  })
  for (const [, end] of outside.waits.values().take(RESPONSIVE_WAITS)) {
    outside.nowMs += 1_000
    end()
  }
  await settled()
  expect([state.isAnswered, known.isRecent]).toEqual([false, false])
  outside.answer.resolve()
  await asking
})

test("a question that fails by a defect fails for those who asked it alone, and is not asked again at once", async () => {
  const { outside, known } = setUp()
  outside.nowMs += ageMs
  const first = known.askNow()
  outside.answer.reject(new Error("a defect"))
  expect(await outcomeOf(first)).toThrow("a defect")
  expect(known.isRecent).toBe(true)
  outside.answer = Promise.withResolvers()
  outside.answer.resolve()
  await known.askNow()
  expect(outside.asked).toBe(2)
})
