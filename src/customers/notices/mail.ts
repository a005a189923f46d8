import { createHash } from "node:crypto"
import { type Letter, letterText } from "./letter.ts"
import { letterHtml } from "./letter-html.tsx"
import type { Mail } from "./mailer.ts"
import type { Envelope } from "./outbox.ts"

/** A letter with what stands on its envelope. */
export function mailOf(letter: Letter, header: Pick<Mail, "from" | "to" | "messageId" | "dateMs">): Mail {
  return { ...header, subject: letter.subject, text: letterText(letter), html: letterHtml(letter) }
}

/** The message id of what lies in the outbox: always the same, and not to be guessed, since an account's id is not. */
export function messageIdOf({ accountId, notice, subject }: Envelope, from: string): string {
  const hash = createHash("sha256").update(JSON.stringify([accountId, notice, subject]))
  return `${hash.digest("hex").slice(0, 32)}@${domainOf(from)}`
}

/** The domain of a sender's address, be it bare or behind a name and in angle brackets. */
export function domainOf(from: string): string {
  return from.slice(from.lastIndexOf("@") + 1).replace(/>\s*$/, "")
}
