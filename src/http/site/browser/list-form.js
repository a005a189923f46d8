/*
 * Shows the first rows and the columns of a list before anything of it is sent, and what it costs. Without this script the form works as
 * it is.
 */
const READ_BYTES_MAX = 65_536
const ROWS_SHOWN = 5
const COLUMNS_SHOWN = 20
const TEXT_SHOWN = 60
const TOO_LARGE = "The file is larger than the largest list that this server takes."
const DELIMITERS = [",", ";", "\t", "|"]
const FORMATS = /** @type {Record<string, string>} */ ({ csv: "csv", tsv: "csv", ndjson: "ndjson", jsonl: "ndjson" })

/** @typedef {{ readonly names: readonly string[], readonly rows: readonly (readonly string[])[], readonly hasNames: boolean }} Beginning */

const form = document.querySelector("#list-form")
const file = document.querySelector("#file")
const preview = document.querySelector("#preview")
const estimate = document.querySelector("#estimate")
if (
  form instanceof HTMLFormElement &&
  file instanceof HTMLInputElement &&
  preview instanceof HTMLElement &&
  estimate instanceof HTMLElement
)
  prepare(form, file, preview, estimate)

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

/** The first bytes of a file, unpacked if it is compressed. @param {File} chosen */
async function firstBytes(chosen) {
  const bytes = new Uint8Array(await chosen.slice(0, READ_BYTES_MAX).arrayBuffer())
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader()
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = []
  let count = 0
  try {
    for (let next = await reader.read(); !next.done && count < READ_BYTES_MAX; next = await reader.read()) {
      parts.push(next.value)
      count += next.value.length
    }
  } catch {
    // It is cut off where the reading ended.
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** @param {File} chosen */
async function firstText(chosen) {
  const bytes = await firstBytes(chosen)
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff
  return new TextDecoder(isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8").decode(bytes)
}

/** The records of CSV (RFC 4180). @param {string} text @param {string} delimiter @param {number} countMax */
function csvRecords(text, delimiter, countMax) {
  const escaped = `\\u{${delimiter.codePointAt(0)?.toString(16)}}`
  const nextCell = new RegExp(`(?:"((?:[^"]|"")*)"?[^${escaped}\\n]*|([^${escaped}\\n]*))(${escaped}|\\n|$)`, "uy")
  /** @type {string[][]} */
  const records = []
  /** @type {string[]} */
  let cells = []
  while (records.length < countMax && nextCell.lastIndex < text.length) {
    const [, quoted, bare = "", end] = nextCell.exec(text) ?? []
    if (end === undefined) break
    cells.push(quoted === undefined ? bare.replace(/\r$/, "") : quoted.replaceAll('""', '"'))
    if (end === delimiter) continue
    records.push(cells)
    cells = []
  }
  return records
}

/** @param {string} text @param {boolean} hasHeader @returns {Beginning} */
function csvBeginning(text, hasHeader) {
  const [first = ""] = text.split("\n", 1)
  const named = /^"?sep=([^"])"?\r?$/i.exec(first)?.[1]
  const delimiter = named ?? DELIMITERS.find(one => first.includes(one)) ?? ","
  const records = csvRecords(named === undefined ? text : text.slice(first.length + 1), delimiter, ROWS_SHOWN + 1)
  const [names = []] = records
  // One column whose first line is an address or a domain has no header.
  const isHeader = hasHeader && !(names.length === 1 && /[@.]/.test(names[0] ?? ""))
  if (isHeader) return { names, rows: records.slice(1), hasNames: true }
  return { names: names.map((_, at) => `Column ${at + 1}`), rows: records.slice(0, ROWS_SHOWN), hasNames: false }
}

/** @param {string} text @returns {Beginning} */
function lineBeginning(text) {
  const rows = text
    .split(/\r\n|\r|\n/)
    .filter(line => line !== "")
    .slice(0, ROWS_SHOWN)
  return { names: [], rows: rows.map(row => [row]), hasNames: false }
}

/** The members of a JSON object; null: the text is none. @param {string} text @returns {Record<string, unknown> | null} */
function membersOf(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : null
  } catch {
    return null
  }
}

/** @param {string} text @returns {Beginning} */
function ndjsonBeginning(text) {
  const { rows } = lineBeginning(text)
  const objects = rows.map(([line = ""]) => membersOf(line))
  const names = Object.keys(objects[0] ?? {})
  if (names.length === 0) return { names, rows, hasNames: false }
  return { names, rows: objects.map(members => names.map(name => textOf(members?.[name]))), hasNames: true }
}

