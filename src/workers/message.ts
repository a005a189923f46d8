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
  /** Whether new connections go where it was told to steer them. */
  | { readonly kind: "steered"; readonly isDone: boolean }
  /** It leaves and listens no more. */
  | { readonly kind: "closed" }

/** What a supervisor tells a worker. */
export type SupervisorMessage =
  /** Where it belongs: its seat, counted from zero, the port, 0 to pick a free one, and on how many sockets it listens. */
  | { readonly kind: "begin"; readonly seat: number; readonly port: number; readonly listenersCount: number }
  /** The lists are to be read anew. */
  | { readonly kind: "reload" }
  /** Whether every line of the log is wanted. */
  | { readonly kind: "detail"; readonly isWanted: boolean }
  /** Another worker made changes: the change log is to be read. */
  | { readonly kind: "look" }
  /** The system is to give new connections to these of all sockets on the port. */
  | { readonly kind: "steer"; readonly position: number; readonly count: number }
  /** Another server takes the place of this one: it is to have its callers go. */
  | { readonly kind: "leave" }
  /** Nothing can be on its way to it any more: it is to listen no longer. */
  | { readonly kind: "close" }
