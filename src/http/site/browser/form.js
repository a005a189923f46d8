// Hints beside the email fields of any website: <script src="…/form.js" data-key="svc_pub_…" defer></script>
// It never stops a form and stores nothing. The page /docs/form-script of this server documents it.

/** @typedef {HTMLElement & { value: string, form?: HTMLFormElement | null, readOnly?: boolean }} Field */
/** @typedef {{ recommendation: string, category?: unknown, did_you_mean?: unknown }} Answer */
/** @typedef {{ email: string, result: Answer, suggestion: string | null }} Detail */
/** @typedef {{ because: string, status?: number }} Failure */
/** @typedef {{ field: Field, box: HTMLElement, hidden: HTMLInputElement, stop: AbortController, typedAt: number, asked?: { email: string }, timer?: ReturnType<typeof setTimeout> }} Entry */

// In a document and in a form, elements with a name hide members of that name, such as `<img name="currentScript">` (DOM
// clobbering). So each member of a root is looked up where the browser defines it.
/** @param {Node} root @param {string} name @returns {any} */
const memberOf = (root, name) => Reflect.get(Object.getPrototypeOf(root), name, root)
/** @param {Node} root @param {string} name @param {unknown[]} given */
const call = (root, name, ...given) => memberOf(root, name).apply(root, given)
/** @type {<K extends keyof HTMLElementTagNameMap>(name: K) => HTMLElementTagNameMap[K]} */
const newElement = name => call(document, "createElement", name)

