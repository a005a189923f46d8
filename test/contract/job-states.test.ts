import { expect, test } from "bun:test"
import {
  JOB_REASONS,
  JOB_STATE_NAMES,
  JOB_STATES,
  JOB_TRANSITIONS,
  type JobState,
  LISTED_JOB_STATES,
} from "../../src/contract/jobs.ts"

/** Every pair of states that a transition joins. */
const MOVES = Object.entries(JOB_TRANSITIONS).flatMap(([name, { from, to }]) =>
  from.map((state: JobState) => ({ name, from: state, to })),
)

test("a job moves between states only as the table says, and this is the whole table", () => {
  const table = Object.fromEntries(
    JOB_STATE_NAMES.map(from => [from, MOVES.filter(move => move.from === from).map(({ to }) => to)]),
  )
  expect(table).toEqual({
    receiving: ["queued", "deleted"],
    queued: ["running", "deleted"],
    running: ["queued", "stopped", "done", "failed", "deleted"],
    stopped: ["queued", "deleted"],
    done: ["deleted"],
    failed: ["deleted"],
    deleted: [],
  })
})

test("no two transitions lead from one state to the same state", () => {
  const pairs = MOVES.map(({ from, to }) => `${from} ${to}`)
  expect(new Set(pairs).size).toBe(pairs.length)
})

test("every state is reached from the first one, and only the last one is never left", () => {
  const reached = new Set<JobState>(["receiving"])
  for (const _ of JOB_STATE_NAMES) for (const { from, to } of MOVES) if (reached.has(from)) reached.add(to)
  expect([...reached].toSorted()).toEqual([...JOB_STATE_NAMES].toSorted())
  expect(JOB_STATE_NAMES.filter(state => !MOVES.some(({ from }) => from === state))).toEqual(["deleted"])
})

test("a deleted job is the only one that the API does not tell of, and it has no results", () => {
  expect(JOB_STATE_NAMES.filter(state => !LISTED_JOB_STATES.includes(state))).toEqual(["deleted"])
  expect(JOB_STATES.deleted.hasResults).toBe(false)
})

test("the reasons are those of the states in which a job waits or has ended early", () => {
  expect(new Set<string>(Object.values(JOB_REASONS).map(({ state }) => state))).toEqual(new Set(["stopped", "failed"]))
})
