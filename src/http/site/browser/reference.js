// Adds accessible names to the copy buttons of the API reference, for screen readers.
const addNames = () => {
  for (const button of document.querySelectorAll(".scalar-code-copy:not([aria-label])"))
    button.setAttribute("aria-label", "Copy")
}
new MutationObserver(addNames).observe(document, { childList: true, subtree: true })
addNames()
