import type { TokenizerCallbacks } from "htmlparser2"
import { lazy } from "../../base/lazy.ts"
import { decodeEntities, foldText } from "./folded-text.ts"

/** The parts of a page that tell a website from a parked domain. Texts are folded, URLs are absolute. */
export type PageContent = {
  readonly title: string
  /** The visible text in blocks such as headings and paragraphs, in order. A long text is truncated. */
  readonly blocks: readonly string[]
  /** The page has more text, or more elements, than was read. */
  readonly isTruncated: boolean
  /** Where the page leads the visitor by a refresh, a frame or a script. */
  readonly destinationUrls: readonly string[]
  /** The scripts, styles, images and frames that the page loads. */
  readonly resourceUrls: readonly string[]
  readonly linkUrls: readonly string[]
  /** The page has a text, an image, a form, a frame or a script. */
  readonly hasContent: boolean
}

const TITLE_CHARS_MAX = 500
const TEXT_CHARS_MAX = 16_384
const SCRIPT_CHARS_MAX = 8192
const URLS_MAX = 200
const URL_CHARS_MAX = 2048
/** How many elements are read, and how many tags, attributes, texts and comments. Each costs up to a microsecond. */
const ELEMENTS_MAX = 10_000
const TOKENS_MAX = 60_000

/** Their text is not visible. */
const HIDDEN = new Set("script style noscript template title textarea select svg".split(" "))
const BLOCKS = new Set(
  "address article aside blockquote body center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header li main nav ol p pre section table tbody td th tr ul".split(
    " ",
  ),
)
const BREAKS = new Set(["br", "hr", "option"])
const READ_ATTRIBUTES = new Set(["src", "href", "content", "http-equiv"])
const VISIBLE = new Set("img picture video audio canvas svg object embed form input button frame iframe".split(" "))

