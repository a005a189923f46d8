// The search over all pages of the guide. It works in the browser: the index is loaded when the field gets the focus.

/**
 * @typedef {{ pages: [path: string, title: string][], sections: [page: number, id: string, heading: string, text: string][] }} Index
 * @typedef {{ path: string, page: string, heading: string, text: string, found: number, score: number }} Result
 */

const RESULTS_MAX = 8
const EXCERPT_LENGTH = 140

/** Words of questions, which say nothing of what is searched. */
const STOP_WORDS = new Set(
  `a an and are as at be by can do does for from have how i if in is it its me my of on or our should so that the then
    there this to want was we what when where which who why will with you your`.split(/\s+/),
)

const place = globalThis.document?.querySelector("[data-search-index]")
if (globalThis.document !== undefined && place instanceof HTMLElement)
  addSearch(place, place.dataset["searchIndex"] ?? "")

/** @param {HTMLElement} place @param {string} path */
function addSearch(place, path) {
  const label = element("label", "unseen", "Search the guide")
  const field = document.createElement("input")
  const status = element("p", "unseen", "")
  const list = document.createElement("ol")
  Object.assign(field, { id: "guide-search", type: "search", autocomplete: "off", spellcheck: false })
  field.placeholder = matchMedia("(max-width: 44rem)").matches ? "Search the guide" : "Search the guide (press /)"
  label.htmlFor = field.id
  status.setAttribute("role", "status")
  list.hidden = true
  const landmark = document.createElement("search")
  landmark.append(label, field, status, list)
  place.append(landmark)

  /** @type {Promise<Index> | null} */
  let loading = null
  const load = () => {
    loading ??= loadIndex(path)
    return loading
  }
  const show = async () => {
    const query = field.value
    if (wordsOf(query).length === 0) return hide()
    let results
    try {
      results = find(await load(), query)
    } catch {
      loading = null
      status.textContent = "The search could not be loaded. Check your connection and try again."
      status.className = "fault"
      return
    }
    if (query !== field.value) return // The text has changed while the index was loaded.
    status.className = results.length === 0 ? "hint" : "unseen"
    status.textContent = countText(results.length, query.trim())
    list.replaceChildren(...results.map(result => resultItem(result, wordsOf(query))))
    list.hidden = results.length === 0
  }
  const hide = () => {
    list.hidden = true
    status.className = "unseen"
    status.textContent = ""
  }
  field.addEventListener("focus", () => {
    load().catch(() => {
      loading = null
    })
  })
  field.addEventListener("click", () => void show())
  field.addEventListener("input", () => void show())
  landmark.addEventListener("focusout", event => {
    if (!(event.relatedTarget instanceof Node && landmark.contains(event.relatedTarget))) hide()
  })
  addKeys(landmark, field, list, hide)
}

/**
 * The arrows move between the field and the results, Enter opens the first result, Escape closes them, and `/` leads to the field.
 * @param {HTMLElement} landmark
 * @param {HTMLInputElement} field
 * @param {HTMLElement} list
 * @param {() => void} hide
 */
function addKeys(landmark, field, list, hide) {
  landmark.addEventListener("keydown", event => {
    const links = list.hidden ? [] : [...list.querySelectorAll("a")]
    if (event.key === "Escape") {
      if (!list.hidden) event.preventDefault()
      field.focus()
      hide()
    } else if (event.key === "Enter" && event.target === field) {
      event.preventDefault()
      links[0]?.click()
    } else if (event.key === "ArrowDown") moveFocus(event, [field, ...links], 1)
    else if (event.key === "ArrowUp") moveFocus(event, [field, ...links], -1)
  })
  // A result on the same page changes only the part of the address after the #.
  list.addEventListener("click", event => {
    if (event.target instanceof Element && event.target.closest("a") !== null) hide()
  })
  document.addEventListener("keydown", event => {
    const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
    event.preventDefault()
    field.focus()
  })
}

/**
 * Moves the focus to the next stop, or from the last one to the first.
 * @param {Event} event
 * @param {HTMLElement[]} stops
 * @param {number} step
 */
function moveFocus(event, stops, step) {
  if (stops.length < 2) return
  event.preventDefault()
  const at = stops.findIndex(stop => stop.matches(":focus"))
  stops[(at + step + stops.length) % stops.length]?.focus()
}

