import { expect, setDefaultTimeout } from "bun:test"
import { onPostgres } from "../../customers/engines.ts"
import { type Answer, check, FEEDBACK, nodeAt, startNodes, untilAnswered } from "./nodes.ts"

setDefaultTimeout(180_000)

onPostgres(
  "a key that is revoked is refused by every node, told or not, and accepted feedback is live on every one",
  async () => {
    const all = await startNodes(3)
    const seen: number[] = []
    for (const isCut of [false, true]) {
      const { id, key } = await all.newKey(0)
      for (const one of all.nodes) expect(await check(one, key)).toMatchObject({ status: 200 })
      // Nothing is told any more, as when all notifications are lost: who looks from time to time learns it too.
      if (isCut) all.psql("ALTER TABLE change_head DISABLE TRIGGER change_head_tells")
      await all.run("key", "revoke", id)
      const ends = await Promise.all(
        all.nodes.map(one =>
          untilAnswered(
            ({ status }) => status === 401,
            () => check(one, key),
          ),
        ),
      )
      for (const { answer } of ends) expect(answer.body).toMatchObject({ code: "key_revoked" })
      seen.push(Math.max(...ends.map(({ tookMs }) => tookMs)))
    }
    console.log(`a revocation was seen by three nodes after ${seen[0]} ms, and untold after ${seen[1]} ms`)
    const { key } = await all.newKey(4)
    const sent = await nodeAt(all, 0).ask("POST /v1/feedback", key, FEEDBACK)
    expect(sent).toMatchObject({ status: 202 })
    await all.run("feedback", "accept", String(sent?.body["id"]))
    const wanted = (answer: Answer): boolean => answer.body["category"] === "relay"
    for (const one of all.nodes) await untilAnswered(wanted, () => check(one, key))
  },
)
