import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../../../src/contract/limits.ts"
import { ROUTES } from "../../../../../src/contract/routes.ts"
import { listKeys, revokeKey } from "../../../../../src/customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../../../src/customers/keys/origins.ts"
import { anotherAccount } from "../../../../contract/another-account.ts"
import { errorAt, fieldIn, keyIn, openSignedIn, signedInBrowser } from "../../../../support/html-browser.ts"
import { HOSTILE } from "../../../../support/open-site.ts"

const { path: KEYS } = ROUTES.keys
const { path: CREATE } = ROUTES.postKey
const SITE = "https://shop.example"

type Browsing = Awaited<ReturnType<typeof openSignedIn>>

const keysOf = ({ harness }: Browsing, accountId = harness.accountId) => listKeys(harness.store, accountId, 100)

/** The idempotency key of a fresh form for a key. */
const idempotencyKeyOf = async ({ get }: Pick<Browsing, "get">): Promise<string> =>
  fieldIn((await get(CREATE)).html, "idempotency_key")

/** Creates a key by a fresh form. */
const created = async (browsed: Pick<Browsing, "get" | "post">, fields: Readonly<Record<string, string>>) =>
  await browsed.post(CREATE, {
    idempotency_key: await idempotencyKeyOf(browsed),
    name: "New key",
    kind: "secret",
    origins: "",
    ...fields,
  })

/** Changes fields of the settings on a key's page and saves them all. */
const saved = async (browsed: Pick<Browsing, "get" | "submit">, id: string, fields: Readonly<Record<string, string>>) =>
  await browsed.submit(await browsed.get(`/dashboard/keys/${id}`), fields, "Save")

describe("a key that is created", () => {
  test("is shown once, works, and stands on no page afterwards", async () => {
    const browsed = await openSignedIn()
    const page = await created(browsed, { name: "Shop server" })
    expect(page.status).toBe(200)
    const key = keyIn(page.html) ?? ""
    expect(page.text).toContain("you cannot see this key again")
    expect(page.text).toContain(`-H "Authorization: Bearer ${key}"`)
    expect(page.headers.get("cache-control")).toBe("no-store")
    expect((await browsed.harness.ask("POST /v1/check", { key, body: { domain: "gmail.com" } })).status).toBe(200)
    const newest = (await keysOf(browsed)).find(({ name }) => name === "Shop server")
    for (const path of [KEYS, `/dashboard/keys/${newest?.id}`, ROUTES.dashboard.path]) {
      const { html, text: words } = await browsed.get(path)
      expect(keyIn(html)).toBeNull()
      expect(words).toContain("Shop server")
      expect(words.replaceAll(" ", "")).toContain(`…${key.slice(-4)}`)
    }
  })

  test("as publishable allows its websites, and comes with lines for a page", async () => {
    const browsed = await openSignedIn()
    const origins = ` ${SITE}/\n\thttp://localhost:3000,${SITE}\r\n`
    const page = await created(browsed, { kind: "publishable", origins })
    const key = (await keysOf(browsed)).find(({ kind }) => kind === "publishable")
    expect(key?.origins).toEqual([SITE, "http://localhost:3000"])
    expect(page.text).toContain(`/form.js" data-key="${keyIn(page.html)}" defer></script>`)
    expect(page.text).toContain("await fetch(")
    expect(page.text).toContain(`Bearer ${keyIn(page.html)}`)
    expect(page.text).not.toContain("curl")
  })

  test("is refused in words when the account has created twenty of them today", async () => {
    const browsed = await openSignedIn()
    const [first] = await keysOf(browsed)
    const { changes } = browsed.harness
    if (first !== undefined) await revokeKey(changes, first.id, "owner")
    for (let count = 1; count < LIMITS.keysCreatedPerDayMax; count++)
      await revokeKey(changes, (await browsed.harness.newKey()).id, "owner")
    const refused = await created(browsed, { name: "One more" })
    expect(refused.text).toContain("You have created 20 keys today, which is the maximum.")
    expect(keyIn(refused.html)).toBeNull()
  })

  test("is one, however often its form is sent: the second time nobody is shown a key", async () => {
    const browsed = await openSignedIn()
    const form = { idempotency_key: await idempotencyKeyOf(browsed), name: "Once", kind: "secret", origins: "" }
    const [first, second] = await Promise.all([browsed.post(CREATE, form), browsed.post(CREATE, form)])
    const third = await browsed.post(CREATE, { ...form, name: "Other" })
    expect([first, second, third].filter(({ html }) => keyIn(html) !== null)).toHaveLength(1)
    expect(third.text).toContain("No second key was created: Once")
    expect((await keysOf(browsed)).map(({ name }) => name).sort()).toEqual(["Once", "Secret key"])
  })

  test("by an idempotency key of one account is none of another's", async () => {
    const browsed = await openSignedIn()
    const { accountId } = await anotherAccount(browsed.harness.changes)
    const other = await signedInBrowser(browsed.harness, accountId)
    const form = {
      idempotency_key: await idempotencyKeyOf(browsed),
      name: "Same idempotencyKey",
      kind: "secret",
      origins: "",
    }
    expect(keyIn((await browsed.post(CREATE, form)).html)).not.toBeNull()
    expect(keyIn((await other.post(CREATE, form)).html)).not.toBeNull()
  })

  test("is not the one too many, though all forms are sent at once", async () => {
    const browsed = await openSignedIn()
    const idempotencyKeys = await Promise.all(
      Array.from({ length: LIMITS.keysPerAccountMax }, () => idempotencyKeyOf(browsed)),
    )
    const pages = await Promise.all(
      idempotencyKeys.map(idempotencyKey =>
        browsed.post(CREATE, { idempotency_key: idempotencyKey, name: "New key", kind: "secret" }),
      ),
    )
    const made = pages.filter(({ html }) => keyIn(html) !== null)
    expect(made).toHaveLength(LIMITS.keysPerAccountMax - 1)
    const [refused] = pages.filter(page => !made.includes(page))
    expect(refused?.status).toBe(400)
    expect(refused?.text).toContain(`You have ${LIMITS.keysPerAccountMax} active keys`)
    const { html, text: words } = await browsed.get(KEYS)
    expect(words).toContain(`${LIMITS.keysPerAccountMax} of ${LIMITS.keysPerAccountMax} New key`)
    expect(html).not.toContain(`action="${CREATE}`)
  })
})

