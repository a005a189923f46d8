/** @jsxImportSource preact */
import { withQuery } from "../links.ts"
import { LinkButton } from "./forms.tsx"

/** One page of a longer list. */
export type ResultPage<T> = {
  readonly rows: readonly T[]
  /** The row after which the next page begins. Null on the last page. */
  readonly lastRow: T | null
}

/** The first `rowsMax` of the rows that were read, of which there are up to `rowsMax + 1`: one more shows that there is a next page. */
export function paginate<T>(rowsRead: readonly T[], rowsMax: number): ResultPage<T> {
  const rows = rowsRead.slice(0, rowsMax)
  return { rows, lastRow: rowsRead.length > rows.length ? (rows.at(-1) ?? null) : null }
}

type PaginationProps = {
  readonly path: string
  /** The query parameters that filter the list. */
  readonly query: Readonly<Record<string, string>>
  /** The cursor of the next page. Null on the last page. */
  readonly after: string | null
  readonly isFirstPage: boolean
}

/** Links to the first and the next page of a list. */
export function Pagination({ path, query, after, isFirstPage }: PaginationProps) {
  if (isFirstPage && after === null) return null
  return (
    <nav class="actions" aria-label="Pages">
      {isFirstPage ? null : <LinkButton path={withQuery(path, query)} label="First page" look="small" />}
      {after === null ? null : (
        <LinkButton path={withQuery(path, { ...query, after })} label="Next page" look="small" />
      )}
    </nav>
  )
}
