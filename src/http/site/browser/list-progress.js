/*
 * Keeps the page of a list live: the server sends what has changed. Where it sends nothing, the page is read again every few seconds.
 * Without this script the page has a link that reloads it.
 */
const EVERY_MS = 3000
/** For so long the page is read again: an hour. */
const READS_MAX = 1200
/** After so many errors the stream is given up. */
const ERRORS_MAX = 3

const region = document.querySelector("#progress")
const news = document.querySelector("#progress-news")

/** @param {ParentNode} root */
const stateIn = root => {
  const state = root.querySelector("[data-state]")
  return state instanceof HTMLElement ? state.dataset : null
}

/** Puts in what has changed, and tells screen readers of another state. @param {HTMLElement} place @param {ParentNode} fresh */
function replace(place, fresh) {
  const before = stateIn(place)?.["state"]
  place.replaceChildren(...fresh.childNodes)
  const now = stateIn(place)
  if (news !== null && now !== null && now["state"] !== before) news.textContent = now["news"] ?? ""
  place.dispatchEvent(new Event("added", { bubbles: true }))
}

/** Reads the page again. False: nothing changes any more. @param {HTMLElement} place */
async function readAgain(place) {
  const response = await fetch(location.pathname, { headers: { Accept: "text/html" } })
  if (response.status >= 500) return true
  const page = new DOMParser().parseFromString(await response.text(), "text/html")
  const fresh = page.querySelector("#progress")
  if (fresh === null) {
    if (news !== null) news.textContent = "This list cannot be updated any more. Please reload the page."
    return false
  }
  replace(place, fresh)
  return stateIn(place)?.["live"] === "yes"
}

/** @param {HTMLElement} place */
function poll(place) {
  let reads = 0
  const timer = setInterval(async () => {
    if (document.hidden) return
    if (++reads > READS_MAX) return clearInterval(timer)
    try {
      if (!(await readAgain(place))) clearInterval(timer)
    } catch {
      // The server was not reached: the next turn asks again.
    }
  }, EVERY_MS)
}

/** @param {HTMLElement} place @param {string} path */
function follow(place, path) {
  const parser = new DOMParser()
  let errors = 0
  /** @type {EventSource | null} */
  let source = null
  const end = () => {
    source?.close()
    document.removeEventListener("visibilitychange", turn)
  }
  const open = () => {
    const stream = new EventSource(path)
    stream.addEventListener("message", ({ data }) => {
      errors = 0
      replace(place, parser.parseFromString(data, "text/html").body)
    })
    stream.addEventListener("end", () => {
      end()
      void readAgain(place).catch(() => undefined)
    })
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED && ++errors < ERRORS_MAX) return
      end()
      poll(place)
    })
    return stream
  }
  // A page that nobody sees takes no place among the streams.
  const turn = () => {
    source?.close()
    source = document.hidden ? null : open()
  }
  document.addEventListener("visibilitychange", turn)
  turn()
}

if (region instanceof HTMLElement && stateIn(region)?.["live"] === "yes") {
  document.documentElement.classList.add("is-live")
  follow(region, region.dataset["stream"] ?? "")
}
