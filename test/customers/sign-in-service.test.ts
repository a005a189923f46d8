import { expect, test } from "bun:test"
import { parseSettings } from "../../src/config/settings.ts"
import { createSignInService } from "../../src/customers/sign-in-service.ts"
import { createSystem } from "../../src/system/system.ts"
import { trustedTime } from "../support/clock.ts"
import { pollOver } from "../support/database-poll.ts"
import { MAIL_SERVER_AWAY } from "../support/smtp-server.ts"
import { createFakeTime } from "../support/time.ts"
import { random, tempStore } from "./temp-store.ts"

async function opened(environment: Readonly<Record<string, string>> = {}) {
  const read = parseSettings({ MAILKIND_DEFAULT_TIER: "3", ...environment })
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const store = await tempStore()
  const time = createFakeTime()
  const { clock, stopwatch, later } = time
  const world = { ...createSystem(), clock, stopwatch, setTimer: later, random }
  const signIn = createSignInService(
    {
      ...{ system: world, settings: read.settings, store, ...pollOver(store), trustedTime: trustedTime(clock) },
      log: () => undefined,
    },
    async () => MAIL_SERVER_AWAY,
  )
  return { time, signIn }
}

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
