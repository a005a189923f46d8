import { expect, test } from "bun:test"
import { peersBench } from "../../bench/cases/peers.ts"
import { PEER_NAMES, PEERS } from "../../bench/cases/peers-judges.ts"
import { LABELS, labelledNames } from "../../bench/cases/peers-names.ts"

const LIMIT_MS = 120_000

test("every label has names, each name is there once, and each is an address", async () => {
  const names = await labelledNames()
  expect(new Set(names.map(({ label }) => label))).toEqual(new Set(Object.keys(LABELS) as (keyof typeof LABELS)[]))
  expect(new Set(names.map(({ address }) => address)).size).toBe(names.length)
  expect(names.filter(({ address }) => !address.includes("@"))).toEqual([])
})

test("labels are what the golden files say", async () => {
  const labels = new Map(
    (await labelledNames()).map(({ address, label, category }) => [address, `${label} ${category}`]),
  )
  expect(labels.get("jane@mailinator.com")).toBe("disposable disposable")
  expect(labels.get("jane@duck.com")).toBe("ordinary relay")
  expect(labels.get("jane@prairie-quill.com")).toBe("disposable_host disposable")
  expect(labels.get("jane@co.uk")).toBe("invalid invalid")
  // A verdict that rests on more than its text labels nothing.
  expect(labels.has("jane@acme.com")).toBe(false)
  // Only DNS can tell that nobody takes mail there.
  expect(labels.has("jane@agate-loom.com")).toBe(false)
})

test(
  "every peer says what it is asked to, of what it lets through and of what it turns away",
  async () => {
    for (const peer of PEER_NAMES) {
      const judge = await PEERS[peer].load()
      expect([peer, await judge("jane@harbor-freight.com")]).toEqual([peer, "fine"])
      expect([peer, ["disposable", "refused"].includes(await judge("jane@mailinator.com"))]).toEqual([peer, true])
      if (PEERS[peer].seesInvalid)
        expect([peer, ["invalid", "refused"].includes(await judge("jane@@acme.com"))]).toEqual([peer, true])
    }
  },
  LIMIT_MS,
)

test(
  "the peers bench tells time, memory and what is right of each peer",
  async () => {
    const report = await peersBench({ rounds: 1, passes: 1, mixLines: 200 })
    const named = (name: string) => report.figures.find(figure => figure.name === name)
    const names = await labelledNames()
    for (const peer of PEER_NAMES) {
      expect(named(`${peer}: time`)?.value).toBeGreaterThan(0)
      expect(named(`${peer}: time of a line of the mix`)?.rounds).toHaveLength(1)
      expect(named(`${peer}: load and first answer`)?.value).toBeGreaterThan(0)
      expect(named(`${peer}: private memory`)).toBeDefined()
      const ordinary = names.filter(({ label }) => label === "ordinary").length
      expect(named(`${peer}: ordinary names let through`)?.unit).toBe(`of ${ordinary}`)
      expect(named(`${peer}: invalid names seen`) !== undefined).toBe(PEERS[peer].seesInvalid)
    }
  },
  LIMIT_MS,
)