describe("a form for a key that cannot be made", () => {
  test.each([
    ["name", { name: "n".repeat(LIMITS.keyNameLengthMax + 1) }, `at most ${LIMITS.keyNameLengthMax} characters`],
    ["name", { name: "a\u0000b" }, "invisible"],
    ["name", { name: "a\u202Eb" }, "invisible"],
    ["kind", { kind: "" }, "Choose one"],
    ["kind", { kind: "constructor" }, "Choose one"],
    ["origins", { kind: "publishable" }, "at least one"],
    ["origins", { kind: "publishable", origins: `${SITE}/path` }, `“${SITE}/path” cannot be used`],
    ["origins", { kind: "publishable", origins: "https://*.shop.example" }, "no *"],
    ["origins", { kind: "publishable", origins: "javascript:alert(1)" }, "cannot be used"],
    ["origins", { kind: "publishable", origins: `x${"y".repeat(5000)}` }, "…” cannot be used"],
    ["origins", { kind: "publishable", origins: "https://a\u202Eb.example" }, "“https://a�b.example” cannot be used"],
    ["origins", { kind: "publishable", origins: HOSTILE }, "“<script>alert("],
    ["origins", { kind: "secret", origins: SITE }, "has no websites"],
    [
      "origins",
      {
        kind: "publishable",
        origins: Array.from({ length: ORIGINS_PER_KEY_MAX + 1 }, (_, at) => `https://a${at}.example`).join(" "),
      },
      `at most ${ORIGINS_PER_KEY_MAX}`,
    ],
  ])("is shown again with what is wrong at the %s (%#)", async (field, fields, description) => {
    const browsed = await openSignedIn()
    const page = await created(browsed, fields)
    expect(page.status).toBe(400)
    expect(errorAt(page.html, field)).toContain(description)
    expect(page.html).not.toContain("<script>")
    expect(keyIn(page.html)).toBeNull()
    expect(await keysOf(browsed)).toHaveLength(1)
  })

  test("keeps what was typed, and its idempotency key", async () => {
    const browsed = await openSignedIn()
    const idempotencyKey = await idempotencyKeyOf(browsed)
    const page = await browsed.post(CREATE, {
      idempotency_key: idempotencyKey,
      name: `My "key"`,
      kind: "publishable",
      origins: "nothing",
    })
    expect(fieldIn(page.html, "name")).toBe(`My "key"`)
    expect(fieldIn(page.html, "idempotency_key")).toBe(idempotencyKey)
    expect(page.html).toMatch(/<input[^>]*value="publishable"[^>]*checked|<input[^>]*checked[^>]*value="publishable"/)
    expect(page.html).toMatch(/<textarea[^>]*>nothing<\/textarea>/)
  })

  test.each(["", "short", "x".repeat(10_000), `${"a".repeat(19)}<`])(
    "without an idempotency key of ours, %p, gets one",
    async idempotencyKey => {
      const browsed = await openSignedIn()
      const page = await browsed.post(CREATE, { idempotency_key: idempotencyKey, kind: "secret" })
      expect(page.status).toBe(400)
      expect(page.text).toContain("Send it again")
      expect(fieldIn(page.html, "idempotency_key")).toMatch(/^[0-9A-Za-z]{20}$/)
    },
  )

  test("of another site is refused, and of nobody leads to the sign-in", async () => {
    const browsed = await openSignedIn()
    const sent = (headers: Record<string, string>) =>
      browsed.harness.app(
        new Request(`http://localhost${CREATE}`, {
          method: "POST",
          headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
          body: new URLSearchParams({ idempotency_key: "a".repeat(20), kind: "secret" }).toString(),
        }),
      )
    expect((await sent({ Cookie: browsed.cookie, Origin: "https://evil.example" })).status).toBe(403)
    const nobody = await sent({ Origin: "http://localhost" })
    expect(nobody.status).toBe(303)
    expect(nobody.headers.get("location")).toStartWith(ROUTES.signIn.path)
    expect(await keysOf(browsed)).toHaveLength(1)
  })
})