const script = memberOf(document, "currentScript") ?? call(document, "querySelector", "script[data-key][src*='/form']")
const tag = script instanceof HTMLScriptElement ? script.dataset : {}
/** What the page has set before this script ran, or what the first copy of this script has set. No element is it. */
const early = Object.hasOwn(window, "mailkind") ? Reflect.get(window, "mailkind") : undefined
const said = new Set()
/** @param {"warn" | "error"} level @param {string} words */
const say = (level, words) => {
  if (!said.has(words)) console[level](`mailkind: ${words}`)
  said.add(words)
}
const PREFIX = "svc_pub_"
/** In place of a key on pages of the server itself, for test addresses. */
const TEST = "test"
const UNCHECKED = "unchecked"
const ANSWERS_MAX = 50
const REST_MS_MAX = 3_600_000
/** How long no key was pressed before the script asks. */
const PAUSE_MS = 250
const RECOMMENDATIONS = ["allow", "review", "block"]
/** What an address counts as that the server refuses to read. */
const NO_ADDRESS = { category: "invalid", recommendation: "block", reasons: ["invalid_syntax"], did_you_mean: null }
/** By category where the category has words, else by recommendation. */
const WORDS = {
  suggestion: "Did you mean {email}?",
  review: "Please check this address.",
  block: "Please use another address.",
  personal: "Please use your work email.",
  relay: "Please use your work email.",
  disposable: "Please use an address that you will keep.",
  invalid: "This address cannot receive email. Please check it.",
}
const options = {
  key: "",
  server:
    script instanceof HTMLScriptElement ? script.src.replace(/\/form(\.js|\/\w+\.js)([?#].*)?$/, "") : location.origin,
  policy: "",
  timeout: 3000,
  name: "mailkind",
  fields: "input[type=email], input[autocomplete~=email i], [data-mailkind]",
  /** @type {Record<string, unknown>} */
  words: {},
}

/** @param {Record<string, unknown>} [changes] */
const configure = (changes = {}) => {
  for (const name of ["key", "server", "policy", "name", "fields"])
    if (typeof changes[name] === "string") Reflect.set(options, name, changes[name].trim())
  const timeout = Number(changes["timeout"])
  if (timeout > 0) options.timeout = timeout
  Object.assign(options.words, changes["words"])
  options.server = options.server.replace(/\/+$/, "")
  restsUntil = 0
  try {
    newElement("input").matches(options.fields)
  } catch {
    say("error", `This is no CSS selector: ${options.fields}`)
    options.fields = "[data-mailkind]"
  }
  const fault = keyFault() || pageFault()
  if (fault !== "") say("error", `${fault} No address is checked.`)
}

/** Why no answer can come to this page; "": one can. */
const pageFault = () => {
  if (self.origin === "null")
    return "A file or a sandboxed frame has no origin, which a key needs. Open the page from a web server."
  if (location.protocol === "https:" && options.server.startsWith("http:"))
    return "This page is on https: and the server is not, so browsers do not ask it. Load form.js over https:."
  return ""
}

const keyFault = () => {
  const { key } = options
  if (key === "") return "The script has no key. Create a publishable key in the dashboard, and put it into data-key."
  if (key.startsWith("svc_live_"))
    return "data-key holds a secret key, which everybody can read here. Revoke it in the dashboard now, and use a publishable key."
  if (!key.startsWith(PREFIX) && key !== TEST) return `data-key is no publishable key. Those begin with ${PREFIX}.`
  return ""
}

/** @param {Field} field @param {string} name @param {object} detail */
const emit = (field, name, detail) =>
  field.dispatchEvent(new CustomEvent(`mailkind:${name}`, { detail, bubbles: true, cancelable: true, composed: true }))

/** @param {any} value @returns {value is Field} */
const isField = value => typeof value?.dataset === "object" && typeof value.value === "string"

/** @param {Field} field */
const hasFocus = field => memberOf(field.getRootNode(), "activeElement") === field

/** @type {WeakMap<Field, Entry>} */
const entries = new WeakMap()
/** @type {Set<Entry>} */
const placed = new Set()
/** What was asked, and is being asked. @type {Map<string, Promise<Answer | Failure>>} */
const answers = new Map()

let restsUntil = 0
let boxes = 0

// What is shown moves what stands below. While a pointer is down that would take its click from a button, such as the form's own.
let isPressed = false
/** @type {Set<() => void>} */
const waiting = new Set()
const release = () =>
  setTimeout(() => {
    isPressed = false
    for (const show of waiting) show()
    waiting.clear()
  })
/** @param {() => void} show */
const showLater = show => setTimeout(() => (isPressed ? waiting.add(show) : show()))

// Rules without specificity, so that every rule of the page wins. A strict policy allows such a sheet.
const RULES =
  ":where(.mailkind){margin:.25em 0}:where(.mailkind:empty){position:absolute}:where(.mailkind button){font:inherit;min-height:24px}"
/** @type {CSSStyleSheet | undefined} */
let sheet
/** @param {Node} root */
const style = root => {
  try {
    if (sheet === undefined) {
      sheet = new CSSStyleSheet()
      sheet.replaceSync(RULES)
    }
    const sheets = memberOf(root, "adoptedStyleSheets")
    if (!sheets.includes(sheet)) sheets.push(sheet)
  } catch {
    // An old browser, or a field of another document: the page's own look.
    sheet = undefined
  }
}

// Takes our elements away with their field, in pages that change by script. It looks at the fields in use alone.
const observer = new MutationObserver(() => {
  for (const entry of placed) if (!entry.field.isConnected) retire(entry)
})

/** Puts the live region and the hidden field beside the field, unless they are there. @param {Entry} entry */
const place = entry => {
  const { field } = entry
  const root = field.getRootNode()
  const anchor = field.closest("label") ?? field
  placeHidden(entry, anchor)
  if (!entry.box.isConnected) {
    entry.box = boxOfPage(field, root) ?? entry.box
    if (!entry.box.isConnected) anchor.after(entry.box)
    if (!entry.box.hasAttribute("aria-live")) entry.box.setAttribute("role", "status")
    entry.box.id ||= `mailkind-${++boxes}`
  }
  placed.add(entry)
  // A field also goes with the host of its shadow root, or with that of a root around it.
  for (let each = root; ; each = each.host.getRootNode()) {
    observer.observe(each, { childList: true, subtree: true })
    if (!(each instanceof ShadowRoot)) break
  }
  // The event does not leave a shadow root.
  call(root, "addEventListener", "reset", onReset)
  style(root)
}

/** @param {Entry} entry @param {Element} anchor */
const placeHidden = ({ field, hidden }, anchor) => {
  const name = field.dataset["mailkindName"] ?? options.name
  if (hidden.isConnected || name === "") return
  hidden.name = name
  const form = field.getAttribute("form")
  if (form !== null) hidden.setAttribute("form", form)
  anchor.after(hidden)
}

/** Where the page wants the words; null: beside the field. @param {Field} field @param {Node} root @returns {HTMLElement | null} */
const boxOfPage = (field, root) => {
  const id = field.dataset["mailkindMessage"]
  return id !== undefined && "querySelector" in root ? call(root, "querySelector", `#${CSS.escape(id)}`) : null
}

/** @param {Entry} entry */
const retire = entry => {
  reset(entry)
  entry.hidden.remove()
  if (entry.box.classList.contains("mailkind")) entry.box.remove()
  placed.delete(entry)
}

/** Shows nothing, and nothing of what is being asked. @param {Entry} entry */
const reset = entry => {
  clearTimeout(entry.timer)
  delete entry.asked
  entry.hidden.value = UNCHECKED
  draw(entry, "")
}

/** @param {Event} event */
const onReset = ({ target }) => {
  for (const entry of placed) if (entry.field.form === target) reset(entry)
}

/** @param {Entry} entry @param {string | Element} content @param {string} [state] */
const draw = ({ field, box }, content, state) => {
  const others = (field.getAttribute("aria-describedby") ?? "").split(/\s+/).filter(id => id !== "" && id !== box.id)
  const ids = content === "" ? others : [...others, box.id]
  if (ids.length > 0) field.setAttribute("aria-describedby", ids.join(" "))
  else field.removeAttribute("aria-describedby")
  if (content !== "" || box.hasChildNodes()) box.replaceChildren(...(content === "" ? [] : [content]))
  if (state === undefined) delete box.dataset["state"]
  else box.dataset["state"] = state
}

/** The page's words, or ours; "" where the page wants none. @param {Field} field @param {string[]} names @param {Detail} detail */
const wordsFor = (field, names, detail) => {
  const sources = [
    names.map(name => field.dataset[`mailkind${name.charAt(0).toUpperCase()}${name.slice(1)}`]),
    names.map(name => options.words[name]),
    names.map(name => Reflect.get(WORDS, name)),
  ]
  const words = sources.flat().find(found => found !== undefined && found !== null)
  const text = typeof words === "function" ? words(detail) : words
  return String(text ?? "")
    .split("{email}")
    .join(detail.suggestion ?? detail.email)
}

/** Shows the suggestion, or the words for what was meant. @param {Entry} entry @param {Detail} detail @param {Answer | Failure} meant */
const show = (entry, detail, meant) => {
  const { field } = entry
  const { result, suggestion } = detail
  entry.hidden.value = result.recommendation
  if (!emit(field, "result", detail)) return
  const { category, recommendation } = result.recommendation === "allow" || "because" in meant ? result : meant
  const own = typeof category === "string" && Object.hasOwn(WORDS, category) ? [category] : []
  const names = suggestion !== null ? ["suggestion"] : recommendation === "allow" ? [] : [...own, recommendation]
  const text = names.length === 0 ? "" : wordsFor(field, names, detail)
  if (text === "") return
  showLater(() => {
    if (entry.asked?.email !== detail.email) return
    place(entry)
    draw(entry, suggestion === null ? text : suggestionButton(entry, text, detail.email, suggestion), names.at(-1))
  })
}

/** @param {Entry} entry @param {string} text @param {string} from @param {string} to */
const suggestionButton = (entry, text, from, to) => {
  const { field } = entry
  const button = newElement("button")
  button.type = "button"
  button.textContent = text
  button.addEventListener("click", () => {
    if (!emit(field, "accept", { from, to })) return
    // The button goes away, so its focus goes to the field.
    if (button.matches(":focus")) field.focus()
    const setter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set
    // Frameworks that watch the field's own property see the change by its events.
    if (setter === undefined) field.value = to
    else setter.call(field, to)
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true, composed: true }))
    // No key follows.
    ask(entry)
  })
  return button
}

