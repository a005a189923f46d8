// What every page gets with JavaScript: copy buttons, forms that are sent once, a switch for dark colours, remembered tabs,
// relative times, and the focus on what came of a form. Each page works without this script.

/** @param {string} name */
const remembered = name => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null // Storage is switched off.
  }
}

/** @param {string} name @param {string} value */
const remember = (name, value) => {
  try {
    localStorage.setItem(name, value)
  } catch {
    // Storage is switched off: the choice lasts for this page only.
  }
}

/** What screen readers read out when something changes. It stands here before it says anything, or they would miss that. */
const news = document.createElement("p")
news.className = "unseen"
news.setAttribute("aria-live", "polite")
document.body.append(news)
/** @param {string} words */
const say = words => {
  news.textContent = words
}

/**
 * A button that copies a text. Screen readers add `what` to its label, since a page may have several of them.
 * @param {string} label
 * @param {string} what
 * @param {() => Element | null} source
 */
function copyButton(label, what, source) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "small"
  /** @param {string} words */
  const show = words => {
    const name = document.createElement("span")
    name.className = "unseen"
    name.textContent = what === "" ? "" : ` ${what}`
    button.replaceChildren(words, name)
  }
  show(label)
  button.addEventListener("click", async () => {
    const element = source()
    if (element === null) return
    try {
      await navigator.clipboard.writeText(element.textContent?.trim() ?? "")
      show("Copied")
      say("Copied.")
    } catch {
      // Only pages over HTTPS or on loopback addresses may write to the clipboard. On others the text is selected.
      const details = element.closest("details")
      if (details !== null) details.open = true
      getSelection()?.selectAllChildren(element)
      show("Press Ctrl+C")
      say("The text is selected. Press Ctrl+C to copy it.")
    }
    setTimeout(() => {
      show(label)
      say("")
    }, 2000)
  })
  return button
}

/** @param {ParentNode} root */
function addCopyButtons(root) {
  for (const text of root.querySelectorAll(".copied")) {
    const row = text.closest("tr")?.querySelector("th bdi")
    text.after(copyButton("Copy", text.getAttribute("data-copy-name") ?? row?.textContent ?? "key", () => text))
  }
  for (const figure of root.querySelectorAll(".sample")) {
    const caption = figure.querySelector("figcaption")
    if (figure.querySelector(".copied") !== null || caption === null) continue
    caption.append(copyButton("Copy", caption.textContent?.trim() ?? "", () => figure.querySelector("pre")))
  }
  for (const place of root.querySelectorAll("[data-copy]")) {
    if (!(place instanceof HTMLElement)) continue
    const { copy = "", copyLabel = "Copy" } = place.dataset
    place.append(copyButton(copyLabel, "", () => document.getElementById(copy)))
  }
}
addCopyButtons(document)

// A form that changes something is sent once. The response to a second press of the button would replace that of the first one,
// with a key that is shown only there. After a while the visitor may try again.
const RESEND_AFTER_MS = 10_000
/** @type {Map<HTMLFormElement, number>} */
const sentAt = new Map()
document.addEventListener("submit", event => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.getAttribute("method") !== "post" || event.defaultPrevented) return
  const before = sentAt.get(form)
  if (before !== undefined && performance.now() - before < RESEND_AFTER_MS) return event.preventDefault()
  sentAt.set(form, performance.now())
  form.setAttribute("aria-busy", "true")
  say("Sending …")
})
// The browser may restore the page when the visitor goes back. Then its forms can be sent again.
addEventListener("pageshow", () => {
  for (const form of sentAt.keys()) form.removeAttribute("aria-busy")
  sentAt.clear()
})

// A choice of what a page shows is sent at once.
document.addEventListener("change", ({ target }) => {
  if (target instanceof HTMLSelectElement && target.hasAttribute("data-sends")) target.form?.requestSubmit()
})