describe("the keys of an account", () => {
  test("stand active ones first, with who revoked the others", async () => {
    const browsed = await openSignedIn({ tier: 0 })
    const { harness } = browsed
    const { id } = await harness.newKey([SITE])
    for (const by of ["admin", "leak", "owner"] as const)
      await revokeKey(harness.changes, (await harness.newKey()).id, by)
    const { text: words, html } = await browsed.get(KEYS)
    expect(words).toContain(`2 of ${LIMITS.keysPerAccountMax} keys`)
    expect(words).toContain("shop.example Publishable")
    for (const who of ["an administrator", "found in public", "you"]) expect(words).toContain(who)
    expect(html.indexOf(id)).toBeLessThan(html.indexOf("Expired and revoked keys"))
  })

  test("are no one else's", async () => {
    const browsed = await openSignedIn()
    const { accountId } = await anotherAccount(browsed.harness.changes)
    const [theirs] = await keysOf(browsed, accountId)
    const path = `/dashboard/keys/${theirs?.id}`
    expect((await browsed.get(KEYS)).html).not.toContain(theirs?.id ?? "")
    for (const page of [
      await browsed.get(path),
      await browsed.post(`${path}/settings`, { name: "Mine", units: "1" }),
      await browsed.post(`${path}/revoke`),
    ]) {
      expect(page.status).toBe(404)
      expect(page.text).toContain("You have no such key.")
      expect(page.headers.get("content-type")).toStartWith("text/html")
    }
    expect((await keysOf(browsed, accountId))[0]).toEqual(theirs)
  })

  test.each(["key_nothing", "%3Cscript%3E", "%ff", "%00", "..%2f..", "x".repeat(3000)])(
    "have none of the id %p",
    async id => {
      const page = await (await openSignedIn()).get(`/dashboard/keys/${id}`)
      expect(page.status).toBe(404)
      expect(page.html).not.toContain("<script>")
    },
  )
})

