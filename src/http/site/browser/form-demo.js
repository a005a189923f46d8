// The live form of the guide: fills in examples, and shows what the form script tells the page and the server.
const form = document.querySelector("#form-demo")
const output = document.querySelector("#form-demo-output")

const TEST_DOMAIN = form instanceof HTMLFormElement ? form.dataset["testDomain"] : undefined

// The demo has no key. The API answers test addresses without one; any other address is a free check of this server, as on the home page.
const REFUSED = "\n\nNo free check is left here for now. The addresses above always work, and so does your own key."
const send = globalThis.fetch
globalThis.fetch = async (input, init) => {
  const isCheck = String(input).endsWith("/v1/check") && typeof init?.body === "string"
  const { email = "", policy = "" } = isCheck ? JSON.parse(String(init.body)) : {}
  if (!isCheck || email.endsWith(`@${TEST_DOMAIN}`)) return await send(input, init)
  const body = new URLSearchParams({ input: email, policy })
  return await send("/", { method: "POST", headers: { Accept: "application/json" }, body, signal: init.signal ?? null })
}

/** @param {string} text */
const write = text => {
  if (output === null) return
  output.textContent = text
  output.classList.remove("hint")
}

if (form instanceof HTMLFormElement) {
  const field = form.querySelector("input")
  form.hidden = false
  output?.removeAttribute("hidden")
  for (const button of form.querySelectorAll("button[value]"))
    button.addEventListener("click", () => {
      if (field === null || !(button instanceof HTMLButtonElement)) return
      field.value = button.value
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }))
    })
  form.addEventListener("mailkind:result", event => {
    if (!(event instanceof CustomEvent)) return
    const { email, suggestion, result } = event.detail
    const { recommendation, category } = result
    write(`mailkind:result ${JSON.stringify({ email, suggestion, result: { recommendation, category } }, null, 2)}`)
  })
  form.addEventListener("mailkind:unchecked", event => {
    if (!(event instanceof CustomEvent)) return
    const isRefused = event.detail.because === "refused"
    write(`mailkind:unchecked ${JSON.stringify(event.detail, null, 2)}${isRefused ? REFUSED : ""}`)
  })
  form.addEventListener("submit", event => {
    event.preventDefault()
    const entries = [...new FormData(form)].map(([name, value]) => `${name}=${value}`)
    write(`Your server gets:\n${entries.join("\n")}`)
  })
}
