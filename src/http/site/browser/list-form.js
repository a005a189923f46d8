/*
 * Takes a file that is chosen, dropped or pasted, shows at once how the server reads it, and sends it. The server alone decides how a file
 * is read, and its pages are what is put in here. Without this script the form works as it is.
 */
const PAYLOAD_TOO_LARGE = 413
const TOO_LARGE = "The file is larger than the largest list that this server takes."
const PASTED_NAME = "Pasted addresses.txt"

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
  const size = `${(bytes / 1_048_576).toFixed(1)} MB`
  return `A proxy in front of the server refused the file as too large (${status}). It has ${size}. Compress it with gzip, split it, or ask who runs the server to raise that limit.`
}

/** Whether somebody writes there, so that what is pasted is theirs. @param {EventTarget | null} target */
const isWriting = target =>
  target instanceof HTMLElement && target.matches("textarea, input:not([type=file], [type=radio])")

/** @param {HTMLFormElement} list @param {HTMLInputElement} input */
function prepare(list, input) {
  const zone = input.closest(".drop")
  if (zone !== null) list.prepend(zone)
  // The server reads the file while it arrives, so all else comes before it.
  list.addEventListener("formdata", ({ formData }) => {
    const sent = formData.get("file")
    formData.delete("file")
    if (sent !== null) formData.append("file", sent)
  })
  const bytesMax = Number(list.dataset["bytesMax"])
  const estimatePath = list.querySelector("[formaction]")?.getAttribute("formaction") ?? ""
  /** What depends on the file, before any was sent. */
  const untouched = new Map(["reading", "send"].map(id => [id, part(id).cloneNode(true)]))
  /** @type {XMLHttpRequest | null} */
  let running = null

  /** @param {string} id */
  function part(id) {
    const found = list.querySelector(`#${id}`)
    return found instanceof HTMLElement ? found : element("div", { id })
  }

  /** @param {DataTransfer} transfer */
  const take = ({ files }) => {
    input.files = files
    startAnew()
  }

  /** Breaks off what is being sent. */
  const stop = () => {
    const former = running
    running = null
    former?.abort()
  }

  const startAnew = () => {
    stop()
    part("preview").replaceChildren()
    // What was found belongs to another file.
    const options = list.querySelector(".chosen details")
    if (options instanceof HTMLDetailsElement) options.open = false
    for (const [id, before] of untouched) part(id).replaceWith(before.cloneNode(true))
    if (input.files?.length === 0) part("preview").hidden = true
    else preview()
  }

  const preview = () => send(estimatePath)

  input.addEventListener("change", startAnew)
  for (const kind of /** @type {const} */ (["dragover", "drop"]))
    document.addEventListener(kind, event => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      list.classList.toggle("dropping", kind === "dragover")
      if (kind === "drop" && event.dataTransfer.files.length > 0) take(event.dataTransfer)
    })
  document.addEventListener("dragleave", () => list.classList.remove("dropping"))
  document.addEventListener("paste", ({ target, clipboardData }) => {
    if (isWriting(target) || clipboardData === null) return
    if (clipboardData.files.length > 0) return take(clipboardData)
    const pasted = clipboardData.getData("text/plain").trim()
    // Addresses in one line are one each, as in the field of a mail.
    const text = pasted.includes("\n") ? pasted : pasted.replaceAll(/[,;]\s*/g, "\n")
    const transfer = new DataTransfer()
    transfer.items.add(new File([`${text}\n`], PASTED_NAME))
    if (text !== "") take(transfer)
  })

  list.addEventListener("change", ({ target }) => {
    const isOfReading =
      target instanceof Node && [part("reading"), part("preview")].some(place => place.contains(target))
    if (isOfReading && input.files?.length !== 0) preview()
  })

  list.addEventListener("submit", event => {
    event.preventDefault()
    const button = event.submitter
    send(button instanceof HTMLButtonElement ? (button.getAttribute("formaction") ?? list.action) : list.action)
  })

  /** @param {string} path */
  const send = path => {
    if ((input.files?.[0]?.size ?? 0) > bytesMax) return say(TOO_LARGE)
    // A list is sent once. A preview gives way to whatever comes after it.
    if (list.getAttribute("aria-busy") === "true") return
    stop()
    const request = new XMLHttpRequest()
    running = request
    const sent = new FormData(list)
    const bar = element("progress", { "aria-label": "Sent", max: "1", value: "0" })
    const said = element("p", { class: "hint", role: "status" }, "Uploading…")
    showSending(said, bar)
    if (path !== estimatePath) list.setAttribute("aria-busy", "true")
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total === 0 ? 0 : loaded / total
      if (loaded === total) said.textContent = "Reading the rows…"
    })
    request.addEventListener("loadend", () => {
      if (running !== request) return
      running = null
      list.removeAttribute("aria-busy")
      if (request.status === 0)
        return say("The upload was interrupted. Check your connection and the size of the file, and try again.")
      if (new URL(request.responseURL).pathname !== new URL(path, location.href).pathname && request.status === 200)
        return location.assign(request.responseURL)
      show(new DOMParser().parseFromString(request.responseText, "text/html"), request.status)
    })
    request.open("POST", path)
    request.send(sent)
  }

  /** Shows what the server says: how the list is read, or what is wrong with it. @param {Document} page @param {number} status */
  const show = (page, status) => {
    const focused = document.activeElement?.getAttribute("name")
    for (const id of ["reading", "send"]) {
      const fresh = page.getElementById(id)
      if (fresh !== null) part(id).replaceWith(document.adoptNode(fresh))
    }
    replaceFaultyFields(page)
    const seen = page.querySelector("#preview:not([hidden])")
    if (seen === null) return showFault(page, status)
    part("preview").replaceWith(document.adoptNode(seen))
    const again = list.querySelector(`[name="${focused}"]:checked, select[name="${focused}"]`)
    if (again instanceof HTMLElement) again.focus()
  }

  /** @param {Document} page @param {number} status */
  const showFault = (page, status) => {
    part("preview").hidden = true
    const faulty = list.querySelector(".chosen [aria-invalid], .chosen fieldset:has(.fault) input")
    if (faulty instanceof HTMLElement) {
      const folded = faulty.closest("details")
      if (folded !== null) folded.open = true
      return faulty.focus()
    }
    // An error page has no form, and says in its first sentence what is wrong.
    const fault = page.querySelector(".page .fault") ?? page.querySelector(".page .lead")
    say(fault?.textContent?.trim() ?? refusalWords(status, input.files?.[0]?.size ?? 0))
  }

  /** Puts in the fields of which something is wrong now, or was before. @param {Document} page */
  const replaceFaultyFields = page => {
    for (const field of list.querySelectorAll(".chosen :is(.field, fieldset)")) {
      const name = field.querySelector("[name]")?.getAttribute("name")
      const fresh = page.querySelector(`.chosen :is(.field, fieldset):has([name="${name}"])`)
      if (fresh !== null && (field.querySelector(".fault") ?? fresh.querySelector(".fault")) !== null)
        field.replaceWith(document.adoptNode(fresh))
    }
  }

  /** Puts words and a bar above the first rows, in which whatever has the focus keeps it. @param {Node[]} sending */
  const showSending = (...sending) => {
    const rows = part("preview").querySelector(".first-rows")
    if (rows === null) return replacePreview(...sending)
    for (const other of [...part("preview").children]) if (other !== rows) other.remove()
    rows.before(...sending)
  }

  /** @param {string} words */
  const say = words => replacePreview(element("p", { class: "fault", role: "alert" }, words))

  /** @param {Node[]} children */
  const replacePreview = (...children) => part("preview").replaceWith(element("div", { id: "preview" }, ...children))
}
