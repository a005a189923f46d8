import type { Answer, Question } from "./question.ts"

/** What one server made of one question. */
export type Reply =
  | {
      readonly kind: "answered"
      readonly answer: Answer
      /** The name that CNAMEs lead to where the server left off; null: the answer is whole. */
      readonly continuesAt: string | null
    }
  /** It said that it cannot or will not tell (SERVFAIL, REFUSED and the like), or what it said cannot be read. */
  | { readonly kind: "failed" }
  /** It said nothing, or nothing can reach it. */
  | { readonly kind: "silent" }

/**
 * Puts one question to one server and waits for the reply. It never rejects. A reply counts only when it comes from the
 * server, to the port that asked, with the id and the question that were sent; anything else is waited past.
 */
export type Exchange = (question: Question, timeoutMs: number) => Promise<Reply>

/** Where a DNS server listens: an IP address, without brackets, and a port. */
export type ServerAddress = { readonly address: string; readonly port: number }
