import { expect, setDefaultTimeout } from "bun:test"
import { onPostgres } from "../../customers/engines.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openSmtp } from "../../support/smtp-server.ts"
import { startNodes } from "./nodes.ts"

setDefaultTimeout(120_000)

const KEYS = 8

onPostgres("each mail goes out once, though three nodes look for mails to send", async () => {
  const smtp = await openSmtp()
  onTestEnd(smtp.close)
  const { nodes, newKey } = await startNodes(3, {
    MAILKIND_SMTP_URL: smtp.url,
    MAILKIND_MAIL_FROM: "mailkind@nodes.example",
  })
  for (let at = 0; at < KEYS; at++) await newKey(0)
  await smtp.takes(KEYS)
  // Who stops sends what it has in hand first.
  for (const node of nodes) expect(await node.stop()).toMatchObject({ code: 0 })
  const to = smtp.taken.flatMap(mail => mail.to)
  expect([smtp.taken.length, new Set(to).size]).toEqual([KEYS, KEYS])
  expect(new Set(smtp.taken.map(({ messageId }) => messageId)).size).toBe(KEYS)
})
