/** What the reader of a format found: raw entries, or why the text is not of that format. */
export type Entries =
  | {
      readonly kind: "entries"
      readonly entries: readonly string[]
      /** Entries of the wrong shape, which have no name to report. */
      readonly misshapen: number
      /** What a curated file says about itself. */
      readonly header?: Header
    }
  | { readonly kind: "refused"; readonly says: string }

/** The header of a curated file. */
export type Header = {
  readonly set: string
  readonly says: string
  readonly origin: string
  readonly licence: string
  readonly date: string
}

/** Where sources stand: repository-relative paths in, contents out. Both throw when there is nothing. */
export type Shelf = {
  /** The text of one file (UTF-8). */
  readonly read: (path: string) => string
  /** The paths of all files below a folder, relative to it, with `/`, in any order. */
  readonly list: (folder: string) => readonly string[]
}
