import { test as bunTest } from "bun:test"
import { POSTGRES_PROGRAMS } from "../support/postgres.ts"
import { readyPostgres } from "../support/postgres-databases.ts"

/** What keeps the rows, and what a test's name says where it is not there. */
export const ENGINES = {
  sqlite: { missing: null, ready: async () => undefined },
  postgresql: { missing: POSTGRES_PROGRAMS === null ? "not installed" : null, ready: readyPostgres },
} as const
export type Engine = keyof typeof ENGINES

const state: { engine: Engine } = { engine: "sqlite" }

/** On which engine the test that runs keeps its rows. */
export const engineNow = (): Engine => state.engine

type Work<Args extends unknown[]> = (...args: Args) => unknown

/** What has `work` done on `engine`. */
const on =
  <Args extends unknown[]>(engine: Engine, work: Work<Args>) =>
  async (...args: Args): Promise<void> => {
    await ENGINES[engine].ready()
    state.engine = engine
    try {
      await work(...args)
    } finally {
      state.engine = "sqlite"
    }
  }

/** Has `add` add a test once for each engine, with the name that tells which. */
function forEach(name: string, add: (name: string, engine: Engine, isThere: boolean) => void): void {
  for (const engine of ["sqlite", "postgresql"] as const) {
    const { missing } = ENGINES[engine]
    add(`${name} [${missing === null ? engine : `${engine}: ${missing}`}]`, engine, missing === null)
  }
}

/** Bun's `test`, on PostgreSQL alone. */
export function onPostgres(name: string, work: Work<[]>, timeoutMs?: number): void {
  forEach(name, (facts, engine, isThere) => {
    if (engine === "postgresql") bunTest.skipIf(!isThere)(facts, on(engine, work), timeoutMs)
  })
}

/** Bun's `test`, on each engine: a test file that imports it from here runs on all of them. */
export const test = Object.assign(
  (name: string, work: Work<[]>, timeoutMs?: number): void =>
    forEach(name, (facts, engine, isThere) => bunTest.skipIf(!isThere)(facts, on(engine, work), timeoutMs)),
  {
    each: ((cases: readonly unknown[][]) => (name: string, work: Work<unknown[]>, timeoutMs?: number) =>
      forEach(name, (facts, engine, isThere) =>
        (isThere ? bunTest : bunTest.skipIf(true)).each(cases)(facts, on(engine, work), timeoutMs),
      )) as typeof bunTest.each, // the types of the cases are those that Bun tells
  },
)