/** @param {unknown} value */
const textOf = value => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** The column that most likely has the inputs; -1: none does. @param {Beginning} beginning */
function likelyColumn({ names, rows, hasNames }) {
  const byName = hasNames ? names.findIndex(name => /e-?mail|courriel|correo/i.test(name)) : -1
  if (byName >= 0) return byName
  const byContent = names.findIndex((_, at) => rows.length > 0 && rows.every(cells => (cells[at] ?? "").includes("@")))
  if (byContent >= 0 || !hasNames) return byContent
  return names.findIndex(name => /domain|host|website|url|homepage/i.test(name))
}

/** What names a column for the server: its name, or its number where that is no name of its own. @param {Beginning} beginning @param {number} at */
function columnValue({ names, hasNames }, at) {
  const name = names[at] ?? ""
  const isName =
    hasNames && name.trim() !== "" && !/^\d+$/.test(name) && names.indexOf(name) === names.lastIndexOf(name)
  return isName ? name : String(at + 1)
}

/** @param {string} text */
const excerpt = text => (text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}…` : text)

/** @param {Beginning} beginning @param {number} chosen */
function rowsTable({ names, rows, hasNames }, chosen) {
  const shown = names.slice(0, COLUMNS_SHOWN)
  /** @param {number} at @returns {Record<string, string>} */
  const look = at => (at === chosen ? { class: "chosen" } : {})
  const head = element(
    "thead",
    {},
    element("tr", {}, ...shown.map((name, at) => element("th", { scope: "col", ...look(at) }, excerpt(name) || "…"))),
  )
  const body = element(
    "tbody",
    {},
    ...rows.map(cells =>
      element(
        "tr",
        {},
        ...(shown.length === 0 || !Array.isArray(cells) ? cells : shown.map((_, at) => cells[at] ?? "")).map(
          (cell, at) => element("td", look(at), excerpt(cell)),
        ),
      ),
    ),
  )
  const parts = shown.length > 0 && (hasNames || rows.some(cells => cells.length > 1)) ? [head, body] : [body]
  return element("table", {}, element("caption", { class: "unseen" }, "The first rows of the file"), ...parts)
}

/**
 * @param {HTMLFormElement} list
 * @param {HTMLInputElement} input
 * @param {HTMLElement} region
 * @param {HTMLElement} cost
 */
function prepare(list, input, region, cost) {
  const field = input.closest(".field")
  if (field !== null) list.prepend(field, region)
  field?.append(
    element("p", { class: "hint" }, "You can drop a file here. Its first rows are shown before anything is sent."),
  )
  // The server reads the file while it arrives, so all else comes before it.
  list.addEventListener("formdata", ({ formData }) => {
    const sent = formData.get("file")
    formData.delete("file")
    if (sent !== null) formData.append("file", sent)
  })
  const bytesMax = Number(list.dataset["bytesMax"])
  /** @param {string} name */
  const control = name => list.querySelector(`[name="${name}"]`)
  /** @param {string} name */
  const entered = name => {
    const found = control(name)
    return found instanceof HTMLInputElement || found instanceof HTMLSelectElement ? found.value : ""
  }
  const isHeadless = () => {
    const box = control("headless")
    return box instanceof HTMLInputElement && box.checked
  }
  /** @param {File} chosen */
  const formatOf = chosen => {
    if (entered("format") !== "") return entered("format")
    const ending = /\.(\w+)(?:\.gz)?$/i.exec(chosen.name)?.[1]?.toLowerCase() ?? ""
    return FORMATS[ending] ?? (chosen.type === "text/csv" ? "csv" : "text")
  }

  /** @param {Beginning} beginning @param {number} likely */
  const offerColumns = (beginning, likely) => {
    const old = control("column")
    if (old === null || beginning.names.length === 0) return
    const options = beginning.names.map((name, at) =>
      element("option", { value: columnValue(beginning, at) }, `${at + 1}. ${excerpt(name) || "without a name"}`),
    )
    const select = element("select", { id: "column", name: "column" })
    const described = old.getAttribute("aria-describedby")
    if (described !== null) select.setAttribute("aria-describedby", described)
    select.append(element("option", { value: "" }, "Found by its name"), ...options)
    select.value = likely < 0 ? "" : columnValue(beginning, likely)
    select.addEventListener("change", () => void showFirstRows(select.selectedIndex - 1))
    old.replaceWith(select)
    const hint = list.querySelector("#column-hint")
    if (hint !== null) hint.textContent = "The column with the addresses, domains or websites."
  }

  /** @param {File} chosen @param {string} text */
  const beginningOf = (chosen, text) => {
    const format = formatOf(chosen)
    if (format === "csv") return csvBeginning(text, !isHeadless())
    return format === "ndjson" ? ndjsonBeginning(text) : lineBeginning(text)
  }

  /** @param {Beginning} beginning @param {number} column */
  const drawFirstRows = (beginning, column) => {
    const { names } = beginning
    const name = names.length > 1 && column >= 0 ? `. “${excerpt(names[column] ?? "")}” is checked` : ""
    const words = `The first rows${names.length > 1 ? ` of ${names.length} columns` : ""}${name}:`
    region.replaceChildren(
      element("p", { class: "hint", role: "status" }, words),
      element(
        "section",
        { class: "first-rows", tabindex: "0", "aria-label": "The first rows of the file" },
        rowsTable(beginning, column),
      ),
    )
    region.hidden = false
  }

  let looks = 0
  /** @param {number | null} chosenColumn */
  const showFirstRows = async (chosenColumn = null) => {
    const look = ++looks
    cost.hidden = true
    region.hidden = true
    const chosen = input.files?.[0]
    if (chosen === undefined) return
    if (chosen.size > bytesMax) return say(region, TOO_LARGE)
    const text = await firstText(chosen).catch(() => null)
    if (look !== looks) return
    if (text === null) return say(region, "The file cannot be read.")
    const beginning = beginningOf(chosen, text)
    const column = chosenColumn ?? likelyColumn(beginning)
    if (chosenColumn === null) offerColumns(beginning, column)
    const details = list.querySelector("details")
    if (details !== null && column < 0 && beginning.names.length > 1) details.open = true
    drawFirstRows(beginning, column)
  }

  input.addEventListener("change", () => void showFirstRows())
  for (const name of ["format", "headless"]) control(name)?.addEventListener("change", () => void showFirstRows())
  for (const kind of /** @type {const} */ (["dragover", "drop"]))
    list.addEventListener(kind, event => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      list.classList.toggle("dropping", kind === "dragover")
      if (kind !== "drop" || event.dataTransfer.files.length === 0) return
      input.files = event.dataTransfer.files
      void showFirstRows()
    })
  list.addEventListener("dragleave", () => list.classList.remove("dropping"))

  list.addEventListener("submit", event => {
    event.preventDefault()
    if (list.getAttribute("aria-busy") === "true") return
    const chosen = input.files?.[0]
    if (chosen !== undefined && chosen.size > bytesMax) return say(cost, TOO_LARGE)
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
    cost.replaceChildren(said, bar)
    cost.hidden = false
    list.setAttribute("aria-busy", "true")
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total === 0 ? 0 : loaded / total
      if (loaded === total) said.textContent = "Reading the rows …"
    })
    request.addEventListener("loadend", () => {
      list.removeAttribute("aria-busy")
      if (request.status === 0)
        return say(cost, "The upload was interrupted. Check your connection and the size of the file, and try again.")
      if (request.responseURL.split("?")[0] !== path.split("#")[0] && request.status === 200)
        return location.assign(request.responseURL)
      show(new DOMParser().parseFromString(request.responseText, "text/html"))
    })
    request.open("POST", path)
    request.send(new FormData(list))
  }

  /** Shows what the server says: what the list costs, or what is wrong with it. @param {Document} page */
  const show = page => {
    // An error page has no form, and says in its first sentence what is wrong.
    const fault = page.querySelector(".page .fault") ?? page.querySelector("main .lead")
    const told = page.querySelector("#estimate:not([hidden])")
    if (told === null) return say(cost, fault?.textContent?.trim() ?? "The server did not take the list.")
    cost.replaceChildren(...told.childNodes)
    cost.setAttribute("role", "status")
  }

  /** @param {HTMLElement} place @param {string} words */
  const say = (place, words) => {
    place.replaceChildren(element("p", { class: "fault", role: "alert" }, words))
    place.hidden = false
  }
}
