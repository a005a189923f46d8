import { expect, test } from "bun:test"
import { hashSecret, newSecret, sealEmail, unsealEmail } from "../../../src/customers/sign-in/secrets.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { random } from "../temp-store.ts"

const EMAILS = [
  "jane@example.com",
  "owner@localhost",
  "jörg.müller@xn--bcher-kva.example",
  `${"a".repeat(64)}@${"b".repeat(185)}.com`,
]
const unsealing = (sealed: string, secret: string) =>
  outcomeOf(Promise.resolve().then(() => unsealEmail(sealed, secret)))

test("a sealed email is read with its secret, and with no other, nor with the secret's hash", async () => {
  for (const email of EMAILS) {
    const secret = newSecret(random)
    const sealed = sealEmail(email, secret, random)
    expect((await unsealing(sealed, secret))()).toBe(email)
    for (const other of [newSecret(random), hashSecret(secret), ""]) expect(await unsealing(sealed, other)).toThrow()
  }
})

test("sealed emails have one length, and the same one is sealed differently each time", () => {
  const secret = newSecret(random)
  const sealed = [...EMAILS, ...EMAILS].map(email => sealEmail(email, secret, random))
  expect(new Set(sealed.map(({ length }) => length)).size).toBe(1)
  expect(new Set(sealed).size).toBe(sealed.length)
})

test("a sealed email in which any octet changed is not read, and the fault does not tell it", async () => {
  const secret = newSecret(random)
  const sealed = Buffer.from(sealEmail("jane@example.com", secret, random), "base64")
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(await unsealing(changed.toString("base64"), secret)).toThrow(/^(?!.*jane)/)
  }
  for (const cut of [0, 11, 12, 27, 28, sealed.length - 1])
    expect(await unsealing(sealed.subarray(0, cut).toString("base64"), secret)).toThrow(/^(?!.*jane)/)
})

test("an email that is too long for an account is not sealed", async () => {
  const long = `${"a".repeat(64)}@${"b".repeat(190)}`
  expect(await outcomeOf(Promise.resolve().then(() => sealEmail(long, newSecret(random), random)))).toThrow("too long")
})