describe("a key's own page", () => {
  test("gives it another name, and a blank one is the kind's default", async () => {
    const browsed = await openSignedIn()
    const path = `/dashboard/keys/${browsed.harness.keyId}`
    const { status, redirectPath } = await saved(browsed, browsed.harness.keyId, { name: HOSTILE.slice(0, 40) })
    expect([status, redirectPath]).toEqual([303, `${path}?done=saved`])
    const { html, text: words } = await browsed.get(`${path}?done=saved`)
    expect(html).not.toContain("<script>")
    expect(words).toContain(HOSTILE.slice(0, 40))
    expect(words).toContain("The settings are saved.")
    expect((await browsed.get(KEYS)).html).not.toContain("<script>")
    await saved(browsed, browsed.harness.keyId, { name: "  " })
    expect((await keysOf(browsed))[0]?.name).toBe("Secret key")
  })

  test("has one form for all settings: a refused one saves nothing, keeps all that was typed, and says what is wrong at each field", async () => {
    const browsed = await openSignedIn({ tier: 1 })
    const { id } = await browsed.harness.newKey([SITE])
    const before = await keysOf(browsed)
    const typed = {
      ...{ name: "n".repeat(LIMITS.keyNameLengthMax + 1), origins: `${SITE}/path` },
      ...{ expires: "2025-12-31", units: "many", rate: "5" },
    }
    const page = await saved(browsed, id, typed)
    expect(page.status).toBe(400)
    expect(errorAt(page.html, "name")).toContain("at most 60 characters")
    expect(errorAt(page.html, "origins")).toContain("cannot be used")
    expect(errorAt(page.html, "expires")).toContain("today or a later day")
    expect(errorAt(page.html, "units")).toContain("from 1 to 999")
    expect(errorAt(page.html, "rate")).toBe("")
    for (const field of ["name", "expires", "units", "rate"] as const)
      expect(fieldIn(page.html, field)).toBe(typed[field])
    expect(page.html).toContain(`${SITE}/path</textarea>`)
    expect(page.html).toMatch(/<details id="limits" open/)
    expect(await keysOf(browsed)).toEqual(before)
    expect((await browsed.submit(page, { name: "Shop", origins: SITE, expires: "", units: "" }, "Save")).status).toBe(
      303,
    )
    expect(await keyNamed(browsed, "Shop")).toMatchObject({ origins: [SITE], requestsPerSecond: 5, unitsPerDay: null })
  })

  test("renames a revoked key, and changes nothing else of it", async () => {
    const browsed = await openSignedIn()
    const { keyId, changes } = browsed.harness
    await revokeKey(changes, keyId, "owner")
    const page = await browsed.get(`/dashboard/keys/${keyId}`)
    expect(page.html).not.toContain('name="units"')
    expect((await browsed.submit(page, { name: "Former", units: "1" }, "Save")).status).toBe(303)
    expect(await keyNamed(browsed, "Former")).toMatchObject({ unitsPerDay: null })
  })

  test("revokes it below a question that says what happens, and never twice", async () => {
    const browsed = await openSignedIn()
    const { harness } = browsed
    const path = `/dashboard/keys/${harness.keyId}`
    expect((await browsed.get(path)).text).toContain("A revoked key stops working")
    expect((await harness.ask("GET /v1/usage")).status).toBe(200)
    const sure = await browsed.post(`${path}/revoke`)
    expect([sure.status, sure.headers.get("location")]).toEqual([303, `${path}?done=revoked`])
    expect((await harness.ask("GET /v1/usage")).status).toBe(401)
    await harness.time.tick(1000)
    const again = await browsed.post(`${path}/revoke`)
    expect(again.headers.get("location")).toBe(`${path}?done=revoked-before`)
    const { text: words, html } = await browsed.get(`${path}?done=revoked-before`)
    expect(words).toContain("was already revoked")
    expect(words).toContain("Revoked 1 Jan 2026 , by you")
    expect(html).not.toContain(`${path}/revoke"`)
  })

  test("of an account with as many keys as it may have names one to revoke first", async () => {
    const browsed = await openSignedIn()
    const { harness } = browsed
    const path = `/dashboard/keys/${harness.keyId}`
    expect((await browsed.get(path)).text).toContain("To replace it, first create a new key")
    for (let count = 1; count < LIMITS.keysPerAccountMax; count++) await harness.newKey()
    const { text } = await browsed.get(path)
    expect(text).toContain("You have 5 of 5 keys. To replace this one without a gap, first revoke one")
    expect(text).toContain("(never used)")
    expect(text).not.toContain("create a new key")
  })

  test("says whose revocation came first", async () => {
    const browsed = await openSignedIn()
    await revokeKey(browsed.harness.changes, browsed.harness.keyId, "leak")
    const path = `/dashboard/keys/${browsed.harness.keyId}`
    const page = await browsed.post(`${path}/revoke`)
    expect(page.headers.get("location")).toBe(`${path}?done=revoked-before`)
    expect((await browsed.get(path)).text).toContain("found in public")
  })

  test("tells the units of today, those of a publishable key with their quota", async () => {
    const browsed = await openSignedIn({ tier: 1 })
    const { harness } = browsed
    const { id, text } = await harness.newKey([SITE])
    await harness.ask("POST /v1/check", { key: text, body: { domain: "gmail.com" }, headers: { Origin: SITE } })
    await harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    expect((await browsed.get(`/dashboard/keys/${id}`)).text).toContain("Units today 1 of 1,000")
    expect((await browsed.get(`/dashboard/keys/${harness.keyId}`)).text).toMatch(/Units today 1 /)
  })
})

