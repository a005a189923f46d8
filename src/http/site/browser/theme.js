// Applies the colours that the visitor chose, before the page is drawn. Without this script the system's choice holds.
;(() => {
  const root = document.documentElement
  /** @returns {string | null} */
  const stored = () => {
    try {
      return localStorage.getItem("theme")
    } catch {
      // Storage is switched off, so the choice lasts for this page only.
      return null
    }
  }
  const choice = stored()
  if (choice === "dark" || choice === "light") root.dataset["theme"] = choice
})()
