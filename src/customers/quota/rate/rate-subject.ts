/** What is limited apart from everything else, each with what its text begins with. Ids of accounts and keys begin with their kind. */
const KINDS = {
  /** An account, or a publishable key: by its id. */
  caller: "",
  /** A key with a rate of its own: by its id. */
  key: "key ",
  /** A visitor of a page with a publishable key: by the key's id and the client. */
  visitor: "visitor ",
  /** A client without a key: its checks of test addresses, and all of its requests whose input is read. */
  keyless: "keyless ",
  keylessRead: "keyless read ",
  leakReport: "leak report ",
  leakReports: "leak reports",
  freeCheck: "free check ",
  freeCheckStrikes: "free check strikes",
  /** Requests for a sign-in: by the client or a network around it. */
  signIn: "sign-in ",
  signIns: "sign-ins",
  signInsWithPass: "sign-ins with pass",
  /** By the hash of the mailbox. */
  signInMailbox: "sign-in mailbox ",
  signInProof: "sign-in proof ",
  ownListImport: "own list import ",
  ownListRequest: "own list request ",
  feedbackForm: "feedback form ",
} as const

declare const LIMITED: unique symbol

/** Whom a rate limit holds for. */
export type RateSubject = string & { readonly [LIMITED]: true }

/** Names whom a limit of some kind holds for. A limit of all together has a kind of its own: a client that is gone has an empty name. */
export const rateSubject = (kind: keyof typeof KINDS, id = ""): RateSubject => `${KINDS[kind]}${id}` as RateSubject // the only maker of the brand