/** The key of this browser's account by its name. */
const keyNamed = async (browsed: Browsing, name: string) => {
  const key = (await keysOf(browsed)).find(own => own.name === name)
  if (key === undefined) throw new Error(`there is no key ${name}`)
  return key
}

describe("the form for a key", () => {
  test("that is sent without a name makes no key and asks for one", async () => {
    const browsed = await openSignedIn()
    for (const name of ["", "  "]) {
      const page = await created(browsed, { name })
      expect(page.status).toBe(400)
      expect(errorAt(page.html, "name")).toContain("Give the key a name")
    }
    expect(await keysOf(browsed)).toHaveLength(1)
  })

  test("takes a last day, limits and networks, and the key works until the end of that day", async () => {
    const browsed = await openSignedIn({ tier: 1 })
    const limits = { expires: "2026-01-31", units: "9,999", rate: "19", networks: "192.0.2.0/24\n2001:db8::/32" }
    const page = await created(browsed, { name: "Narrow", ...limits })
    expect(page.status).toBe(200)
    expect(await keyNamed(browsed, "Narrow")).toMatchObject({
      expiresAtMs: Date.UTC(2026, 1, 1),
      unitsPerDay: 9999,
      requestsPerSecond: 19,
      networks: ["192.0.2.0/24", "2001:db8::/32"],
    })
  })

  test.each([
    ["expires", { expires: "2025-12-31" }, "today or a later day"],
    ["expires", { expires: "2026-02-30" }, "today or a later day"],
    ["expires", { expires: "soon" }, "today or a later day"],
    ["expires", { expires: "2099-01-01" }, "within 10 years"],
    ["units", { units: "10000" }, "from 1 to 9,999"],
    ["units", { units: "1.5" }, "from 1 to 9,999"],
    ["units", { units: "-1" }, "from 1 to 9,999"],
    ["units", { units: "0" }, "from 1 to 9,999"],
    ["rate", { rate: "20" }, "from 1 to 19"],
    ["rate", { rate: "many" }, "from 1 to 19"],
    ["networks", { networks: HOSTILE }, "is not a network"],
    ["networks", { networks: "10.0.0.0/40" }, "“10.0.0.0/40” is not a network"],
    ["networks", { networks: "10.0.0.0/8", kind: "publishable", origins: SITE }, "Only secret keys"],
  ])("says what is wrong at %s, keeps what was typed and opens the limits (%#)", async (field, fields, message) => {
    const browsed = await openSignedIn({ tier: 1 })
    const page = await created(browsed, { name: "Narrow", ...fields })
    expect(page.status).toBe(400)
    expect(errorAt(page.html, field)).toContain(message)
    expect(page.html).toMatch(/<details[^>]*open/)
    expect(fieldIn(page.html, "name")).toBe("Narrow")
    if (field !== "networks") expect(fieldIn(page.html, field)).toBe(Object.values(fields)[0] ?? "")
    expect(page.html).not.toContain("<script>")
    expect(await keysOf(browsed)).toHaveLength(1)
  })
})

