import { expect, setDefaultTimeout } from "bun:test"
import { changeListsInForce } from "../../../src/assemble/check/lists-in-force.ts"
import { createContext } from "../../../src/assemble/context.ts"
import { startServer } from "../../../src/assemble/server.ts"
import { createKey } from "../../../src/customers/keys/keys.ts"
import { onPostgres as test } from "../../customers/engines.ts"
import { newAccount, random, tempLog } from "../../customers/temp-store.ts"
import { askLoopback } from "../../support/loopback.ts"
import { until } from "../../support/until.ts"
import { nodeSettings, programOf, sharedNodes, VERSIONS } from "./shared-nodes.ts"

// Whole servers are started.
setDefaultTimeout(60_000)

const NAME = "second.org"

type Answer = { readonly version: string; readonly category: string }

/** Servers of nodes that share a database, and what each of them answers about one name. */
async function servers(count: number) {
  const nodes = await sharedNodes()
  const log = tempLog(nodes.store)
  const accountId = await newAccount(log, "owner@example.com", 0)
  const key = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  if (key.kind !== "created") throw new Error(key.kind)
  const fetcher = nodes.node()
  await fetcher.refresh("first.org")
  const running = await Promise.all(
    Array.from({ length: count }, async () => {
      const { directory } = nodes.node()
      const settings = nodeSettings({
        ...{ MAILKIND_DATA_DIR: directory, MAILKIND_DATABASE_URL: nodes.place, MAILKIND_PORT: "0" },
        ...{ MAILKIND_TIERS: "0=1000/1000/100000", MAILKIND_DNS_SERVERS: "off", MAILKIND_IDENTITY_URL: "off" },
      })
      const system = { ...programOf(VERSIONS.one), writeStderr: () => undefined }
      const server = await startServer(createContext(system, settings), "alone", new Promise(() => undefined))
      if (server === null) throw new Error("it was not asked to stop")
      const ask = async (path: string) =>
        JSON.parse((await askLoopback(`${server.address}${path}`, { headers: { "X-API-Key": key.text } })).body)
      return {
        stop: server.stop,
        health: async () => (await ask("/v1/health")).lists,
        /** The category of the name and the lists that it comes from; null: they changed meanwhile. */
        answer: async (): Promise<Answer | null> => {
          const { version } = (await ask("/v1/health")).lists
          const { category } = await ask(`/v1/check?domain=${NAME}`)
          return (await ask("/v1/health")).lists.version === version ? { version, category } : null
        },
      }
    }),
  )
  return {
    fetcher,
    running,
    [Symbol.asyncDispose]: async () => void (await Promise.all(running.map(({ stop }) => stop()))),
  }
}

test("three servers have the same lists from their start on, each changes to new ones once, and one version has one verdict", async () => {
  await using nodes = await servers(3)
  const { fetcher, running } = nodes
  const seen = running.map(() => [] as string[])
  const verdicts = new Map<string, Set<string>>()
  const askAll = async () => {
    for (const [index, { answer }] of running.entries()) {
      const answered = await answer()
      if (answered === null) continue
      const { version, category } = answered
      verdicts.set(version, (verdicts.get(version) ?? new Set()).add(category))
      if (seen[index]?.at(-1) !== version) seen[index]?.push(version)
    }
    return seen.map(versions => versions.at(-1))
  }
  const [before] = await askAll()
  expect(new Set(await askAll()).size).toBe(1)
  await fetcher.refresh("first.org", NAME)
  const haveChanged = async () => (await askAll()).every(version => version !== before)
  await until(haveChanged, () => `the servers have ${JSON.stringify(seen)}`)
  for (let time = 0; time < 5; time++) await askAll()
  const [first] = seen
  expect(first).toHaveLength(2)
  expect(seen).toEqual(running.map(() => first ?? []))
  expect([...verdicts.values()].map(categories => [...categories])).toEqual([["unknown"], ["disposable"]])
})

test("a pin and its end reach two servers, and each says in its health what is pinned", async () => {
  await using nodes = await servers(2)
  const { fetcher, running } = nodes
  const health = () => Promise.all(running.map(one => one.health()))
  const [{ version }] = (await health()) as [{ version: string }]
  await changeListsInForce(fetcher.context, { kind: "pin", version })
  await fetcher.refresh("first.org", NAME)
  const arePinned = async () => (await health()).every(({ pinned }) => pinned === version)
  await until(arePinned, () => "the servers do not know of the pin")
  expect(await health()).toMatchObject(running.map(() => ({ version, is_behind: false })))
  await changeListsInForce(fetcher.context, { kind: "unpin" })
  const areNewest = async () => (await health()).every(one => one.pinned === null && one.version !== version)
  await until(areNewest, () => "the servers keep the pinned lists")
  const answers = await Promise.all(running.map(({ answer }) => answer()))
  expect(answers[0]?.category).toBe("disposable")
  expect(answers[1]).toEqual(answers[0] ?? null)
})