/** The address in the field, out of a link to it or the brackets around it. @param {Field} field */
const addressIn = ({ value }) => {
  const address = value.trim().replace(/^[^<>]*<([^<>]*)>$/, "$1")
  return address.replace(/^mailto:([^?]*).*/i, "$1")
}

/** Asks when no key was pressed for a while. @param {Entry} entry */
const askSoon = entry => {
  clearTimeout(entry.timer)
  entry.timer = setTimeout(ask, entry.typedAt + PAUSE_MS - performance.now(), entry)
}

/** Asks about the address in the field, once. @param {Entry} entry */
const ask = async entry => {
  const { field } = entry
  const email = addressIn(field)
  if (email === entry.asked?.email) return
  reset(entry)
  if (!isAskable(field, email) || !emit(field, "check", { email })) return
  const asked = { email }
  entry.asked = asked
  place(entry)
  const policy = field.dataset["mailkindPolicy"] ?? options.policy
  const result = await answerAbout(email, policy)
  const suggestion = "because" in result ? null : suggestionFor(email, result.did_you_mean)
  // What the form would object to is not suggested. Its words are those for what was meant.
  const meant = suggestion === null ? result : await answerAbout(suggestion, policy)
  const isRefused = "recommendation" in meant && meant.recommendation !== "allow"
  if (entry.asked !== asked) return
  if (addressIn(field) !== email) reset(entry)
  else if ("because" in result) {
    // The field asks again when it is left again.
    delete entry.asked
    emit(field, UNCHECKED, { email, because: result.because, status: result.status ?? null })
  } else show(entry, { email, result, suggestion: isRefused ? null : suggestion }, meant)
}

