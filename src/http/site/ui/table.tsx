/** @jsxImportSource preact */

import { type ComponentChildren, cloneElement, isValidElement, toChildArray, type VNode } from "preact"

/** A column of a table whose rows have one line each. */
export type TableColumn = {
  /** The heading. Empty: the column holds the row's actions. */
  readonly name: string
  /** A text ends in an ellipsis where it is too long; every other cell is as wide as it needs. */
  readonly kind: "text" | "number" | "pill" | "time" | "actions"
  /** Its place where a row has two lines. Absent: the first line for the first column, the second one for others. */
  readonly onPhone?: "first" | "labelled" | "hidden"
}

type TableProps = {
  /** For screen readers. */
  readonly caption: string
  /** Names alone make a plain table, whose cells wrap. Empty: the column holds the row's actions. */
  readonly columns: readonly string[] | readonly TableColumn[]
  /** The names of a plain table's columns of numbers, whose headings stand right too. */
  readonly numbers?: readonly string[]
  /** Rows: `tr` elements, or components that return one, with `th` and `td` elements. An empty cell is displayed as a dash. */
  readonly children: ComponentChildren
}

/**
 * A table of one line a row: the first column is what the row is about, numbers stand right, and a text that is cut has it all as its
 * title. Where there is little room a row has two lines: what it is about with its pill, and the rest below.
 */
export function Table({ caption, columns, numbers = [], children }: TableProps) {
  const described = columns.map(describe)
  const table = (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {described.map(column => (
            <th key={column.name} scope="col" {...classOf(column, numbers.includes(column.name) ? "number" : "")}>
              {column.name === "" ? <span class="unseen">Actions</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {toChildArray(children).map((row, index) => (
          <Row key={index} row={row} columns={described} />
        ))}
      </tbody>
    </table>
  )
  if (typeof columns[0] === "object") return <div class="rows">{table}</div>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="scroll" aria-label={`Table: ${caption}`} tabIndex={0}>
      {table}
    </section>
  )
}

/** A column that says what stands in its cell of a row. */
export type CellColumn<R> = TableColumn & {
  readonly cell: (row: R) => ComponentChildren
  /** Whether it says what the row is about. Absent in all of them: the first does. */
  readonly isHeading?: boolean
}

type RowTableProps<R> = Pick<TableProps, "caption"> & {
  readonly columns: readonly CellColumn<R>[]
  readonly rows: readonly R[]
  /** What the `tr` element of a row has besides. */
  readonly attributesOf?: (row: R) => Readonly<Record<string, string>>
}

/** A table of rows that are alike. */
export function RowTable<R>({ caption, columns, rows, attributesOf = () => ({}) }: RowTableProps<R>) {
  const heading = columns.find(({ isHeading }) => isHeading) ?? columns[0]
  return (
    <Table caption={caption} columns={columns}>
      {rows.map((row, index) => (
        <tr key={index} {...attributesOf(row)}>
          {columns.map(column =>
            column === heading ? (
              <th key={column.name} scope="row">
                {column.cell(row)}
              </th>
            ) : (
              <td key={column.name}>{column.cell(row)}</td>
            ),
          )}
        </tr>
      ))}
    </Table>
  )
}

/** A column, or one of a plain table. */
type DescribedColumn = Omit<TableColumn, "kind"> & { readonly kind: TableColumn["kind"] | null }

const describe = (column: string | TableColumn): DescribedColumn =>
  typeof column === "string" ? { name: column, kind: null, onPhone: "labelled" } : column

type RowProps = {
  readonly row: ReturnType<typeof toChildArray>[number]
  readonly columns: readonly DescribedColumn[]
}

/** A row whose cells have the classes, the titles and the labels that the stylesheet needs. */
function Row({ row, columns }: RowProps) {
  const rendered = isFunctionElement(row) ? row.type(row.props) : row
  if (!isElement(rendered)) return <>{rendered}</>
  const cells = toChildArray(rendered.props.children)
  return cloneElement(
    rendered,
    {},
    cells.map((cell, index) => {
      const column = columns[index]
      return isElement(cell) && column !== undefined ? cloneElement(cell, cellProps(cell, column)) : cell
    }),
  )
}

function cellProps({ props }: ElementWithChildren, column: DescribedColumn) {
  const { kind, name, onPhone } = column
  const text = kind === "text" ? textOf(props.children) : ""
  return {
    ...classOf(column, props.class),
    ...(onPhone === "labelled"
      ? { "data-label": kind === "number" ? unitOf(name, textOf(props.children)) : name }
      : {}),
    ...(text.length > FITTING_LENGTH ? { title: text } : {}),
  }
}

/** The heading of a number as it is read after one: `1 row`, `2 rows`. */
const unitOf = (name: string, number: string): string => (number === "1" ? name.replace(/s\b/, "") : name).toLowerCase()

/** Texts of this length are not cut. */
const FITTING_LENGTH = 12

function classOf({ kind, onPhone }: DescribedColumn, more?: string) {
  const place = onPhone === "first" || onPhone === "hidden" ? `on-phone-${onPhone}` : null
  const names = [...(kind === null ? [] : [`is-${kind}`, place]), more].filter(Boolean).join(" ")
  return names === "" ? {} : { class: names }
}

/** The text of what is rendered, as far as it is no component's. */
function textOf(children: ComponentChildren): string {
  return toChildArray(children)
    .map(child => (isElement(child) ? textOf(child.props.children) : typeof child === "object" ? "" : String(child)))
    .join("")
}

type FunctionElement = VNode & { readonly type: (props: object) => ComponentChildren }

const isFunctionElement = (child: ComponentChildren): child is FunctionElement =>
  isValidElement(child) && typeof child.type === "function"

type ElementWithChildren = VNode<{
  readonly children?: ComponentChildren
  readonly class?: string
  readonly title?: string
  readonly "data-label"?: string
}>

const isElement = (child: ComponentChildren): child is ElementWithChildren =>
  isValidElement(child) && typeof child.type === "string"
