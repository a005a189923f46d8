/** What a worker tells its supervisor. */
export type WorkerMessage =
  /** It hears now, and asks what it is to do. */
  | { readonly kind: "asks" }
  /** It answers requests on the port. */
  | { readonly kind: "listens"; readonly port: number; readonly address: string; readonly baseUrl: string }
  /** It cannot start and ends; the sentence says why, and what to do about it. */
  | { readonly kind: "fails"; readonly sentence: string }
  /** It made changes that stand in the change log. */
  | { readonly kind: "changed" }

/** What a supervisor tells a worker. */
export type SupervisorMessage =
  /** Where it belongs: its seat, counted from zero, and the port, 0 to pick a free one. */
  | { readonly kind: "begin"; readonly seat: number; readonly port: number }
  /** The lists are to be read anew. */
  | { readonly kind: "reload" }
  /** Whether every line of the log is wanted. */
  | { readonly kind: "detail"; readonly isWanted: boolean }
  /** Another worker made changes: the change log is to be read. */
  | { readonly kind: "look" }
