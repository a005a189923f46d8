/** A short text that differs when `text` differs: what somebody saw, to tell whether it has changed since. */
export const fingerprint = (text: string): string => Bun.SHA256.hash(text, "hex").slice(0, 16)
