/*
 * Sends a list and shows how far it is sent, and what the server says of it, in the page: its preview, or what is wrong with it. The
 * server alone decides how a file is read. Without this script the form works as it is.
 */
const PAYLOAD_TOO_LARGE = 413
const TOO_LARGE = "The file is larger than the largest list that this server takes."
const CHANGED = "You have changed how the file is read. Preview it again to see what comes of that."

const form = document.querySelector("#list-form")
const file = document.querySelector("#file")
if (form instanceof HTMLFormElement && file instanceof HTMLInputElement) prepare(form, file)

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** What a server or a proxy says that sends no page of ours. @param {number} status @param {number} bytes */
function refusalWords(status, bytes) {
  if (status !== PAYLOAD_TOO_LARGE) return `The server did not take the list (status ${status}).`
  const size = `${(bytes / 1_048_576).toFixed(1)} MiB`
  return `A proxy in front of the server refused the body as too large (${status}). The file has ${size}. Compress it with gzip, split it, or ask who runs the server to raise that limit.`
}

/**
 * @param {HTMLFormElement} list
 * @param {HTMLInputElement} input
 */
function prepare(list, input) {
  const field = input.closest(".field")
  if (field !== null) list.prepend(field)
  field?.append(element("p", { class: "hint" }, "You can drop a file here."))
  // The server reads the file while it arrives, so all else comes before it.
  list.addEventListener("formdata", ({ formData }) => {
    const sent = formData.get("file")
    formData.delete("file")
    if (sent !== null) formData.append("file", sent)
  })
  const bytesMax = Number(list.dataset["bytesMax"])
  /** The fields that say how a file is read, before any was sent. */
  const untouched = part("reading").cloneNode(true)
  let isOfPreview = false

  /** @param {string} id @param {ParentNode} [within] */
  function part(id, within = list) {
    const found = within.querySelector(`#${id}`)
    return found instanceof HTMLElement ? found : element("div", { id })
  }

  const isTooLarge = () => (input.files?.[0]?.size ?? 0) > bytesMax

  const startAnew = () => {
    // What was found belongs to another file.
    if (isOfPreview) part("reading").replaceWith(untouched.cloneNode(true))
    isOfPreview = false
    part("preview").hidden = true
    if (isTooLarge()) say(TOO_LARGE)
  }

  input.addEventListener("change", startAnew)
  for (const kind of /** @type {const} */ (["dragover", "drop"]))
    list.addEventListener(kind, event => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      list.classList.toggle("dropping", kind === "dragover")
      if (kind !== "drop" || event.dataTransfer.files.length === 0) return
      input.files = event.dataTransfer.files
      startAnew()
    })
  list.addEventListener("dragleave", () => list.classList.remove("dropping"))

  list.addEventListener("change", ({ target }) => {
    const preview = part("preview")
    const isReading = target instanceof Node && part("reading").contains(target)
    if (!isReading || preview.hidden || preview.querySelector(".changed") !== null) return
    preview.append(element("p", { class: "told changed" }, CHANGED))
  })

  list.addEventListener("submit", event => {
    event.preventDefault()
    if (list.getAttribute("aria-busy") === "true") return
    if (isTooLarge()) return say(TOO_LARGE)
    const button = event.submitter
    const path =
      button instanceof HTMLButtonElement && button.hasAttribute("formaction") ? button.formAction : list.action
    send(path)
  })

  /** @param {string} path */
  const send = path => {
    const request = new XMLHttpRequest()
    const bar = element("progress", { "aria-label": "Sent", max: "1", value: "0" })
    const said = element("p", { class: "hint", role: "status" }, "Sending …")
    replacePreview(said, bar)
    list.setAttribute("aria-busy", "true")
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total === 0 ? 0 : loaded / total
      if (loaded === total) said.textContent = "Reading the rows …"
    })
    request.addEventListener("loadend", () => {
      list.removeAttribute("aria-busy")
      if (request.status === 0)
        return say("The upload was interrupted. Check your connection and the size of the file, and try again.")
      if (request.responseURL.split("?")[0] !== path.split("#")[0] && request.status === 200)
        return location.assign(request.responseURL)
      show(new DOMParser().parseFromString(request.responseText, "text/html"), request.status)
    })
    request.open("POST", path)
    request.send(new FormData(list))
  }

  /** Shows what the server says: how the list is read, or what is wrong with it. @param {Document} page @param {number} status */
  const show = (page, status) => {
    const read = page.querySelector("#reading")
    if (read !== null) {
      part("reading").replaceWith(document.adoptNode(read))
      isOfPreview = true
    }
    const preview = page.querySelector("#preview:not([hidden])")
    if (preview !== null) return part("preview").replaceWith(document.adoptNode(preview))
    const faulty = part("reading").querySelector("[aria-invalid]")
    part("preview").hidden = true
    if (faulty instanceof HTMLElement) return faulty.focus()
    // An error page has no form, and says in its first sentence what is wrong.
    const fault = page.querySelector(".page .fault") ?? page.querySelector(".page .lead")
    say(fault?.textContent?.trim() ?? refusalWords(status, input.files?.[0]?.size ?? 0))
  }

  /** @param {string} words */
  const say = words => replacePreview(element("p", { class: "fault", role: "alert" }, words))

  /** @param {Node[]} children */
  const replacePreview = (...children) =>
    part("preview").replaceWith(element("div", { class: "wide-field", id: "preview" }, ...children))
}
