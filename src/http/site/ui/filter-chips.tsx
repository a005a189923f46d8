/** @jsxImportSource preact */

/** One thing that a list is filtered by, and the path of the list without it. */
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
        <a key={name} class="chip" href={path}>
          <span class="unseen">Remove the filter </span>
          {name}: <bdi>{text}</bdi> <span aria-hidden="true">×</span>
        </a>
      ))}
      {chips.length > 1 ? <a href={clearPath}>Clear all</a> : null}
    </p>
  )
}
