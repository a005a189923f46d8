import { expect, test } from "bun:test"
import { join } from "node:path"
import { MailkindError, openMailkind } from "../../src/in-process/open-mailkind.ts"
import type { OpenMailkind, OpenOptions } from "../../src/in-process/public-types.d.ts"
import { serverProcess } from "../contract/server-process.ts"
import { onTestEnd } from "../support/on-test-end.ts"

/** An open check without a network, which is closed when the test ends. */
async function opened(options: OpenOptions = {}): Promise<OpenMailkind> {
  const mailkind = await openMailkind({ dns: "off", ...options })
  onTestEnd(mailkind.close)
  return mailkind
}

/** The code and the message that it was refused with; null: it was not refused. */
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof MailkindError ? [error.code, error.message] : error),
  )

const LOCAL_PARTS = ["jane", "info", "jane+news", "j.a.n.e", "postmaster", "no-reply", "team", "x".repeat(65)]
const DOMAINS = [
  ...["gmail.com", "stripe.com", "mailinator.com", "mit.edu", "ox.ac.uk", "duck.com", "privaterelay.appleid.com"],
  ...["gmial.com", "example.com", "northwind-paper.com", "gov.uk", "nasa.gov", "co.uk", "localhost", "[127.0.0.1]"],
  ...["münchen.de", "xn--mnchen-3ya.de", "a..b", "-x.com", "mailkind.test", "sub.mailinator.com", "bücher.example"],
]
const OTHERS = ["", "@", "a@b@c", "https://www.stripe.com/a?b=c", "http://[::1]/", "ftp://x", "degraded@mailkind.test"]
const SUBJECTS = [...DOMAINS.flatMap(domain => LOCAL_PARTS.map(local => `${local}@${domain}`)), ...DOMAINS, ...OTHERS]

test("gives the very results of the API, for every policy", async () => {
  const [server, mailkind] = await Promise.all([serverProcess(), opened()])
  onTestEnd(server.stop)
  const { firstKey: key } = server
  const comparable = ({ request_id: _, took_ms: __, cached: ___, ...rest }: Record<string, unknown>) => rest
  for (const policy of ["b2b", "strict", "lenient"] as const)
    for (let at = 0; at < SUBJECTS.length; at += 100) {
      const items = SUBJECTS.slice(at, at + 100)
      const { body } = await server.ask("POST /v1/check/batch", { key, body: { items, policy } })
      const results = body["results"] as Record<string, unknown>[] // what a batch answers
      const own = await Promise.all(items.map(item => mailkind.check(item, { policy })))
      for (const [index, result] of results.entries()) {
        const { index: _, input: __, ...expected } = comparable(result)
        expect({ item: items[index], ...comparable(own[index] ?? {}) }).toEqual({ item: items[index], ...expected })
      }
    }
})

test("takes a text or the members of a request, and a text is what an item of a batch is", async () => {
  const mailkind = await opened()
  const [text, members, url] = await Promise.all([
    mailkind.check("jane@gmail.com"),
    mailkind.check({ email: "jane@gmail.com", policy: undefined }),
    mailkind.check("https://stripe.com/about"),
  ])
  expect(text).toMatchObject({
    email: "jane@gmail.com",
    category: "personal",
    recommendation: "review",
    degraded: true,
  })
  expect(members.category).toBe("personal")
  expect(url).toMatchObject({ url: "https://stripe.com/about", domain: "stripe.com", category: "business" })
})

test("refuses a wrong input by its code, in the words of the API, and never names the address", async () => {
  const mailkind = await opened()
  const wrong: unknown[] = [
    {},
    { email: "" },
    { email: 5 },
    { email: "jane@gmail.com", domain: "gmail.com" },
    null,
    7,
    [],
  ]
  wrong.push(
    { email: "jane@gmail.com", policy: "b2c" },
    { emial: "jane@gmail.com" },
    { email: "jane@gmail.com", deep: 2 },
  )
  for (const input of wrong) {
    const refused = await refusal(mailkind.check(input as string)) // what a program without types sends
    expect([input, refused]).toEqual([input, ["invalid_input", expect.any(String)]])
    expect(String(refused)).not.toContain("jane")
  }
})

