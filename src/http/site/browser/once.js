// Sends each form once. A second press of the button would replace the response of the first request by another one.
for (const form of document.forms) {
  let isSent = false
  form.addEventListener("submit", event => {
    if (isSent) event.preventDefault()
    isSent = true
  })
  // The browser may restore the page when the user goes back; then the form can be sent again.
  addEventListener("pageshow", () => {
    isSent = false
  })
}
