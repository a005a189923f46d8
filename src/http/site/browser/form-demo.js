// The live form of the guide: fills in examples, and shows what the form script tells the page and the server.
const form = document.querySelector("#form-demo")
const output = document.querySelector("#form-demo-output")

/** @param {string} text */
const write = text => {
  if (output !== null) output.textContent = text
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
    if (event instanceof CustomEvent) write(`mailkind:unchecked ${JSON.stringify(event.detail, null, 2)}`)
  })
  form.addEventListener("submit", event => {
    event.preventDefault()
    const entries = [...new FormData(form)].map(([name, value]) => `${name}=${value}`)
    write(`Your server gets:\n${entries.join("\n")}`)
  })
}
