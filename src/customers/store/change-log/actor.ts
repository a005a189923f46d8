/** Who changes something, by the name in the store. */
export const ACTORS = {
  account: "The owner of an account, named by its id.",
  admin: "An administrator, named by the id of their account.",
  operator: "A command on the server, named by the user of the operating system that ran it.",
  leak_reporter: "A service that finds keys in public.",
  server: "The server itself.",
} as const
export type ActorKind = keyof typeof ACTORS

/** By which way a change came, by the name in the store. */
export const SOURCES = {
  dashboard: "The pages of an account.",
  admin_pages: "The pages of administrators.",
  api: "The API, with the key that the entry names.",
  command: "The command line.",
  leak_report: "A report of leaked keys.",
  server: "Work of the server, such as its first start.",
} as const
export type ActSource = keyof typeof SOURCES

/** Who makes a change, and by which way. */
export type Actor = {
  readonly kind: ActorKind
  /** An account id, or the user of the operating system; empty: nobody in particular. */
  readonly id: string
  readonly source: ActSource
  /** The key that the request came with; null: none. */
  readonly keyId: string | null
}

/** The actor of changes that nobody asked for. */
export const SERVER_ACTOR: Actor = { kind: "server", id: "", source: "server", keyId: null }

/** The owner of an account, on its pages. */
export const ownerActor = (accountId: string): Actor => ({
  kind: "account",
  id: accountId,
  source: "dashboard",
  keyId: null,
})