/** @param {string} path @returns {Promise<Index>} */
async function loadIndex(path) {
  const response = await fetch(path)
  if (!response.ok) throw new Error("the index was not loaded")
  return await response.json()
}

/** The words of a question without those that say nothing. The plural of a word is searched as the word. @param {string} text */
function wordsOf(text) {
  const words = (text.toLowerCase().match(/[\p{L}\p{N}_.@-]+/gu) ?? []).map(word => word.replace(/^[.-]+|[.-]+$/g, ""))
  const telling = words.filter(word => word !== "" && !STOP_WORDS.has(word))
  return (telling.length > 0 ? telling : words).map(word =>
    /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word,
  )
}

/**
 * The sections that have every word, best first, and then those that have most of them.
 * @param {Index} index
 * @param {string} query
 * @returns {Result[]}
 */
function find({ pages, sections }, query) {
  const words = wordsOf(query)
  return sections
    .map(([number, id, heading, text]) => {
      const [path, page] = pages[number] ?? ["", ""]
      const scores = words.map(word => score(word, page, heading, text))
      const sum = scores.reduce((total, one) => total + one, id === "" ? 1 : 0)
      const found = scores.filter(one => one > 0).length
      return { path: id === "" ? path : `${path}#${id}`, page, heading, text, found, score: sum }
    })
    .filter(({ found }) => found > 0 && found * 2 >= words.length)
    .sort((a, b) => b.found - a.found || b.score - a.score)
    .slice(0, RESULTS_MAX)
}

/**
 * How well a word fits a section: a heading counts more than the title of the page, and that more than the text.
 * @param {string} word
 * @param {string} page
 * @param {string} heading
 * @param {string} text
 */
function score(word, page, heading, text) {
  const scoreIn = (/** @type {string} */ place, /** @type {number} */ weight) => {
    const at = place.toLowerCase().indexOf(word)
    if (at < 0) return 0
    if (place.length === word.length) return 2 * weight
    return isWordStart(place, word) ? weight : weight / 4
  }
  return scoreIn(heading, 12) + scoreIn(page, 6) + scoreIn(text, 2)
}

/** @param {string} text @param {string} word */
function isWordStart(text, word) {
  const lower = text.toLowerCase()
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(lower[at - 1] ?? "")) return true
  return false
}

/** @param {Result} result @param {string[]} words */
function resultItem({ path, page, heading, text }, words) {
  const link = document.createElement("a")
  link.href = path
  link.append(
    element("strong", "", heading),
    ...(heading === page ? [] : [element("span", "", page)]),
    excerpt(text, words),
  )
  const item = document.createElement("li")
  item.append(link)
  return item
}

/** The part of a text around the first word that was found, with the words marked. @param {string} text @param {string[]} words */
function excerpt(text, words) {
  const lower = text.toLowerCase()
  const first = Math.min(...words.map(word => lower.indexOf(word)).filter(at => at >= 0))
  const begin =
    Number.isFinite(first) && first > EXCERPT_LENGTH / 2 ? text.indexOf(" ", first - EXCERPT_LENGTH / 2) + 1 : 0
  const cut = text.slice(begin, begin + EXCERPT_LENGTH)
  const paragraph = element("span", "excerpt", begin > 0 ? "… " : "")
  const pattern = new RegExp(`(${words.map(word => word.replaceAll(/[.]/g, "\\.")).join("|")})`, "giu")
  for (const [index, part] of cut.split(pattern).entries())
    paragraph.append(index % 2 === 1 ? element("mark", "", part) : part)
  if (begin + EXCERPT_LENGTH < text.length) paragraph.append(" …")
  return paragraph
}

/** @param {number} count @param {string} query */
function countText(count, query) {
  if (count === 0) return `No results for “${query}”`
  return `${count} ${count === 1 ? "result" : "results"} for “${query}”`
}

/** @template {keyof HTMLElementTagNameMap} N @param {N} name @param {string} className @param {string} text */
function element(name, className, text) {
  const made = document.createElement(name)
  if (className !== "") made.className = className
  made.textContent = text
  return made
}

export { find }
