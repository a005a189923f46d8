/** A checkout with its packages installed. Paths are from its root. */
export type SupplyShelf = {
  /** The text of a file; it throws when there is none. */
  readonly read: (path: string) => string
  readonly exists: (path: string) => boolean
  /** The names in a folder, without those below. */
  readonly names: (folder: string) => readonly string[]
}
