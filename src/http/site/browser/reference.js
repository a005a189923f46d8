// The viewer of the API reference gives its buttons that copy no name, which a screen reader would need.
const name = () => {
  for (const button of document.querySelectorAll(".scalar-code-copy:not([aria-label])"))
    button.setAttribute("aria-label", "Copy")
}
new MutationObserver(name).observe(document, { childList: true, subtree: true })
name()
