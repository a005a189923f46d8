// Gives each element of class `copied` a button that copies its text. Without this script the text can be selected.
for (const text of document.querySelectorAll(".copied")) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "small"
  button.textContent = "Copy"
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent?.trim() ?? "")
      button.textContent = "Copied"
    } catch (refused) {
      // A page that is not on HTTPS or loopback may not write there: the text is selected for the keyboard.
      getSelection()?.selectAllChildren(text)
      button.textContent = refused instanceof Error ? "Press Ctrl+C" : "Copy"
    }
  })
  text.after(button)
}
