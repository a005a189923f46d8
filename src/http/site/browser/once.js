// Sends each form once: who presses its button twice would be answered as if the first time had not been.
for (const form of document.forms) {
  let isSent = false
  form.addEventListener("submit", event => {
    if (isSent) event.preventDefault()
    isSent = true
  })
  // A page that the browser shows again on the way back is as new.
  addEventListener("pageshow", () => {
    isSent = false
  })
}