/** @param {Field} field @param {string} email */
const isAskable = (field, email) =>
  keyFault() === "" &&
  /@[^@\s]+$/.test(email.slice(1)) &&
  !(field.matches("[multiple]") && email.includes(",")) &&
  field.dataset["mailkind"] !== "off" &&
  field.readOnly !== true &&
  !field.matches(":disabled")

/** @param {string} email @param {unknown} domain */
const suggestionFor = (email, domain) =>
  typeof domain === "string" && /^[^\s@]+$/.test(domain) ? email.slice(0, email.lastIndexOf("@") + 1) + domain : null

/** The server's answer, for which it is asked once, or why there is none. @param {string} email @param {string} policy */
const answerAbout = (email, policy) => {
  const subject = `${policy} ${email}`
  const known = answers.get(subject)
  if (known !== undefined) return known
  const asked = askServer(email, policy).then(got => {
    if ("because" in got) answers.delete(subject)
    return got
  })
  for (const oldest of answers.keys()) if (answers.size >= ANSWERS_MAX) answers.delete(oldest)
  answers.set(subject, asked)
  return asked
}

/** @param {string} email @param {string} policy @returns {Promise<Answer | Failure>} */
const askServer = async (email, policy) => {
  if (Date.now() < restsUntil) return { because: "paused" }
  const request = new AbortController()
  const timer = setTimeout(() => request.abort(), options.timeout)
  try {
    return await fetchAnswer(email, policy, request.signal)
  } catch (error) {
    if (request.signal.aborted) return { because: "timeout" }
    if (error instanceof SyntaxError) return { because: "malformed" }
    say(
      "warn",
      `${options.server} did not answer. Is the key right? Is ${self.origin} one of its websites? Does the page's Content-Security-Policy have the server in connect-src?`,
    )
    return { because: "unreachable" }
  } finally {
    clearTimeout(timer)
  }
}

