import { folded, unescaped } from "./folded-text.ts"

/** What stands on a page, as far as it matters to tell a website from the lack of one. Texts are folded, URLs are absolute. */
export type PageReading = {
  readonly title: string
  /** The text that a visitor sees, in blocks such as headings and paragraphs, in order; the beginning of a long one. */
  readonly blocks: readonly string[]
  /** More text stands there than was taken. */
  readonly isLong: boolean
  /** Where the page takes the visitor: by a refresh, a frame or a script. */
  readonly leadsTo: readonly string[]
  /** What it loads: scripts, styles, pictures and frames. */
  readonly loads: readonly string[]
  readonly linksTo: readonly string[]
  /** It shows or does something: text, a picture, a form, a frame, a script. */
  readonly hasContent: boolean
}

const TITLE_CHARS_MAX = 500
const TEXT_CHARS_MAX = 16_384
const SCRIPT_CHARS_MAX = 8192
const URLS_MAX = 200
/** How many elements, and how many pieces of text, are looked at; a page of more says no more, and each costs a call into our code. */
const ELEMENTS_MAX = 10_000
const TEXTS_MAX = 20_000
const URL_CHARS_MAX = 2048

/** What is within is no text for visitors; a title within a picture is none of the page's. */
const HIDDEN = "script,style,noscript,template,title,textarea,select,svg"
const BLOCKS =
  "address,article,aside,blockquote,body,center,dd,div,dl,dt,fieldset,figure,footer,form,h1,h2,h3,h4,h5,h6,header,li,main,nav,ol,p,pre,section,table,tbody,td,th,tr,ul"
const SHOWN = "img,picture,video,audio,canvas,svg,object,embed,form,input,button,frame,iframe"

/** Where a script sends the visitor, as such pages write it. */
const SENT = /\blocation(?:\.href)?\s*=\s*(["'])([^"'\s]+)\1|\blocation\.(?:replace|assign)\(\s*(["'])([^"'\s]+)\3/g
const REFRESH = /^\s*(?:[\d.]+\s*)?[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)/i

/** Reads a page of HTML, well formed or not. `base` is the URL that it came from. */
export function readPage(html: string, base: string): PageReading {
  const reader = new PageReader(base)
  try {
    reader.rewriter().transform(html)
  } catch (_ending) {
    // It is enough, or what follows can be read in two ways (an element that browsers move about): the page is what came before.
  }
  return reader.reading()
}

/** Ends the reading of a page that has too many elements. */
class Enough extends Error {}

/** Gathers what a page has, with a bound on each part of it. */
class PageReader {
  readonly #base: string
  readonly #leadsTo: string[] = []
  readonly #loads: string[] = []
  readonly #linksTo: string[] = []
  #title = ""
  #isTitled = false
  #inTitle = false
  #hiddenDepth = 0
  #text = ""
  #isLong = false
  #script = ""
  #inScript = false
  #showsMore = false
  #elements = 0
  #texts = 0

  constructor(base: string) {
    this.#base = base
  }

  rewriter(): HTMLRewriter {
    return (
      new HTMLRewriter()
        .onDocument({ text: ({ text }) => this.#take(text) })
        // Before what hides its inside: a picture of SVG is shown, its text is not.
        .on(SHOWN, { element: () => this.#show() })
        .on(HIDDEN, { element: element => this.#hide(element) })
        .on(BLOCKS, { element: element => this.#part(element) })
        .on("br,hr,option", { element: () => this.#break() })
        .on("a[href]", { element: element => this.#note(this.#linksTo, element.getAttribute("href")) })
        .on("[src]", { element: element => this.#note(this.#loads, element.getAttribute("src")) })
        .on("link[href]", { element: element => this.#note(this.#loads, element.getAttribute("href")) })
        .on("iframe[src],frame[src]", { element: element => this.#note(this.#leadsTo, element.getAttribute("src")) })
        .on("meta[http-equiv]", { element: element => this.#refresh(element) })
    )
  }

  reading(): PageReading {
    for (const [, , href, , other] of this.#script.matchAll(SENT)) this.#keep(this.#leadsTo, href ?? other ?? null)
    const blocks = unescaped(this.#text)
      .split("\n")
      .map(folded)
      .filter(block => block !== "")
    return {
      title: folded(unescaped(this.#title)),
      blocks,
      isLong: this.#isLong,
      leadsTo: this.#leadsTo,
      loads: this.#loads,
      linksTo: this.#linksTo,
      hasContent: blocks.length > 0 || this.#showsMore || this.#script.trim() !== "" || this.#leadsTo.length > 0,
    }
  }

  #take(text: string): void {
    this.#bound(++this.#texts, TEXTS_MAX)
    if (this.#inTitle) this.#title += text.slice(0, TITLE_CHARS_MAX - this.#title.length)
    else if (this.#inScript) this.#script += text.slice(0, SCRIPT_CHARS_MAX - this.#script.length)
    else if (this.#hiddenDepth === 0) this.#takeText(text.replace(/\s+/g, " "))
  }

  #takeText(text: string): void {
    const room = TEXT_CHARS_MAX - this.#text.length
    this.#isLong ||= text.length > room
    this.#text += text.slice(0, room)
  }

  #count(): void {
    this.#bound(++this.#elements, ELEMENTS_MAX)
  }

  /** An error thrown here ends the reading. */
  #bound(count: number, max: number): void {
    if (count <= max) return
    this.#isLong = true
    throw new Enough()
  }

  #hide(element: HTMLRewriterTypes.Element): void {
    this.#count()
    const isTitle = element.tagName === "title" && this.#hiddenDepth === 0 && !this.#isTitled
    const isScript = element.tagName === "script"
    this.#hiddenDepth++
    if (isTitle) this.#isTitled = this.#inTitle = true
    if (isScript) {
      this.#inScript = true
      this.#showsMore ||= element.hasAttribute("src")
    }
    element.onEndTag(() => {
      this.#hiddenDepth--
      if (isTitle) this.#inTitle = false
      if (isScript) this.#inScript = false
    })
  }

  #part(element: HTMLRewriterTypes.Element): void {
    this.#count()
    this.#takeText("\n")
    element.onEndTag(() => this.#takeText("\n"))
  }

  #break(): void {
    this.#count()
    this.#takeText("\n")
  }

  #show(): void {
    this.#count()
    this.#showsMore ||= this.#hiddenDepth === 0
  }

  #refresh(element: HTMLRewriterTypes.Element): void {
    if (element.getAttribute("http-equiv")?.toLowerCase() !== "refresh") return
    this.#note(this.#leadsTo, REFRESH.exec(unescaped(element.getAttribute("content") ?? ""))?.[1] ?? null)
  }

  #note(urls: string[], text: string | null): void {
    this.#count()
    this.#keep(urls, text)
  }

  #keep(urls: string[], text: string | null): void {
    if (text === null || urls.length >= URLS_MAX || text.length > URL_CHARS_MAX) return
    const url = URL.parse(unescaped(text), this.#base)
    if (url !== null) urls.push(url.href)
  }
}
