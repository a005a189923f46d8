/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"

type FoldedRowProps = {
  /** The anchor of the row, which opens it too. */
  readonly id: string
  /** The cells, one element each. */
  readonly row: ComponentChildren
  /** What the row opens for. Null: nothing. */
  readonly children: ComponentChildren
}

/** Rows that open for more, under heads that name the cells; `kind` names their columns in the stylesheet. */
export const FoldedRows = ({ kind, children }: { readonly kind: string; readonly children: ComponentChildren }) => (
  <div class={`folds of-${kind}`}>{children}</div>
)

/** A row of cells in one line, or two on phones. It needs no script: the browser opens it, and so does its anchor. */
export function FoldedRow({ id, row, children }: FoldedRowProps) {
  if (children === null)
    return (
      <div id={id} class="cells">
        {row}
      </div>
    )
  return (
    <details id={id}>
      <summary class="cells">{row}</summary>
      {children}
    </details>
  )
}
