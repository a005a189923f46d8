import { expect, test } from "bun:test"
import { ROUTES } from "../../../src/contract/routes.ts"
import { testApp } from "../../support/app.ts"
import { formRequest } from "../../support/html-browser.ts"

const FORMS = Object.values(ROUTES)
  .filter(({ kind }) => kind === "form")
  .map(({ method, path }) => ({ method, path, requests: path.replaceAll(/:\w+/g, "some-id") }))

/** What stands for an origin that is not ours; null: none is sent. */
const FOREIGN = [
  null,
  "null",
  "",
  "https://evil.example",
  "http://localhost.evil.example",
  "http://localhost:81",
  "http://evil.example/http://localhost",
  "localhost",
]

const harness = await testApp({ admins: ["owner@localhost"] })
const cookie = await harness.signIn()

/** Every row of every table. */
async function everything(): Promise<unknown> {
  const tables = await harness.store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  return await Promise.all(tables.map(async ({ name }) => [name, await harness.store.all(`SELECT * FROM ${name}`)]))
}

test("there are forms, and each is sent by POST", () => {
  expect(FORMS.length).toBeGreaterThan(5)
  expect(FORMS.filter(({ method }) => method !== "POST")).toEqual([])
})

test.each(FORMS)(
  "$path takes no form that no page of ours has sent, whoever is signed in",
  async ({ requests: input }) => {
    const before = await everything()
    for (const origin of FOREIGN) {
      for (const as of [cookie, ""]) {
        const response = await harness.app(formRequest(input, {}, as, origin))
        expect({ origin, status: response.status }).toEqual({ origin, status: 403 })
        expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8")
        expect(response.headers.get("set-cookie")).toBeNull()
        expect(await response.text()).toContain("forbidden_origin")
      }
    }
    expect(await everything()).toEqual(before)
  },
)

test.each(FORMS)("$path takes a form of ours, and fails at none", async ({ requests: text }) => {
  const response = await harness.app(formRequest(text, {}, await harness.signIn()))
  expect(await response.text()).not.toContain("forbidden_origin")
  expect(response.status).toBeLessThan(500)
})

test.each(FORMS)("$path refuses what is no form, and one that is too long", async ({ requests }) => {
  const send = async (more: Record<string, string>, body: string | Uint8Array<ArrayBuffer>): Promise<number> => {
    const { url, headers } = formRequest(requests, {}, await harness.signIn())
    for (const [name, value] of Object.entries(more)) headers.set(name, value)
    return (await harness.app(new Request(url, { method: "POST", headers, body }))).status
  }
  expect(await send({ "Content-Type": "application/json" }, "{}")).toBe(400)
  expect(await send({ "Content-Type": "text/plain" }, "a=b")).toBe(400)
  expect(await send({}, Uint8Array.of(0xff, 0xfe))).toBe(400)
  expect(await send({ "Content-Length": "99999999" }, "a=b")).toBe(413)
})
