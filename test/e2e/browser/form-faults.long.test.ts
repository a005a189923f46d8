import { expect, test } from "bun:test"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing } from "./browser.ts"
import { eventFor, readable, scriptPages, sentForm, typeAndLeave, usualAnswer } from "./form-page.ts"

const never = (): Promise<Response> => new Promise(() => undefined)

const unendingBody = () =>
  new ReadableStream({ start: controller => controller.enqueue(new TextEncoder().encode('{"recommendation":')) })

/** What a server may do instead of answering, and what the page learns of it. */
const FAULTS: Readonly<
  Record<
    string,
    { readonly answer: () => Response | Promise<Response>; readonly told: { because: string; status: number | null } }
  >
> = {
  "answers never": { answer: never, told: { because: "timeout", status: null } },
  "begins an answer and never ends it": {
    answer: () => new Response(unendingBody(), { headers: { "Access-Control-Allow-Origin": "*" } }),
    told: { because: "timeout", status: null },
  },
  "refuses by 500": {
    answer: () => readable({ code: "internal_error" }, 500),
    told: { because: "refused", status: 500 },
  },
  "refuses by 429": {
    answer: () => readable({ code: "rate_limited" }, 429),
    told: { because: "refused", status: 429 },
  },
  "refuses the key by 401": {
    answer: () => readable({ code: "key_revoked" }, 401),
    told: { because: "refused", status: 401 },
  },
  "refuses by a 403 that the page may not read": {
    answer: () => new Response("{}", { status: 403 }),
    told: { because: "unreachable", status: null },
  },
  "sends no JSON": { answer: () => readable("<h1>Bad gateway</h1>"), told: { because: "malformed", status: null } },
  "sends half of an answer": {
    answer: () => readable('{"recommendation": "rev'),
    told: { because: "malformed", status: null },
  },
  "sends null": { answer: () => readable("null"), told: { because: "malformed", status: 200 } },
  "sends an unknown recommendation": {
    answer: () => readable({ recommendation: "explode" }),
    told: { because: "malformed", status: 200 },
  },
  "leads elsewhere": {
    answer: () => new Response(null, { status: 307, headers: { Location: "http://127.0.0.1:1/" } }),
    told: { because: "unreachable", status: null },
  },
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a form is sent as unchecked when the server fails in any way`,
  async () => {
    const { open, server } = await scriptPages()
    for (const [fault, { answer, told }] of Object.entries(FAULTS)) {
      server.answer = answer
      // A busy machine must not let a fault that answers end in a time-out.
      const { page, said } = await open({ tagMore: `data-timeout="${told.because === "timeout" ? 400 : 8000}"` })
      await typeAndLeave(page, "free@example.com")
      const { because, status } = await eventFor(page, "unchecked", "free@example.com")
      expect({ fault, because, status }).toEqual({ fault, ...told })
      expect(await page.locator(".mailkind").textContent()).toBe("")
      expect(said.filter(line => line.startsWith("thrown"))).toEqual([])
      await page.click("#send")
      expect(await sentForm(page)).toEqual({ email: "free@example.com", mailkind: "unchecked" })
    }
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, what the server does not read as an address is invalid, and any other wrong request is no verdict`,
  async () => {
    const { open, server } = await scriptPages()
    const { page, said } = await open({})
    const refusals: readonly (readonly [status: number, body: unknown, value: string])[] = [
      [400, { code: "invalid_input", errors: [{ pointer: "/email" }] }, "block"],
      [400, { code: "invalid_input", errors: [{ pointer: "/policy" }] }, "unchecked"],
      [413, { code: "payload_too_large" }, "block"],
      [413, "<h1>Too large</h1>", "block"],
      [400, "<h1>Bad request</h1>", "unchecked"],
    ]
    for (const [at, [status, body, value]] of refusals.entries()) {
      server.answer = () => readable(body, status)
      const email = `none${at}@example.com`
      await typeAndLeave(page, email)
      await eventFor(page, value === "block" ? "result" : "unchecked", email)
      expect(await page.inputValue("[name=mailkind]")).toBe(value)
      if (value === "block") await page.getByText("This address cannot receive email.").waitFor()
      else expect(await page.locator(".mailkind").textContent()).toBe("")
      const told = said.filter(line => line.startsWith("mailkind:"))
      expect({ at, told }).toEqual({
        at,
        told: at < 3 ? [] : ["mailkind: A proxy in front of the server refused the body as too large (413)."],
      })
    }
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a form is sent at once while the answer is awaited, and when the server has died`,
  async () => {
    const { open, server } = await scriptPages()
    server.answer = never
    const { page } = await open({})
    await page.fill("#email", "free@example.com")
    await page.keyboard.press("Enter")
    expect(await sentForm(page)).toEqual({ email: "free@example.com", mailkind: "unchecked" })

    server.answer = usualAnswer
    const second = await open({})
    await server.stop()
    await typeAndLeave(second.page, "free@example.com")
    await eventFor(second.page, "unchecked", "free@example.com")
    expect(second.said.join("\n")).toContain(`${server.url} did not answer.`)
    await second.page.click("#send")
    expect(await sentForm(second.page)).toEqual({ email: "free@example.com", mailkind: "unchecked" })
    // Without the file of the script the page is as it was.
    const third = await open({})
    await typeAndLeave(third.page, "free@example.com")
    await third.page.click("#send")
    expect(await sentForm(third.page)).toEqual({ email: "free@example.com" })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, an answer after the time-out changes nothing, and the next address is asked for`,
  async () => {
    const { open, server } = await scriptPages()
    const late = Promise.withResolvers<Response>()
    server.answer = asked => (asked.email.startsWith("late") ? late.promise : usualAnswer(asked))
    const { page } = await open({ tagMore: 'data-timeout="300"' })
    await typeAndLeave(page, "late-free@example.com")
    await eventFor(page, "unchecked", "late-free@example.com")
    late.resolve(readable({ recommendation: "block" }))
    await typeAndLeave(page, "free@example.com")
    await page.getByText("Please check this address.").waitFor()
    expect(await page.evaluate("document.noted.filter(([name]) => name === 'result').length")).toBe(1)
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the script waits as long as Retry-After says, and asks no more after its key was refused`,
  async () => {
    const { open, server } = await scriptPages()
    server.answer = () => readable({}, 429, { "Retry-After": "10984" })
    const { page } = await open({})
    for (const [email, because] of [
      ["one@example.com", "refused"],
      ["two@example.com", "paused"],
    ] as const) {
      await typeAndLeave(page, email)
      expect(await eventFor(page, "unchecked", email)).toMatchObject({ because })
    }
    expect(server.asked).toEqual([{ email: "one@example.com" }])
    expect(await page.evaluate("document.noted.filter(([name]) => name === 'unchecked').length")).toBe(2)

    server.answer = () => readable({}, 403)
    const second = await open({})
    await typeAndLeave(second.page, "three@example.com")
    await eventFor(second.page, "unchecked", "three@example.com")
    await typeAndLeave(second.page, "four@example.com")
    expect(await eventFor(second.page, "unchecked", "four@example.com")).toMatchObject({ because: "paused" })
    expect(second.said.join("\n")).toContain("The server refuses the key (403).")
    expect(server.asked.map(({ email }) => email)).toEqual(["one@example.com", "three@example.com"])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, hostile words in an answer are text, and no word of a wrong type is used`,
  async () => {
    const { open, server } = await scriptPages()
    const domain = "<img/src=x/onerror=document.hacked=1>"
    server.answer = ({ email }) =>
      readable({
        recommendation: email.endsWith(domain) ? "allow" : "review",
        category: "__proto__",
        did_you_mean: domain,
      })
    const { page, said } = await open({})
    await typeAndLeave(page, "a<b>@example.com")
    await page.getByRole("button", { name: `Did you mean a<b>@${domain}?` }).waitFor()
    expect(await page.locator(".mailkind img, .mailkind b").count()).toBe(0)
    for (const did_you_mean of [5, {}, ["gmail.com"], "", "a b", "x@y", true, null]) {
      server.answer = () => readable({ recommendation: "review", category: { toString: 1 }, did_you_mean })
      const email = `free-${typeof did_you_mean}-${String(did_you_mean).length}@example.com`
      await typeAndLeave(page, email)
      expect(await eventFor(page, "result", email)).toMatchObject({ suggestion: null })
    }
    expect(await page.evaluate("document.hacked ?? null")).toBeNull()
    expect(said).toEqual([])
  },
  BROWSER_TEST_MS,
)
