/** @jsxImportSource preact */
import { withQuery } from "../links.ts"

/** How many rows a page of a list has. */
export const ROWS_PER_PAGE = 50

/** One page of a longer list. */
export type ResultPage<T> = {
  readonly rows: readonly T[]
  /** The last row, after which the next page goes on; null: there is no other. */
  readonly lastRow: T | null
}

/** The page that begins with these rows, of which one more was asked for than a page has. */
export function paginate<T>(found: readonly T[]): ResultPage<T> {
  const rows = found.slice(0, ROWS_PER_PAGE)
  return { rows, lastRow: found.length > rows.length ? (rows.at(-1) ?? null) : null }
}

type PaginationProps = {
  readonly path: string
  /** What narrows the list down, by the names of the page's parameters. */
  readonly query: Readonly<Record<string, string>>
  /** What the next page goes on after; null: there is none. */
  readonly after: string | null
  readonly isFirstPage: boolean
}

/** The ways to the other pages of a list. */
export function Pagination({ path, query, after, isFirstPage }: PaginationProps) {
  if (isFirstPage && after === null) return null
  return (
    <nav class="actions" aria-label="Pages">
      {isFirstPage ? null : <a href={withQuery(path, query)}>First page</a>}
      {after === null ? null : <a href={withQuery(path, { ...query, after })}>Next page</a>}
    </nav>
  )
}
