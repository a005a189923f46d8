import FAVICON_BASE64 from "./favicon.txt" with { type: "text" }

/** The mark as an SVG image: an envelope whose flap is a check mark. */
export const MARK_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M6.5 10.5h19v12h-19z" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"/><path d="M10 14.5l5 4.5 11-12" fill="none" stroke="#a5f3c8" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/** The same mark as a file `favicon.ico`, for programs that know no SVG: a PNG image of 16, 32 and 48 pixels each, in base64 in `favicon.txt`. */
export const FAVICON: Uint8Array<ArrayBuffer> = new Uint8Array(Buffer.from(FAVICON_BASE64, "base64"))