/** The redirects by script that parked domains use. */
const SCRIPT_REDIRECT =
  /\blocation(?:\.href)?\s*=\s*(["'])([^"'\s]+)\1|\blocation\.(?:replace|assign)\(\s*(["'])([^"'\s]+)\3/g
const META_REFRESH = /^\s*(?:[\d.]+\s*)?[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)/i

/** The parser decodes a table of entities when it is loaded, which takes 5 ms, so the first page does that and not the start. */
const htmlParser = lazy(() => require("htmlparser2") as typeof import("htmlparser2"))

/** Parses a page of HTML, well formed or not. `base` is its URL. Takes time in proportion to the page, whatever it contains. */
export function parsePage(html: string, base: string): PageContent {
  const reader = new PageParser(html, base)
  const tokenizer = new (htmlParser().Tokenizer)({ decodeEntities: false }, reader)
  try {
    tokenizer.write(html)
    tokenizer.end()
  } catch (ending) {
    if (!(ending instanceof PageLimitReached)) throw ending
  }
  return reader.content()
}

/** Ends the parsing of a page with too many elements or tokens. Its content up to there counts. */
class PageLimitReached extends Error {}

/**
 * Collects the parts of a page, each with a bound, from its tokens. It holds no stack of open elements: a page could make every
 * stray end tag search it.
 */
class PageParser implements TokenizerCallbacks {
  readonly #html: string
  readonly #base: string
  readonly #destinationUrls: string[] = []
  readonly #resourceUrls: string[] = []
  readonly #linkUrls: string[] = []
  /** How many elements of each hidden kind are open. */
  readonly #hiddenCounts = new Map<string, number>()
  #hiddenDepth = 0
  #title = ""
  #hasTitle = false
  #text = ""
  #isTruncated = false
  #script = ""
  #hasVisibleElement = false
  #elementCount = 0
  #tokenCount = 0
  #tag = ""
  #attributes: Record<string, string> = {}
  #attribute = ""
  /** The element whose raw text is read: the page's title or a script. */
  #rawText: "title" | "script" | null = null

  constructor(html: string, base: string) {
    this.#html = html
    this.#base = base
  }

  onopentagname(start: number, end: number): void {
    this.#countToken()
    this.#tag = this.#html.slice(start, end).toLowerCase()
    this.#attributes = {}
  }

  onattribname(start: number, end: number): void {
    this.#countToken()
    this.#attribute = this.#html.slice(start, end).toLowerCase()
    // The first attribute of a name counts (HTML standard, "attribute name state").
    if (Object.hasOwn(this.#attributes, this.#attribute)) this.#attribute = ""
    else if (READ_ATTRIBUTES.has(this.#attribute)) this.#attributes[this.#attribute] = ""
  }

  onattribdata(start: number, end: number): void {
    if (READ_ATTRIBUTES.has(this.#attribute)) this.#attributes[this.#attribute] = this.#html.slice(start, end)
  }

  onopentagend(): void {
    this.#openElement()
  }

  onselfclosingtag(): void {
    this.#openElement()
    // Only foreign elements close themselves (HTML standard, "self-closing start tag").
    if (this.#tag === "svg") this.#leaveHidden("svg")
  }

  onclosetag(start: number, end: number): void {
    this.#countToken()
    const tag = this.#html.slice(start, end).toLowerCase()
    if (BLOCKS.has(tag)) this.#addVisibleText("\n")
    if (HIDDEN.has(tag)) this.#leaveHidden(tag)
  }

  ontext(start: number, end: number): void {
    this.#countToken()
    const read = (charsMax: number) => this.#html.slice(start, Math.min(end, start + charsMax))
    if (this.#rawText === "title") this.#title += read(TITLE_CHARS_MAX - this.#title.length)
    else if (this.#rawText === "script") this.#script += read(SCRIPT_CHARS_MAX - this.#script.length)
    else if (this.#hiddenDepth === 0) this.#addVisibleText(this.#html.slice(start, end).replace(/\s+/g, " "))
  }

  oncomment(): void {
    this.#countToken()
  }

  oncdata(): void {
    this.#countToken()
  }

  ondeclaration(): void {
    this.#countToken()
  }

  onprocessinginstruction(): void {
    this.#countToken()
  }

  isInForeignContext(): boolean {
    return (this.#hiddenCounts.get("svg") ?? 0) > 0
  }

  onattribend(): void {
    this.#attribute = ""
  }

  onattribentity(): void {
    // The tokenizer decodes no character references here.
  }

  ontextentity(): void {
    // As above.
  }

  onend(): void {
    // The content is read when the tokenizer returns.
  }

  content(): PageContent {
    for (const [, , href, , other] of this.#script.matchAll(SCRIPT_REDIRECT))
      this.#storeUrl(this.#destinationUrls, href ?? other)
    const blocks = decodeEntities(this.#text)
      .split("\n")
      .map(foldText)
      .filter(block => block !== "")
    return {
      title: foldText(decodeEntities(this.#title)),
      blocks,
      isTruncated: this.#isTruncated,
      destinationUrls: this.#destinationUrls,
      resourceUrls: this.#resourceUrls,
      linkUrls: this.#linkUrls,
      hasContent:
        blocks.length > 0 || this.#hasVisibleElement || this.#script.trim() !== "" || this.#destinationUrls.length > 0,
    }
  }

  #openElement(): void {
    this.#assertBelow(++this.#elementCount, ELEMENTS_MAX)
    const tag = this.#tag
    const { src, href, content, "http-equiv": pragma } = this.#attributes
    if (VISIBLE.has(tag)) this.#hasVisibleElement ||= this.#hiddenDepth === 0
    if (BLOCKS.has(tag) || BREAKS.has(tag)) this.#addVisibleText("\n")
    if (tag === "a") this.#storeUrl(this.#linkUrls, href)
    if (tag === "link") this.#storeUrl(this.#resourceUrls, href)
    if (tag === "iframe" || tag === "frame") this.#storeUrl(this.#destinationUrls, src)
    this.#storeUrl(this.#resourceUrls, src)
    if (tag === "meta" && pragma?.toLowerCase() === "refresh")
      this.#storeUrl(this.#destinationUrls, META_REFRESH.exec(decodeEntities(content ?? ""))?.[1])
    if (HIDDEN.has(tag)) this.#enterHidden(tag)
  }

  #enterHidden(tag: string): void {
    if (tag === "title" && this.#hiddenDepth === 0 && !this.#hasTitle) {
      this.#hasTitle = true
      this.#rawText = "title"
    }
    if (tag === "script") {
      this.#rawText = "script"
      this.#hasVisibleElement ||= this.#attributes["src"] !== undefined
    }
    this.#hiddenCounts.set(tag, (this.#hiddenCounts.get(tag) ?? 0) + 1)
    this.#hiddenDepth++
  }

  #leaveHidden(tag: string): void {
    const count = this.#hiddenCounts.get(tag) ?? 0
    if (count === 0) return
    this.#hiddenCounts.set(tag, count - 1)
    this.#hiddenDepth--
    if (tag === this.#rawText) this.#rawText = null
  }

  #addVisibleText(text: string): void {
    const room = TEXT_CHARS_MAX - this.#text.length
    this.#isTruncated ||= text.length > room
    this.#text += text.slice(0, room)
  }

  #countToken(): void {
    this.#assertBelow(++this.#tokenCount, TOKENS_MAX)
  }

  /** Throws if the limit is exceeded, which ends the parsing. */
  #assertBelow(count: number, max: number): void {
    if (count <= max) return
    this.#isTruncated = true
    throw new PageLimitReached()
  }

  #storeUrl(urls: string[], text: string | undefined): void {
    if (text === undefined || urls.length >= URLS_MAX || text.length > URL_CHARS_MAX) return
    const url = URL.parse(decodeEntities(text), this.#base)
    if (url !== null) urls.push(url.href)
  }
}

/** How many bytes are searched for the character set, as in browsers (HTML standard, "prescan a byte stream"). */
const PRESCAN_BYTES = 1024

const HEADER_CHARSET = /charset\s*=\s*["']?([\w.:-]+)/i
const META_CHARSET = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i

/** The text of a page, by the character set of its byte order mark, its header or its meta element. The default is UTF-8, also for an unknown one. */
export function decodePage(bytes: Uint8Array, contentType: string | null): string {
  const named =
    byteOrderMarkCharset(bytes) ??
    HEADER_CHARSET.exec(contentType ?? "")?.[1] ??
    META_CHARSET.exec(Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString("latin1"))?.[1]
  return createDecoder(named ?? "utf-8").decode(bytes)
}

function byteOrderMarkCharset(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8"
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined
}

function createDecoder(label: string): { readonly decode: (bytes: Uint8Array) => string } {
  try {
    return new TextDecoder(label)
  } catch (unknownLabel) {
    if (unknownLabel instanceof RangeError || unknownLabel instanceof TypeError) return new TextDecoder()
    throw unknownLabel
  }
}
