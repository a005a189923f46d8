/** @jsxImportSource preact */
import { withQuery } from "./paths.ts"

/** How many rows a page of a list has. */
export const ROWS_PER_PAGE = 50

/** One page of a longer list. */
export type PageOfRows<T> = {
  readonly rows: readonly T[]
  /** The last row, after which the next page goes on; null: there is no other. */
  readonly last: T | null
}

/** The page that begins with these rows, of which one more was asked for than a page has. */
export function pageOfRows<T>(found: readonly T[]): PageOfRows<T> {
  const rows = found.slice(0, ROWS_PER_PAGE)
  return { rows, last: found.length > rows.length ? (rows.at(-1) ?? null) : null }
}

type Props = {
  readonly path: string
  /** What narrows the list down, by the names of the page's parameters. */
  readonly parameters: Readonly<Record<string, string>>
  /** What the next page goes on after; null: there is none. */
  readonly after: string | null
  readonly isFirst: boolean
}

/** The ways to the other pages of a list. */
export function Pager({ path, parameters, after, isFirst }: Props) {
  if (isFirst && after === null) return null
  return (
    <nav class="actions" aria-label="Pages">
      {isFirst ? null : <a href={withQuery(path, parameters)}>First page</a>}
      {after === null ? null : <a href={withQuery(path, { ...parameters, after })}>Next page</a>}
    </nav>
  )
}
