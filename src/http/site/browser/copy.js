// Adds a copy button to each element of class `copied`. Without this script the text can be selected.
for (const text of document.querySelectorAll(".copied")) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "small"
  button.textContent = "Copy"
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent?.trim() ?? "")
      button.textContent = "Copied"
    } catch (error) {
      // Only pages over HTTPS or on loopback addresses may write to the clipboard. On others the text is selected.
      getSelection()?.selectAllChildren(text)
      button.textContent = error instanceof Error ? "Press Ctrl+C" : "Copy"
    }
  })
  text.after(button)
}
