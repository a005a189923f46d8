// What every page gets with JavaScript: copy buttons, a switch for dark colours, remembered tabs, relative times, and the
// focus on a verdict. Each page works without this script.

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

/** @param {string} label @param {() => Element | null} source */
function copyButton(label, source) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "small"
  button.textContent = label
  button.addEventListener("click", async () => {
    const element = source()
    if (element === null) return
    try {
      await navigator.clipboard.writeText(element.textContent?.trim() ?? "")
      button.textContent = "Copied"
    } catch {
      // Only pages over HTTPS or on loopback addresses may write to the clipboard. On others the text is selected.
      const details = element.closest("details")
      if (details !== null) details.open = true
      getSelection()?.selectAllChildren(element)
      button.textContent = "Press Ctrl+C"
    }
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
  // The label of the pressed button tells the outcome.
  button.setAttribute("aria-live", "polite")
  return button
}

for (const text of document.querySelectorAll(".copied")) text.after(copyButton("Copy", () => text))
for (const figure of document.querySelectorAll(".sample")) {
  if (figure.querySelector(".copied") !== null) continue
  figure.querySelector("figcaption")?.append(copyButton("Copy", () => figure.querySelector("pre")))
}
for (const place of document.querySelectorAll("[data-copy]")) {
  if (!(place instanceof HTMLElement)) continue
  const { copy = "", copyLabel = "Copy" } = place.dataset
  place.append(copyButton(copyLabel, () => document.getElementById(copy)))
}

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
  ["hour", 3600],
  ["minute", 60],
])
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })
const DAYS_MAX = 30
function showRelativeTimes() {
  for (const time of document.querySelectorAll("time")) {
    if ("exact" in time.dataset) continue
    const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000
    if (Number.isNaN(seconds) || Math.abs(seconds) > DAYS_MAX * 86_400) continue
    time.title ||= time.textContent ?? ""
    const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1]
    time.textContent = relative.format(Math.trunc(seconds / length), unit)
  }
}
showRelativeTimes()
setInterval(showRelativeTimes, 60_000)

// The menu of the header closes when the visitor goes elsewhere; without this script its button closes it.
const menu = document.querySelector("details.menu")
if (menu instanceof HTMLDetailsElement) {
  document.addEventListener("click", event => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false
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
const header = document.querySelector("header.top")
if (header !== null) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "theme"
  const describe = () => button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours")
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark"
    root.dataset["theme"] = theme
    remember("theme", theme)
    describe()
  })
  describe()
  header.append(button)
}

// The response to a form shows its verdict. Screen readers read what has the focus.
const answer = document.querySelector("#verdict [role=status]")?.parentElement
if (answer instanceof HTMLElement) answer.focus()