/** @param {string} email @param {string} policy @param {AbortSignal} signal @returns {Promise<Answer | Failure>} */
const fetchAnswer = async (email, policy, signal) => {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" }
  if (options.key !== TEST) headers["Authorization"] = `Bearer ${options.key}`
  const response = await fetch(`${options.server}/v1/check`, {
    method: "POST",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    headers,
    body: JSON.stringify({ email, policy: policy === "" ? undefined : policy }),
    signal,
  })
  const { status } = response
  if (!response.ok) {
    restsUntil = Date.now() + restMs(status, response.headers.get("Retry-After"))
    const problem = status === 413 || status === 400 ? await response.json().catch(() => null) : null
    if (status === 413 && !problem) say("warn", "A proxy in front of the server refused the body as too large (413).")
    return status === 413 || isAboutEmail(problem) ? NO_ADDRESS : { because: "refused", status }
  }
  const body = await response.json()
  return RECOMMENDATIONS.includes(body?.recommendation) ? body : { because: "malformed", status }
}

/** @param {any} problem */
const isAboutEmail = problem =>
  Array.isArray(problem?.errors) && problem.errors.some((/** @type {any} */ fault) => fault?.pointer === "/email")

/** How long no request makes sense after a refusal. @param {number} status @param {string | null} retryAfter */
const restMs = (status, retryAfter) => {
  if (options.key === TEST || (status !== 401 && status !== 403))
    return Math.min((Number(retryAfter) || 0) * 1000, REST_MS_MAX)
  say("error", `The server refuses the key (${status}). Look at the key in the dashboard. No address is checked.`)
  return Number.POSITIVE_INFINITY
}

/** @param {Field} field @returns {() => void} */
const watch = field => {
  const known = entries.get(field)
  if (known !== undefined) return () => unwatch(known)
  const stop = new AbortController()
  const { signal } = stop
  /** @type {Entry} */
  const entry = { field, box: newElement("div"), hidden: newElement("input"), stop, typedAt: -PAUSE_MS }
  entries.set(field, entry)
  entry.box.className = "mailkind"
  entry.hidden.type = "hidden"
  entry.hidden.value = UNCHECKED
  // When the window loses the focus, the field keeps it.
  field.addEventListener("blur", () => hasFocus(field) || askSoon(entry), { signal })
  field.addEventListener("change", () => askSoon(entry), { signal })
  const onInput = () => {
    reset(entry)
    entry.typedAt = performance.now()
    // A program fills in the field, such as a password manager.
    if (!hasFocus(field)) askSoon(entry)
  }
  field.addEventListener("input", onInput, { signal })
  place(entry)
  return () => unwatch(entry)
}

/** @param {Entry} entry */
const unwatch = entry => {
  entry.stop.abort()
  entries.delete(entry.field)
  retire(entry)
}

/** Attaches a field, or all fields in an element or a shadow root. The function that it gives detaches them. @param {Field | ParentNode} target */
const attach = target => {
  const isRoot = "querySelectorAll" in Object(target)
  const found = isField(target) ? [target] : isRoot ? [...call(target, "querySelectorAll", options.fields)] : []
  const stops = found.filter(isField).map(watch)
  if (stops.length === 0) say("warn", "attach() found no email field.")
  return () => {
    for (const stop of stops) stop()
  }
}

/** Watches the first of these nodes that is an email field. @param {unknown[]} nodes */
const notice = nodes => {
  if (keyFault() !== "") return
  const field = nodes.filter(isField).find(node => node.matches(options.fields))
  if (field !== undefined && field.dataset["mailkind"] !== "off") watch(field)
}

const start = () => {
  configure({ ...tag, ...early, words: { ...tag, ...early?.words } })
  if (!isSecureContext) say("warn", "This page is not on https:. Others in its network can read what people type.")
  // These listeners hear of an event before its field does. They also see fields in open shadow roots and fields that are added later.
  for (const type of ["focusin", "input", "change"])
    call(document, "addEventListener", type, (/** @type {Event} */ event) => notice(event.composedPath()), true)
  const press = () => {
    isPressed = true
  }
  addEventListener("pointerdown", press, true)
  for (const type of ["pointerup", "pointercancel"]) addEventListener(type, release, true)
  let active = memberOf(document, "activeElement")
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
  notice([active])
  Reflect.set(window, "mailkind", { attach, configure })
  call(document, "dispatchEvent", new Event("mailkind:ready"))
}

if (typeof early?.attach === "function") say("warn", "form.js is twice on this page. The second one does nothing.")
else start()
