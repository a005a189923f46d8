// Corrects the API reference for screen readers: its copy buttons get names, and its bar on phones is no header of the page.
const correct = () => {
  for (const bar of document.querySelectorAll("header:not(.top):not([role])")) bar.setAttribute("role", "group")
  for (const button of document.querySelectorAll(".scalar-code-copy:not([aria-label])"))
    button.setAttribute("aria-label", "Copy")
}
new MutationObserver(correct).observe(document, { childList: true, subtree: true })
correct()
