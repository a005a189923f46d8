import { expect, setDefaultTimeout, test } from "bun:test"
import { listsBench } from "../../bench/cases/lists-rounds.ts"
import { smallPack } from "../check/lists/pack/small-pack.ts"

setDefaultTimeout(300_000)

test("the bench of the lists measures hits and misses of a small pack", () => {
  const names = Array.from({ length: 500 }, (_, at) => `name-${at}.example-${at % 7}.com`)
  const pack = smallPack(Object.fromEntries(names.map(name => [name, ["disposable" as const]])))
  const figures = listsBench({ pack, names, questions: 200, rounds: 3 })
  expect(figures.lookups.map(({ what }) => what)).toEqual(["hit", "miss"])
  expect(figures.lookups.every(({ packNs, setNs }) => packNs > 0 && setNs > 0)).toBe(true)
  expect(figures.names).toBe(500)
})
