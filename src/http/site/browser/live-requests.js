/*
 * Adds a switch to the request log that keeps it live: the list is read again every two seconds. Without this script the page
 * has a link that reloads it.
 */
const EVERY_MS = 2000
const PARAMETER = "live"

const tools = document.querySelector("#live")
const list = document.querySelector("#requests")
const status = document.querySelector("#live-status")

/** @param {Element | null | undefined} root */
const idsIn = root => [...(root?.querySelectorAll("[data-request]") ?? [])].map(row => row.getAttribute("data-request"))

/** @param {Element} region @param {Element} said @param {HTMLButtonElement} button */
function keepLive(region, said, button) {
  let isLive = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer

  /** @param {string} words */
  const say = words => {
    if (said.textContent !== words) said.textContent = words
  }

  const readAgain = async () => {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } })
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("#requests")
    // The answer of a click that came meanwhile is not replaced.
    if (!isLive) return
    if (fresh === null) {
      turn(false)
      return say("This list cannot be updated any more. Please reload the page.")
    }
    const known = new Set(idsIn(region))
    const added = idsIn(fresh).filter(id => !known.has(id)).length
    if (added > 0) replace(fresh)
    say(added > 0 ? `${added} new ${added === 1 ? "request" : "requests"}.` : "Live. Updated every 2 seconds.")
  }

  /** @param {Element} fresh */
  const replace = fresh => {
    const focused = region.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null
    region.replaceChildren(...fresh.childNodes)
    for (const link of region.querySelectorAll("a")) if (link.getAttribute("href") === focused) link.focus()
  }

  const tick = async () => {
    if (!document.hidden)
      await readAgain().catch(error => say(error instanceof Error ? "No connection. Trying again." : ""))
    if (isLive) timer = setTimeout(tick, EVERY_MS)
  }

  /** @param {boolean} on */
  const turn = on => {
    isLive = on
    clearTimeout(timer)
    button.setAttribute("aria-pressed", String(on))
    say(on ? "Live. Updated every 2 seconds." : "")
    const url = new URL(location.href)
    if (on) url.searchParams.set(PARAMETER, "1")
    else url.searchParams.delete(PARAMETER)
    history.replaceState(null, "", url)
    if (on) void tick()
  }

  button.addEventListener("click", () => turn(!isLive))
  if (new URL(location.href).searchParams.get(PARAMETER) === "1") turn(true)
}

// An older page never changes, so only the first one can be live.
if (tools instanceof HTMLElement && list !== null && status !== null && tools.dataset["firstPage"] === "yes") {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "small"
  button.textContent = "Live"
  button.setAttribute("aria-pressed", "false")
  tools.prepend(button)
  keepLive(list, status, button)
}
