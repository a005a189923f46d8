import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { until } from "../../support/until.ts"
import { accessFaults, BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing } from "./browser.ts"
import {
  EMAIL_FIELD,
  eventFor,
  type FormServer,
  readable,
  scriptPages,
  sentForm,
  typeAndLeave,
  usualAnswer,
} from "./form-page.ts"

const focusedId = (page: Page): Promise<string> => page.evaluate("document.activeElement.id")

const messages = (page: Page): Promise<readonly string[]> => page.locator(".mailkind").allTextContents()

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the script finds every email field, those that come later and those in shadow roots, and no other`,
  async () => {
    const { open, server } = await scriptPages()
    const { page, said } = await open({
      fields: `${EMAIL_FIELD}
        <input id="autocomplete" aria-label="a" autocomplete="section-a shipping email"><input id="marked" aria-label="b" data-mailkind>
        <input id="name" name="name" aria-label="c"><input id="off" type="email" aria-label="d" data-mailkind="off">
        <fieldset disabled><input id="disabled" type="email" aria-label="e"></fieldset><input id="fixed" type="email" readonly value="free@x.example" aria-label="f">
        <input id="many" type="email" multiple aria-label="g"><label>Wrapped <input id="wrapped" type="email"></label><div id="host"></div><div id="outer"></div>`,
    })
    await page.evaluate(`{
      const open = host.attachShadow({ mode: "open" })
      open.innerHTML = '<label for=inner>Inner</label><input id=inner type=email>'
      const later = document.createElement("input")
      Object.assign(later, { id: "later", type: "email" })
      later.setAttribute("aria-label", "later")
      document.querySelector("form").prepend(later)
      const shut = outer.attachShadow({ mode: "closed" })
      shut.innerHTML = '<label>Shut <input id=shut type=email></label>'
      document.detach = mailkind.attach(shut)
      document.shut = shut
    }`)
    for (const id of ["email", "autocomplete", "marked", "later", "wrapped"]) {
      await typeAndLeave(page, `free-${id}@x.example`, `#${id}`)
      await eventFor(page, "result", `free-${id}@x.example`)
    }
    await typeAndLeave(page, "free-inner@x.example", "#inner")
    await page.locator("#host .mailkind").getByText("Please check this address.").waitFor()
    expect(await page.locator("#host #inner").getAttribute("aria-describedby")).toBe(
      await page.locator("#host .mailkind").getAttribute("id"),
    )
    for (const id of ["name", "off"]) await typeAndLeave(page, `free-${id}@x.example`, `#${id}`)
    await typeAndLeave(page, "free-many@x.example, b@x.example", "#many")
    await page.focus("#fixed")
    await page.keyboard.press("Tab")
    await page.evaluate('disabled.value = "free-disabled@x.example"; disabled.dispatchEvent(new Event("change"))')

    await page.evaluate("document.shut.querySelector('input').focus()")
    await page.keyboard.type("free-shut@x.example")
    await page.keyboard.press("Tab")
    await eventFor(page, "result", "free-shut@x.example")
    await page.evaluate("document.detach(); document.shut.querySelector('input').focus()")
    await page.keyboard.type("x")
    await page.keyboard.press("Tab")
    await typeAndLeave(page, "free-last@x.example")
    await eventFor(page, "result", "free-last@x.example")
    await typeAndLeave(page, "Jane <mailto:free-copied@x.example?subject=x>", "#marked")
    await eventFor(page, "result", "free-copied@x.example")
    const names = ["email", "autocomplete", "marked", "later", "wrapped", "inner", "shut", "last", "copied"]
    expect(server.asked.map(({ email }) => email)).toEqual(names.map(name => `free-${name}@x.example`))
    // A button in a label would be the label's.
    expect(await page.locator("label .mailkind").count()).toBe(0)
    expect(said).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, each value is asked for once, nothing half-typed is, and newer text ends the older question`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({
      fields: `${EMAIL_FIELD}<input id="again" name="again" type="email" aria-label="Again">`,
    })
    for (const text of ["", "jane", "jane@", "@x.example", " free@x.example ", "free@x.example"])
      await typeAndLeave(page, text)
    await page.getByText("Please check this address.").waitFor()
    await typeAndLeave(page, "free@x.example", "#again")
    await page.getByText("Please check this address.").nth(1).waitFor()
    expect(server.asked).toEqual([{ email: "free@x.example" }])

    const slow = Promise.withResolvers<Response>()
    server.answer = asked => (asked.email.startsWith("slow") ? slow.promise : usualAnswer(asked))
    await typeAndLeave(page, "slow-bin@x.example")
    await askedFor(server, "slow-bin@x.example")
    await page.focus("#email")
    await page.keyboard.press("ControlOrMeta+A")
    await page.keyboard.type("j")
    expect(await page.locator(".mailkind").first().textContent()).toBe("")
    await page.keyboard.type("ane@x.example")
    await page.keyboard.press("Tab")
    slow.resolve(readable({ recommendation: "block" }))
    await eventFor(page, "result", "jane@x.example")
    expect(await page.evaluate("document.noted.some(([, detail]) => detail.result?.recommendation === 'block')")).toBe(
      false,
    )
    await page.click("#send")
    expect(await sentForm(page)).toEqual({ email: "jane@x.example", mailkind: "review", again: "free@x.example" })
  },
  BROWSER_TEST_MS,
)

/** Resolves when the server has got the question. */
const askedFor = ({ asked }: FormServer, email: string): Promise<void> =>
  until(
    () => asked.some(each => each.email === email),
    () => `${email} was not asked for`,
  )

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the script asks 250 ms after the last key, and not at all for what was left and changed before`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({})
    await page.clock.install()
    await page.clock.pauseAt(new Date(Date.now() + 1_000))
    const checked = () =>
      page.evaluate("document.noted.filter(([name]) => name === 'check').map(([, { email }]) => email)")
    await typeAndLeave(page, "free@x.exam")
    await page.clock.runFor(249)
    await page.focus("#email")
    await page.keyboard.press("End")
    await page.keyboard.type("ple")
    await page.clock.runFor(10_000)
    expect(await checked()).toEqual([])
    await page.keyboard.type("s")
    await page.keyboard.press("Tab")
    await page.clock.runFor(249)
    expect(await checked()).toEqual([])
    await page.clock.runFor(1)
    expect(await checked()).toEqual(["free@x.examples"])
    await eventFor(page, "result", "free@x.examples")
    expect(server.asked).toEqual([{ email: "free@x.examples" }])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the same text is asked for once while its answer is on its way, in all fields and after newer text`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({ fields: `${EMAIL_FIELD}<input id="again" type="email" aria-label="Again">` })
    const slow = Promise.withResolvers<void>()
    server.answer = async asked => {
      await slow.promise
      return usualAnswer(asked)
    }
    await typeAndLeave(page, "free@x.example")
    await askedFor(server, "free@x.example")
    await typeAndLeave(page, "jane@x.example")
    await askedFor(server, "jane@x.example")
    await typeAndLeave(page, "free@x.example")
    await typeAndLeave(page, "free@x.example", "#again")
    slow.resolve()
    await page.getByText("Please check this address.").nth(1).waitFor()
    expect(server.asked).toEqual([{ email: "free@x.example" }, { email: "jane@x.example" }])
    expect(await page.evaluate("document.noted.filter(([name]) => name === 'result').length")).toBe(2)
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, what the policy of the form would not allow is not suggested, and its words are said at once`,
  async () => {
    const { open, server } = await scriptPages()
    const meant = { allow: "allow", review: "review", block: "block", failing: null } as const
    server.answer = asked => {
      const [name = ""] = asked.email.split("@")
      const recommendation = meant[name as keyof typeof meant] ?? null
      if (!asked.email.endsWith("@gmail.com"))
        return readable({ category: "invalid", recommendation: "block", did_you_mean: "gmail.com" })
      return recommendation === null ? readable({}, 503) : readable({ category: "personal", recommendation })
    }
    for (const [name, shown] of [
      ["allow", "Did you mean allow@gmail.com?"],
      ["review", "Please use your work email."],
      ["block", "Please use your work email."],
      ["failing", "Did you mean failing@gmail.com?"],
    ] as const) {
      const { page } = await open({})
      await typeAndLeave(page, `${name}@gmial.com`)
      await page.locator(".mailkind").getByText(shown).waitFor()
      const isSuggested = shown.startsWith("Did")
      expect(await page.locator(".mailkind button").count()).toBe(isSuggested ? 1 : 0)
      expect(await eventFor(page, "result", `${name}@gmial.com`)).toMatchObject({
        suggestion: isSuggested ? `${name}@gmail.com` : null,
      })
      expect(await page.inputValue("[name=mailkind]")).toBe("block")
      if (isSuggested) {
        await page.locator(".mailkind button").click()
        await eventFor(page, name === "allow" ? "result" : "unchecked", `${name}@gmail.com`)
        expect(await messages(page)).toEqual([""])
      }
    }
    const asked = server.asked.map(({ email }) => email)
    const once = (name: string) => [`${name}@gmial.com`, `${name}@gmail.com`]
    // What was asked before it was suggested is not asked again. What failed is.
    expect(asked).toEqual([...["allow", "review", "block", "failing"].flatMap(once), "failing@gmail.com"])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, each field has its hidden field, which a page may name or leave out, and a form may be sent by a script`,
  async () => {
    const { open } = await scriptPages()
    const fields = `${EMAIL_FIELD}<input id="second" name="second" type="email" data-mailkind-name="second_kind" aria-label="Second">
      <input id="bare" name="bare" type="email" data-mailkind-name="" aria-label="Bare">`
    const { page } = await open({
      fields,
      more: '<input id="outside" form="own" type="email" aria-label="Outside"><form id="own"></form>',
    })
    await typeAndLeave(page, "free@x.example")
    await typeAndLeave(page, "bin@x.example", "#second")
    await typeAndLeave(page, "free@x.example", "#bare")
    await typeAndLeave(page, "bin-outside@x.example", "#outside")
    await eventFor(page, "result", "bin-outside@x.example")
    const data = (form: string) => page.evaluate(`Object.fromEntries(new FormData(document.forms[${form}]))`)
    expect(await data("0")).toEqual({
      ...{ email: "free@x.example", mailkind: "review", second: "bin@x.example", second_kind: "block" },
      bare: "free@x.example",
    })
    expect(await data("1")).toEqual({ mailkind: "block" })
    await page.evaluate("document.forms[0].reset()")
    expect(await messages(page)).toEqual(["", "", "", "Please use an address that you will keep."])
    expect(await data("0")).toEqual({
      email: "",
      mailkind: "unchecked",
      second: "",
      second_kind: "unchecked",
      bare: "",
    })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, what a program fills in is asked for without the focus, and what is composed only when it is left`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({})
    await page.evaluate('email.value = "free@x.example"; email.dispatchEvent(new Event("input", { bubbles: true }))')
    await page.getByText("Please check this address.").waitFor()
    expect(await focusedId(page)).toBe("")

    const { page: other } = await open({ fields: '<input id="email" name="email" data-mailkind aria-label="Email">' })
    const session = await other.context().newCDPSession(other)
    await other.focus("#email")
    await session.send("Input.imeSetComposition", { text: "にほん@例え", selectionStart: 6, selectionEnd: 6 })
    await session.send("Input.insertText", { text: "日本@例え.jp" })
    expect(server.asked.map(({ email }) => email)).toEqual(["free@x.example"])
    await other.keyboard.press("Tab")
    await eventFor(other, "result", "日本@例え.jp")
    expect(server.asked.map(({ email }) => email)).toEqual(["free@x.example", "日本@例え.jp"])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a hint that comes while a button is pressed takes no click away`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({})
    await page.fill("#email", "free@x.example")
    const box = await page.locator("#send").boundingBox()
    if (box === null) throw new Error("there is no button")
    await page.mouse.move(box.x + 5, box.y + 2)
    await page.mouse.down()
    await eventFor(page, "result", "free@x.example")
    expect(await messages(page)).toEqual([""])
    await page.mouse.up()
    expect(await sentForm(page)).toEqual({ email: "free@x.example", mailkind: "review" })
    expect(server.asked).toHaveLength(1)
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a suggestion reaches a framework that watches its field, and its focus stays in the form`,
  async () => {
    const { open } = await scriptPages()
    const { page } = await open({})
    // A framework keeps the last value by a property of its own, and takes an event without a change for nothing new.
    await page.evaluate(`{
      const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")
      let last = email.value
      document.states = []
      Object.defineProperty(email, "value", { get: () => own.get.call(email), set: value => { last = value; own.set.call(email, value) } })
      email.addEventListener("input", () => { if (email.value !== last) document.states.push(last = email.value) })
    }`)
    await typeAndLeave(page, "jane@gmial.com")
    await page.getByRole("button", { name: "Did you mean jane@gmail.com?" }).click()
    expect(await eventFor(page, "accept", "jane@gmail.com")).toEqual({ from: "jane@gmial.com", to: "jane@gmail.com" })
    expect(await page.evaluate("document.states.at(-1)")).toBe("jane@gmail.com")
    expect(await focusedId(page)).toBe("email")
    await page.click("#send")
    expect(await sentForm(page)).toEqual({ email: "jane@gmail.com", mailkind: "allow" })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a page that takes its field away keeps nothing of the script, and one that puts it back has a hint again`,
  async () => {
    const { open } = await scriptPages()
    const { page } = await open({})
    await typeAndLeave(page, "free@x.example")
    await page.getByText("Please check this address.").waitFor()
    await page.evaluate("document.taken = email; email.remove()")
    await page.locator(".mailkind").waitFor({ state: "detached" })
    expect(await page.locator("input[type=hidden]").count()).toBe(0)
    await page.evaluate("document.forms[0].prepend(document.taken)")
    await typeAndLeave(page, "free@x.example")
    await page.getByText("Please check this address.").waitFor()
    // What a page draws anew around the field is no reason to show the words nowhere.
    await page.evaluate("document.querySelector('.mailkind').remove()")
    await typeAndLeave(page, "bin@x.example")
    await page.getByText("Please use an address that you will keep.").waitFor()
    expect(await messages(page)).toHaveLength(1)
    expect(await accessFaults(page)).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a form in a shadow root that is reset shows nothing and is unchecked`,
  async () => {
    const { open } = await scriptPages()
    const { page } = await open({ more: "<div id=host></div>" })
    await page.evaluate(
      "host.attachShadow({ mode: 'open' }).innerHTML = '<form><label for=inner>Inner</label><input id=inner type=email></form>'",
    )
    await typeAndLeave(page, "bin@x.example", "#inner")
    await page.locator("#host .mailkind").getByText("Please use").waitFor()
    await page.evaluate("host.shadowRoot.querySelector('form').reset()")
    expect(await page.locator("#host .mailkind").textContent()).toBe("")
    expect(await page.locator("#host [name=mailkind]").inputValue()).toBe("unchecked")
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the script works in a page whose elements have the names of all members of documents and forms`,
  async () => {
    const { open } = await scriptPages()
    const { page: plain } = await open({})
    const names = await plain.evaluate<string[]>(
      "[Document, HTMLFormElement, HTMLElement, Element, Node, EventTarget].flatMap(each => Object.getOwnPropertyNames(each.prototype))",
    )
    expect(names).toContain("currentScript")
    const clobbering = [...new Set(names)]
    const { page, said } = await open({
      fields: `${EMAIL_FIELD}<input type="reset" id="again">${clobbering.map(name => `<input type="hidden" name="${name}">`).join("")}`,
      more: `<div id="host"></div>${[...clobbering, "mailkind"].map(name => `<img name="${name}" alt=""><form name="${name}"></form>`).join("")}`,
    })
    // What drives the browser looks for elements by members of the document too.
    const typed = async (text: string, field: string) => {
      await page.evaluate(`${field}.focus()`)
      await page.keyboard.type(text)
      await page.keyboard.press("Tab")
      return await eventFor(page, "result", text)
    }
    expect(await page.evaluate("document.currentScript instanceof HTMLCollection")).toBe(true)
    await typed("free@example.com", "window.email")
    await page.evaluate("new Promise(resolve => setTimeout(resolve))")
    expect(await page.evaluate("email.nextElementSibling.textContent")).toBe("Please check this address.")
    await page.evaluate("again.click()")
    expect(await page.evaluate("email.nextElementSibling.textContent")).toBe("")
    await page.evaluate(`{
      const root = host.attachShadow({ mode: "closed" })
      root.innerHTML = '<form><input type=email><input name=addEventListener><input name=getRootNode></form>'
      window.detach = mailkind.attach(root)
      window.shut = root.querySelector("[type=email]")
    }`)
    await typed("free-shut@example.com", "shut")
    await page.evaluate("mailkind.configure({ words: { review: 'Really?' } })")
    await typed("free-again@example.com", "window.email")
    expect(said.filter(line => !line.includes("is not on https"))).toEqual([])
    await page.evaluate("void setTimeout(() => HTMLFormElement.prototype.submit.call(email.form))")
    expect(await sentForm(page)).toMatchObject({ email: "free-again@example.com", mailkind: "review" })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a field that goes with its shadow root leaves nothing in memory`,
  async () => {
    const { open } = await scriptPages()
    const { page } = await open({ fields: "", more: '<div id="place"></div>' })
    await page.evaluate("document.gone = []")
    for (let at = 0; at < 5; at++) {
      await page.evaluate(`{
        const host = document.createElement("div")
        const root = host.attachShadow({ mode: "open" })
        root.innerHTML = '<form><input type=email></form>'
        place.append(host)
        root.querySelector("input").focus()
        document.gone.push(new WeakRef(host), new WeakRef(root.querySelector("input")))
      }`)
      await page.keyboard.type(`free${at}@example.com`)
      await page.keyboard.press("Tab")
      await eventFor(page, "result", `free${at}@example.com`)
    }
    await page.locator("#place .mailkind").getByText("Please check this address.").nth(4).waitFor()
    // The browser itself may remember where the focus was last.
    await page.evaluate("place.replaceChildren(); send.focus()")
    // A busy browser takes several turns and collections to let go of all.
    const isFree = async (): Promise<boolean> => {
      await page.requestGC()
      return await page.evaluate("document.gone.slice(0, -2).every(ref => ref.deref() === undefined)")
    }
    await until(isFree, () => "some fields that went are still in memory")
  },
  BROWSER_TEST_MS,
)
