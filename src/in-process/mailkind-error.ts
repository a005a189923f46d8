import type { MailkindErrorCode } from "./public-types.d.ts"

/** What a program did wrong, or what is wrong with the lists. The message says what to do, and never holds an address. */
export class MailkindError extends Error {
  override readonly name = "MailkindError"
  readonly code: MailkindErrorCode

  constructor(code: MailkindErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
