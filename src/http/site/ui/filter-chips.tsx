/** @jsxImportSource preact */

import { formatDate, formatInstant } from "../../../base/time.ts"

/** One thing that a list is filtered by, with a word before it where it needs one, and the path of the list without it. */
export type FilterChip = { readonly name: string; readonly text: string; readonly path: string }

type FilterChipsProps = {
  readonly chips: readonly FilterChip[]
  /** The path of the list without any filter. */
  readonly clearPath: string
}

/** What a list is filtered by, each with a link that removes it. Nothing when there is no filter. */
export function FilterChips({ chips, clearPath }: FilterChipsProps) {
  if (chips.length === 0) return null
  return (
    <p class="filter-chips">
      {chips.map(({ name, text, path }) => (
        <a key={path} class="chip" href={path}>
          <span class="unseen">Remove the filter </span>
          {name} <bdi>{text}</bdi> <span aria-hidden="true">×</span>
        </a>
      ))}
      {chips.length > 1 ? <a href={clearPath}>Clear all</a> : null}
    </p>
  )
}

/** The value of a field for a date or a time (UTC) as people read it. Any other text stays as it is. */
export function readableTime(value: string): string {
  const found = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/.exec(value)
  const hasTime = found?.[1] !== undefined
  const atMs = found === null ? Number.NaN : Date.parse(hasTime ? `${value}Z` : value)
  if (Number.isNaN(atMs)) return value
  return hasTime ? formatInstant(atMs) : formatDate(atMs)
}
