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
/** How many elements and pieces of text are read. Each costs a call from the HTML parser into our code. */
const ELEMENTS_MAX = 10_000
const TEXTS_MAX = 20_000
const URL_CHARS_MAX = 2048

/** Their text is not visible. A title within an SVG image is not the page's. */
const HIDDEN_SELECTOR = "script,style,noscript,template,title,textarea,select,svg"
const BLOCK_SELECTOR =
  "address,article,aside,blockquote,body,center,dd,div,dl,dt,fieldset,figure,footer,form,h1,h2,h3,h4,h5,h6,header,li,main,nav,ol,p,pre,section,table,tbody,td,th,tr,ul"
const VISIBLE_SELECTOR = "img,picture,video,audio,canvas,svg,object,embed,form,input,button,frame,iframe"

/** The redirects by script that parked domains use. */
const SCRIPT_REDIRECT =
  /\blocation(?:\.href)?\s*=\s*(["'])([^"'\s]+)\1|\blocation\.(?:replace|assign)\(\s*(["'])([^"'\s]+)\3/g
const META_REFRESH = /^\s*(?:[\d.]+\s*)?[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)/i

/** Parses a page of HTML, well formed or not. `base` is its URL. */
export function parsePage(html: string, base: string): PageContent {
  const reader = new PageParser(base)
  try {
    reader.rewriter().transform(html)
  } catch (_ending) {
    // A limit was reached, or the parser met an element that browsers would move. The content up to there counts.
  }
  return reader.content()
}

/** Ends the parsing of a page with too many elements. */
class PageLimitReached extends Error {}

/** Collects the parts of a page, each with a bound. */
class PageParser {
  readonly #base: string
  readonly #destinationUrls: string[] = []
  readonly #resourceUrls: string[] = []
  readonly #linkUrls: string[] = []
  #title = ""
  #hasTitle = false
  #inTitle = false
  #hiddenDepth = 0
  #text = ""
  #isTruncated = false
  #script = ""
  #inScript = false
  #hasVisibleElement = false
  #elementCount = 0
  #textCount = 0

  constructor(base: string) {
    this.#base = base
  }

  rewriter(): HTMLRewriter {
    return (
      new HTMLRewriter()
        .onDocument({ text: ({ text }) => this.#addText(text) })
        // Before the hidden elements: an SVG image is visible, its text is not.
        .on(VISIBLE_SELECTOR, { element: () => this.#addVisible() })
        .on(HIDDEN_SELECTOR, { element: element => this.#enterHidden(element) })
        .on(BLOCK_SELECTOR, { element: element => this.#enterBlock(element) })
        .on("br,hr,option", { element: () => this.#addBreak() })
        .on("a[href]", { element: element => this.#addUrl(this.#linkUrls, element.getAttribute("href")) })
        .on("[src]", { element: element => this.#addUrl(this.#resourceUrls, element.getAttribute("src")) })
        .on("link[href]", { element: element => this.#addUrl(this.#resourceUrls, element.getAttribute("href")) })
        .on("iframe[src],frame[src]", {
          element: element => this.#addUrl(this.#destinationUrls, element.getAttribute("src")),
        })
        .on("meta[http-equiv]", { element: element => this.#addRefresh(element) })
    )
  }

  content(): PageContent {
    for (const [, , href, , other] of this.#script.matchAll(SCRIPT_REDIRECT))
      this.#storeUrl(this.#destinationUrls, href ?? other ?? null)
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

  #addText(text: string): void {
    this.#assertBelow(++this.#textCount, TEXTS_MAX)
    if (this.#inTitle) this.#title += text.slice(0, TITLE_CHARS_MAX - this.#title.length)
    else if (this.#inScript) this.#script += text.slice(0, SCRIPT_CHARS_MAX - this.#script.length)
    else if (this.#hiddenDepth === 0) this.#addVisibleText(text.replace(/\s+/g, " "))
  }

  #addVisibleText(text: string): void {
    const room = TEXT_CHARS_MAX - this.#text.length
    this.#isTruncated ||= text.length > room
    this.#text += text.slice(0, room)
  }

  #countElement(): void {
    this.#assertBelow(++this.#elementCount, ELEMENTS_MAX)
  }

  /** Throws if the limit is exceeded, which ends the parsing. */
  #assertBelow(count: number, max: number): void {
    if (count <= max) return
    this.#isTruncated = true
    throw new PageLimitReached()
  }

  #enterHidden(element: HTMLRewriterTypes.Element): void {
    this.#countElement()
    const isTitle = element.tagName === "title" && this.#hiddenDepth === 0 && !this.#hasTitle
    const isScript = element.tagName === "script"
    this.#hiddenDepth++
    if (isTitle) this.#hasTitle = this.#inTitle = true
    if (isScript) {
      this.#inScript = true
      this.#hasVisibleElement ||= element.hasAttribute("src")
    }
    element.onEndTag(() => {
      this.#hiddenDepth--
      if (isTitle) this.#inTitle = false
      if (isScript) this.#inScript = false
    })
  }

  #enterBlock(element: HTMLRewriterTypes.Element): void {
    this.#countElement()
    this.#addVisibleText("\n")
    element.onEndTag(() => this.#addVisibleText("\n"))
  }

  #addBreak(): void {
    this.#countElement()
    this.#addVisibleText("\n")
  }

  #addVisible(): void {
    this.#countElement()
    this.#hasVisibleElement ||= this.#hiddenDepth === 0
  }

  #addRefresh(element: HTMLRewriterTypes.Element): void {
    if (element.getAttribute("http-equiv")?.toLowerCase() !== "refresh") return
    this.#addUrl(
      this.#destinationUrls,
      META_REFRESH.exec(decodeEntities(element.getAttribute("content") ?? ""))?.[1] ?? null,
    )
  }

  #addUrl(urls: string[], text: string | null): void {
    this.#countElement()
    this.#storeUrl(urls, text)
  }

  #storeUrl(urls: string[], text: string | null): void {
    if (text === null || urls.length >= URLS_MAX || text.length > URL_CHARS_MAX) return
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
