/** The SHA-256 of a content, in hexadecimal digits. */
export const sha256Hex = (content: string | Uint8Array): string => Bun.SHA256.hash(content, "hex")

/** A short text that differs when the content does: it names what somebody saw or cached, to tell whether it has changed since. */
export const fingerprint = (content: string | Uint8Array): string => sha256Hex(content).slice(0, 16)
