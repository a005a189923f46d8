// The example of an operation follows what the visitor chooses, in place: the server makes the same page for the choice.
const form = document.querySelector("form.try")
let latest = 0
const show = async () => {
  if (!(form instanceof HTMLFormElement)) return
  const turn = ++latest
  const url = new URL(form.action)
  for (const field of form.querySelectorAll("select")) url.searchParams.set(field.name, field.value)
  const response = await fetch(url).catch(() => null)
  const text = response?.ok ? await response.text() : null
  if (turn !== latest) return
  // Without an answer the browser loads the page, and tells why it cannot.
  if (text === null) return location.assign(url)
  const codes = new DOMParser().parseFromString(text, "text/html").querySelectorAll(".beside-text code")
  document
    .querySelectorAll(".beside-text code")
    .forEach((code, index) => void code.replaceChildren(...(codes[index]?.childNodes ?? [])))
  history.replaceState(null, "", url)
}
form?.addEventListener("change", () => void show())
form?.addEventListener("submit", event => {
  event.preventDefault()
  void show()
})
