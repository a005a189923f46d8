// Notices on the overview when the next step of a new account is done, such as its first request. Without this script the page
// shows it when it is loaded again.

const INTERVAL_MS = 5000
/** For so long the page asks: a quarter of an hour. */
const ASKS_MAX = 180

/** What the page shows anew. */
const PARTS = ["#start", "#figures"]
const NEWS = /** @type {const} */ ({ call: "You have a key.", form: "Your first request arrived." })

/** @param {Document} page */
const stepOf = page => page.querySelector("#start")?.getAttribute("data-step") ?? null

/**
 * Puts the fresh part in place of the old one. If the focus was there, the heading gets it, or the next one when nothing is left.
 * @param {Element | null} old
 * @param {Element | null} fresh
 */
function replace(old, fresh) {
  if (old === null) return
  const hadFocus = old.contains(document.activeElement)
  const following = old.nextElementSibling
  if (fresh === null) old.remove()
  else {
    old.replaceWith(fresh)
    fresh.dispatchEvent(new Event("added", { bubbles: true }))
  }
  const heading = (fresh ?? following)?.querySelector("h2")
  if (!hadFocus || !heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

/** Shows what has changed. True: there is nothing to wait for. */
async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } })
  if (!answer.ok || answer.redirected) return true
  const page = new DOMParser().parseFromString(await answer.text(), "text/html")
  const step = stepOf(page)
  if (step === stepOf(document)) return false
  for (const part of PARTS) replace(document.querySelector(part), page.querySelector(part))
  const news = document.querySelector("#start-news")
  if (news !== null) news.textContent = step === "call" || step === "form" ? NEWS[step] : "You have done all steps."
  return step === null
}

let asks = 0
const timer = setInterval(async () => {
  if (document.hidden) return
  if (++asks > ASKS_MAX) return clearInterval(timer)
  try {
    if (await refresh()) clearInterval(timer)
  } catch {
    // The server was not reached: the next turn asks again.
  }
}, INTERVAL_MS)