describe("a publishable key", () => {
  test("can be read again on its own page, and one of an earlier version says that it cannot", async () => {
    const browsed = await openSignedIn()
    const { id, text } = await browsed.harness.newKey([SITE])
    expect((await browsed.get(`/dashboard/keys/${id}`)).html).toContain(text)
    await browsed.harness.store.run("UPDATE keys SET public_text = NULL")
    expect((await browsed.get(`/dashboard/keys/${id}`)).text).toContain("It cannot be shown again")
  })

  test("has the line of the form script with the key on its page, unless it is revoked or cannot be shown", async () => {
    const browsed = await openSignedIn()
    const { id, text } = await browsed.harness.newKey([SITE])
    const path = `/dashboard/keys/${id}`
    const line = `/form.js" data-key="${text}" defer></script>`
    const page = await browsed.get(path)
    expect(page.text).toContain(line)
    expect(page.text).toContain(`On ${SITE}`)
    expect((await browsed.get(`/dashboard/keys/${browsed.harness.keyId}`)).text).not.toContain("form.js")
    await revokeKey(browsed.harness.changes, id, "owner")
    expect((await browsed.get(path)).text).not.toContain("form.js")
  })

  test("gets other websites, but not by a form that another one has overtaken, which keeps what was typed", async () => {
    const browsed = await openSignedIn()
    const { id } = await browsed.harness.newKey([SITE])
    const seen = await browsed.get(`/dashboard/keys/${id}`)
    const { redirectPath } = await browsed.submit(seen, { origins: "https://new.example" }, "Save")
    expect(redirectPath).toBe(`/dashboard/keys/${id}?done=saved`)
    expect((await keyNamed(browsed, "Publishable key")).origins).toEqual(["https://new.example"])
    const late = await browsed.submit(seen, { origins: "https://late.example" }, "Save")
    expect([late.status, late.text.includes("changed in another window")]).toEqual([400, true])
    expect(late.html).toContain("https://late.example")
    expect((await keyNamed(browsed, "Publishable key")).origins).toEqual(["https://new.example"])
  })
})

describe("the limits of a key", () => {
  test("are shown, changed together, and not by a form that another one has overtaken", async () => {
    const browsed = await openSignedIn({ tier: 1 })
    const path = `/dashboard/keys/${browsed.harness.keyId}`
    const seen = await browsed.get(path)
    const limits = { expires: "2026-01-05", units: "10", rate: "", networks: "192.0.2.7/24" }
    expect((await browsed.submit(seen, limits, "Save")).redirectPath).toBe(`${path}?done=saved`)
    const { html, text } = await browsed.get(path)
    expect([fieldIn(html, "expires"), fieldIn(html, "units")]).toEqual(["2026-01-05", "10"])
    expect(html).toContain("192.0.2.0/24")
    expect(text).toContain("Expires in 5 days")
    const late = await browsed.submit(seen, { ...limits, units: "77" }, "Save")
    expect([late.status, late.text.includes("changed in another window")]).toEqual([400, true])
    expect(fieldIn(late.html, "units")).toBe("77")
    expect((await keysOf(browsed))[0]).toMatchObject({ unitsPerDay: 10, requestsPerSecond: null })
  })

  test("of an expired key can be changed, so that it works again", async () => {
    const browsed = await openSignedIn()
    const { keyId, time, ask } = browsed.harness
    await saved(browsed, keyId, { expires: "2026-01-01" })
    await time.tick(86_400_000)
    expect((await ask("GET /v1/usage")).status).toBe(401)
    expect((await browsed.get(KEYS)).text).toContain("1 Jan 2026 expired")
    await saved(browsed, keyId, { expires: "2026-01-03" })
    expect((await ask("GET /v1/usage")).status).toBe(200)
  })
})
