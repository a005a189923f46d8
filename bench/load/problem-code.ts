const MEDIA_TYPE = /^content-type:[ \t]*application\/problem\+json[ \t]*(?:;|\r?$)/im
const CODE = /^[\w.-]{1,64}$/

/** Whether the head of an answer announces a problem for a body (RFC 9457 §3). */
export const announcesProblem = (head: Uint8Array): boolean => MEDIA_TYPE.test(new TextDecoder("latin1").decode(head))

/** The `code` of a problem; null when the text is no JSON object, or has none that is a short name. */
export function problemCode(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text)
    const code = typeof body === "object" && body !== null && "code" in body ? body.code : null
    return typeof code === "string" && CODE.test(code) ? code : null
  } catch (fault) {
    if (fault instanceof SyntaxError) return null
    throw fault
  }
}
