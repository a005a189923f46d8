import { expect, test } from "bun:test"
import { CRASH_SHORT, crashRounds } from "./crash.ts"

const LIMIT_MS = 180_000

test(
  "two servers on one directory, killed at any moment, admit no unit too many and lose nothing that was acknowledged",
  async () => {
    const rounds = await crashRounds(CRASH_SHORT)
    expect(rounds.flatMap(({ breaches }) => breaches)).toEqual([])
    expect(rounds).toHaveLength(CRASH_SHORT.rounds)
    // Each part of the promise was put to the test.
    for (const { admitted, refused, serversKilled } of rounds) {
      expect(admitted).toBeGreaterThan(500)
      expect(refused).toBeGreaterThanOrEqual(CRASH_SHORT.clients)
      expect(serversKilled).toBeGreaterThanOrEqual(4)
    }
    const { created = 0, revoked = 0, reported = 0 } = rounds.at(-1)?.acknowledged ?? {}
    expect(Math.min(created, revoked, reported)).toBeGreaterThan(3)
  },
  LIMIT_MS,
)