/** The tabs of one page show the same language, and the next page shows it too. */
const TAB = "tab"
/** @param {string} label */
const selectTabs = label => {
  for (const input of document.querySelectorAll(".tabs > input"))
    if (input instanceof HTMLInputElement && input.value === label) input.checked = true
}
for (const input of document.querySelectorAll(".tabs > input"))
  input.addEventListener("change", () => {
    if (!(input instanceof HTMLInputElement)) return
    remember(TAB, input.value)
    selectTabs(input.value)
  })
const tab = remembered(TAB)
if (tab !== null) selectTabs(tab)

const UNITS = /** @type {const} */ ([
  ["day", 86_400],
  ["h", 3600],
  ["min", 60],
])
const DAYS_MAX = 30
/** How long ago an instant is: `2 min ago`, `3 days ago`. @param {number} seconds */
function ago(seconds) {
  const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? ["", 0]
  if (length === 0) return "just now"
  const count = Math.round(seconds / length)
  return `${count} ${unit}${unit === "day" && count > 1 ? "s" : ""} ago`
}
/** Whether an instant is all that its cell says. In a sentence, such as “before 2 Jan”, it stays exact. @param {HTMLTimeElement} time */
const isAlone = time =>
  time.parentElement?.matches("td, dd, [data-relative]") === true && time.parentElement.childNodes.length === 1
function showRelativeTimes() {
  for (const time of document.querySelectorAll("time")) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000
    if ("exact" in time.dataset || !isAlone(time) || !(seconds >= 0 && seconds < DAYS_MAX * 86_400)) continue
    time.title ||= time.textContent ?? ""
    time.textContent = ago(seconds)
  }
}
showRelativeTimes()
setInterval(showRelativeTimes, 60_000)

// Other scripts tell of what they have put on the page.
document.addEventListener("added", event => {
  if (event.target instanceof Element) addCopyButtons(event.target)
  showRelativeTimes()
})

// A menu closes when the visitor or the focus goes elsewhere; without this script its button does that.
for (const menu of document.querySelectorAll("details.menu")) {
  if (!(menu instanceof HTMLDetailsElement)) continue
  document.addEventListener("click", event => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false
  })
  menu.addEventListener("focusout", event => {
    if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) menu.open = false
  })
  menu.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !menu.open) return
    menu.open = false
    menu.querySelector("summary")?.focus()
  })
}

// On narrow screens the strip of links scrolls to the current page.
const strip = document.querySelector(".section-links")
const current = strip?.querySelector("[aria-current]")
if (strip !== null && current instanceof HTMLElement) strip.scrollLeft = current.offsetLeft - strip.clientWidth / 2

const root = document.documentElement
const isDark = () =>
  root.dataset["theme"] === undefined
    ? matchMedia("(prefers-color-scheme: dark)").matches
    : root.dataset["theme"] === "dark"
const footer = document.querySelector(".bottom")
if (footer !== null) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "theme"
  const describe = () => button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours")
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark"
    root.dataset["theme"] = theme
    remember("theme", theme)
    describe()
    say(`${theme === "dark" ? "Dark" : "Light"} colours.`)
  })
  describe()
  footer.append(button)
}

// The response to a form says first what came of it: a verdict, the field to correct, a refusal or a confirmation. Screen readers
// read what has the focus, and the next Tab goes on from there.
const OUTCOMES = [
  "#verdict:has([role=status])",
  ".page [aria-invalid=true]",
  ".page .boxed[role=alert]:not([hidden])",
  ".page .done[role=status]",
]
const outcome = OUTCOMES.map(selector => document.querySelector(selector)).find(element => element !== null)
if (outcome instanceof HTMLElement) {
  const focus = () => {
    if (document.activeElement === document.body) outcome.focus()
  }
  if (!outcome.matches("input, select, textarea")) outcome.tabIndex = -1
  focus()
  // A fragment in the page's URL takes the focus away when the page is complete.
  addEventListener("load", () => setTimeout(focus))
}
