import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { type Challenge, checkSolution, issueChallenge } from "../../../src/customers/free-checks/challenges.ts"
import { createFreeCheckKeys } from "../../../src/customers/free-checks/derived-keys.ts"
import { createFakeTime } from "../../support/time.ts"
import { openAt, random, tempPlace, tempStore } from "../temp-store.ts"
import { quickRandom, sent, solutionOf } from "./open-free-checks.ts"

const keys = async () => await createFreeCheckKeys(await tempStore(), random)()

async function made() {
  const own = await keys()
  const time = createFakeTime()
  const challenge = await issueChallenge(own, time.clock, quickRandom)
  const text = await solutionOf(challenge)
  return { own, time, challenge, text, solvedNow: (sentText: string) => checkSolution(own, time.clock, sentText) }
}

/** A payload, taken apart. */
const opened = (text: string): { challenge: Challenge; solution: { counter: number; derivedKey: string } } =>
  JSON.parse(atob(text))

test("a solution is good until its challenge expires", async () => {
  const { challenge, text, solvedNow, time } = await made()
  const good = { kind: "solved", nonce: challenge.parameters.nonce }
  expect(await solvedNow(text)).toEqual(good as never)
  await time.tick(LIMITS.challengeMinutes * 60_000 - 1)
  expect((await solvedNow(text)).kind).toBe("solved")
  await time.tick(1)
  expect((await solvedNow(text)).kind).toBe("expired")
})

test("the counter of a challenge is hidden, and one of as many as the table says", async () => {
  const { own, time } = await made()
  for (const [bytes, counter] of [
    [[0, 0, 0, 0], 1],
    [[0xcf, 0x07, 0, 0], 2000],
    [[0xd0, 0x07, 0, 0], 1],
  ] as const) {
    const challenge = await issueChallenge(own, time.clock, () => new Uint8Array(bytes))
    expect(challenge.parameters).toMatchObject({ cost: LIMITS.challengeRounds })
    expect(opened(await solutionOf(challenge)).solution.counter).toBe(counter)
  }
})

describe("refused is", () => {
  test("a solution of a challenge that another installation made", async () => {
    const [{ text }, { solvedNow }] = await Promise.all([made(), made()])
    expect((await solvedNow(text)).kind).toBe("refused")
  })

  test("a challenge that was changed: an easier one, a later end, another nonce", async () => {
    const { text, solvedNow } = await made()
    for (const change of [
      { cost: 1 },
      { data: { expires_at_ms: 9e15 } },
      { nonce: "0".repeat(32) },
      { keyPrefix: "00" },
      { more: 1 },
    ]) {
      const { challenge, solution } = opened(text)
      const forged = { ...challenge, parameters: { ...challenge.parameters, ...change } }
      expect((await solvedNow(sent({ challenge: forged, solution }))).kind).toBe("refused")
    }
  })

  test("a wrong solution", async () => {
    const { text, challenge, solvedNow } = await made()
    const { solution } = opened(text)
    for (const derivedKey of ["", "00", "zz", "0".repeat(64), `${challenge.parameters.keyPrefix}${"0".repeat(32)}`])
      expect((await solvedNow(sent({ challenge, solution: { ...solution, derivedKey } }))).kind).toBe("refused")
    expect((await solvedNow(sent({ challenge, solution: { ...solution, counter: -1 } }))).kind).toBe("refused")
  })

  test("what is no payload at all", async () => {
    const { solvedNow, text } = await made()
    const { challenge, solution } = opened(text)
    const odd = [
      "",
      "%",
      "bnVsbA==",
      "e30=",
      sent([]),
      sent({ challenge: null, solution: null, test: true }),
      sent({ challenge, solution: null }),
      sent({ challenge: { ...challenge, signature: { length: 64 } }, solution }),
      sent({ challenge: { ...challenge, signature: "" }, solution }),
      sent({ challenge: { parameters: challenge.parameters }, solution }),
      sent({ challenge, solution: { counter: "1", derivedKey: ["00"] } }),
      `${"[".repeat(4000)}`,
      btoa("[".repeat(3000)),
      "A".repeat(100_000),
    ]
    for (const each of odd) expect((await solvedNow(each)).kind).toBe("refused")
  })
})

test("the keys are the same in every process on one store and after a restart, and another installation's differ", async () => {
  const path = tempPlace()
  const [first, second] = [await openAt(path, () => 1), await openAt(path, () => 1)]
  const both = await Promise.all([createFreeCheckKeys(first, random)(), createFreeCheckKeys(second, random)()])
  expect(both[0]).toEqual(both[1])
  await first.close()
  await second.close()
  const again = await tempStore(path)
  expect(await createFreeCheckKeys(again, random)()).toEqual(both[0])
  expect(new Set([...Object.values(both[0]), ...Object.values(await keys())]).size).toBe(8)
})

test("keys that could not be read are read at the next time", async () => {
  const store = await tempStore()
  let isBroken = true
  const held = createFreeCheckKeys(
    {
      ...store,
      one: async (sql, params) => {
        if (isBroken) throw new Error("the disk is away")
        return await store.one(sql, params)
      },
    },
    random,
  )
  expect(await held().catch((fault: unknown) => fault)).toBeInstanceOf(Error)
  isBroken = false
  expect((await held()).network).toHaveLength(64)
})
