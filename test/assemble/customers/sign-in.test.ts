import { expect, setDefaultTimeout, test } from "bun:test"
import { createSignInService } from "../../../src/assemble/customers/sign-in.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { openSignIn } from "../../../src/customers/sign-in/pending-sign-ins.ts"
import { insertSession } from "../../../src/customers/sign-in/sessions.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { createSystem } from "../../../src/system/system.ts"
import { newAccount, random, tempStore } from "../../customers/temp-store.ts"
import { trustedTime } from "../../support/clock.ts"
import { MAIL_SERVER_AWAY } from "../../support/smtp-server.ts"
import { createFakeTime } from "../../support/time.ts"

// A month goes by, minute by minute.
setDefaultTimeout(300_000)

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

async function opened(environment: Readonly<Record<string, string>> = {}) {
  const read = parseSettings({ MAILKIND_DEFAULT_TIER: "3", ...environment })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const store = await tempStore()
  const time = createFakeTime()
  const { clock, stopwatch, later } = time
  const every = (everyMs: number, work: () => void) => {
    let callOff = later(everyMs, function again() {
      work()
      callOff = later(everyMs, again)
    })
    return () => callOff()
  }
  const response: string[] = []
  const world = { ...createSystem(), clock, stopwatch, setTimer: later, random, runInterval: every }
  const signIn = createSignInService(
    {
      ...{ system: world, settings: read.settings, store, trustedTime: trustedTime(clock) },
      log: (_, description) => void response.push(description),
    },
    async () => MAIL_SERVER_AWAY,
  )
  const counts = async () =>
    (await store.one<{ s: number; i: number }>(
      "SELECT (SELECT COUNT(*) FROM sessions) AS s, (SELECT COUNT(*) FROM sign_ins) AS i",
    )) ?? { s: -1, i: -1 }
  return { store, time, clock, response, signIn, counts }
}

test("what is over by time is deleted within a minute, and what is not stays", async () => {
  const { store, time, clock, signIn, counts } = await opened()
  const accountId = await newAccount({ store, clock, notify: () => undefined, actor: SERVER_ACTOR })
  signIn.start()
  await openSignIn(store, clock, random, "jane@example.com")
  await store.transaction(inner => insertSession(inner, random, clock(), accountId, "Firefox"))
  await time.tick(14 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 1, i: 1 })
  await time.tick(2 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 1, i: 0 })
  await time.tick(30 * DAY_MS - 18 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 1, i: 0 })
  await time.tick(3 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 0, i: 0 })
  await signIn.stop()
  expect(time.waiting()).toBe(0)
})

test("a store that is away is told to the log, and the next time is another", async () => {
  const { store, response, signIn } = await opened()
  await store.close()
  await signIn.prune()
  expect(response).toEqual(["expired sign-ins and sessions were not deleted"])
})

test("an end leaves no mail waiting for its next try", async () => {
  const { signIn, time } = await opened({ MAILKIND_SMTP_URL: "smtp://mx.example.com" })
  signIn.mails.send({ to: "jane@example.com", link: "https://mk.example.com/sign-in/link?token=x", code: "123456" })
  await time.tick(0)
  expect(time.waiting()).toBe(1)
  await signIn.stop()
  expect(time.waiting()).toBe(0)
})

test("accounts that a sign-in makes have the tier of the setting, and without a server mails go to the log", async () => {
  const { signIn } = await opened()
  expect(signIn.newAccountTier).toBe(3)
  expect(signIn.mails.isLogged("jane@example.com")).toBe(true)
})