test("an address that is none is a result, not an error", async () => {
  const mailkind = await opened()
  for (const email of ["jane@", "not an address", "@"])
    expect(await mailkind.check({ email })).toMatchObject({ category: "invalid", recommendation: "block" })
  for (const text of ["", " ", "a\u0000@b.co", `${"x".repeat(400)}@gmail.com`, "x".repeat(1e6)])
    expect(await mailkind.check(text)).toMatchObject({ category: "invalid", recommendation: "block" })
})

test("refuses an unknown or wrong option in words that say what is right, and leaves nothing open", async () => {
  const wrong: unknown[] = [
    { dns: [] },
    { dns: ["x"] },
    { dsn: "off" },
    { dnsTimeoutMs: 1 },
    { checkTimeoutMs: 1e9 },
    5,
  ]
  wrong.push({ block: ["a b"] }, { allow: "stripe.com" }, { policy: "b2c" }, { cachedDomains: 0 }, { identityUrl: "x" })
  for (const options of wrong)
    expect([options, await refusal(openMailkind(options as OpenOptions))]).toEqual([
      options, // what a program without types passes
      ["invalid_option", expect.stringMatching(/must be|The options are/)],
    ])
})

test("says that lists are missing or damaged, and what to do", async () => {
  for (const listsFile of ["/nowhere/lists.pack", import.meta.dir])
    expect(await refusal(openMailkind({ dns: "off", listsFile }))).toEqual([
      ...["lists_missing", expect.stringContaining("listsFile")],
    ])
  expect(await refusal(openMailkind({ dns: "off", listsFile: import.meta.path }))).toEqual([
    ...["lists_damaged", expect.stringContaining("mailkind lists build")],
  ])
  const file = join(import.meta.dir, "../../data/build/lists.pack")
  expect((await (await opened({ listsFile: file })).check("mailinator.com")).category).toBe("disposable")
})

test("several are open side by side, each with its own lists, policy and end", async () => {
  const [blocking, allowing] = await Promise.all([
    opened({ block: ["stripe.com", "jane@gmail.com"] }),
    opened({ allow: ["*.mailinator.com", "mailinator.com"], policy: "lenient" }),
  ])
  expect(await blocking.check("a@stripe.com")).toMatchObject({
    is_blocked: true,
    recommendation: "block",
    policy: "b2b",
  })
  expect(await blocking.check("jane@gmail.com")).toMatchObject({ is_blocked: true })
  expect(await blocking.check("joan@gmail.com")).toMatchObject({ is_blocked: false })
  expect(await allowing.check("a@mailinator.com")).toMatchObject({ recommendation: "allow", policy: "lenient" })
  await blocking.close()
  expect(await refusal(blocking.check("a@stripe.com"))).toEqual(["closed", expect.any(String)])
  expect(await allowing.check("a@stripe.com")).toMatchObject({ is_blocked: false })
})

test("closing waits for the checks that run, can be repeated, and happens at the end of a block", async () => {
  const mailkind = await openMailkind({ dns: "off" })
  const running = Array.from({ length: 1000 }, (_, at) => mailkind.check(`a${at}@stripe.com`))
  await Promise.all([mailkind.close(), mailkind.close()])
  for (const result of await Promise.all(running)) expect(result.category).toBe("business")
  let scoped: OpenMailkind
  {
    await using inner = await openMailkind({ dns: "off" })
    scoped = inner
    expect((await inner.check("gmail.com")).category).toBe("personal")
  }
  expect(await refusal(scoped.check("gmail.com"))).toEqual(["closed", expect.any(String)])
})

test("a result is the caller's own: changing it changes no other", async () => {
  const mailkind = await opened()
  const first = await mailkind.check("jane@stripe.com")
  first.reasons.length = 0
  first.mail.mx.push({ priority: 1, host: "x", provider: null })
  expect((await mailkind.check("jane@stripe.com")).reasons).not.toEqual([])
})
