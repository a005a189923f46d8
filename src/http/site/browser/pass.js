// Lets altcha's widget solve the challenge of a pass, then sends the form with the solution. Runs after the widget's script.
const form = document.querySelector("form.pass")
const widget = form?.querySelector("altcha-widget")
const solution = form?.querySelector("input[name=solution]")
const fault = form?.querySelector("[role=alert]")

// Browsers have what the widget needs only over HTTPS and on loopback addresses.
const isSolvable = globalThis.crypto?.subtle !== undefined
const insecure = form?.querySelector(".insecure")
if (!isSolvable && insecure instanceof HTMLElement) {
  insecure.hidden = false
  widget?.remove()
}

if (
  isSolvable &&
  form instanceof HTMLFormElement &&
  solution instanceof HTMLInputElement &&
  fault instanceof HTMLElement
) {
  const { algorithm = "", worker = "" } = form.dataset
  Reflect.get(globalThis, "$altcha").algorithms.set(algorithm, () => new Worker(worker))
  widget?.addEventListener("verified", event => {
    solution.value = event instanceof CustomEvent ? event.detail.payload : ""
    form.requestSubmit()
  })
  widget?.addEventListener("statechange", event => {
    fault.hidden = !(event instanceof CustomEvent && event.detail.state === "error")
  })
  if (widget && !("verify" in widget && typeof widget.verify === "function"))
    await new Promise(resolve => widget.addEventListener("load", resolve, { once: true }))
  if (widget && "verify" in widget && typeof widget.verify === "function") widget.verify()
}

export {}
