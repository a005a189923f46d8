/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { formatNumber, formatShare } from "./format.ts"

type PageHeadProps = {
  readonly title: ComponentChildren
  /** Displayed at the right, such as a button. */
  readonly action?: ComponentChildren
}

/** The title of a page, with its first action beside it. */
export function PageHead({ title, action }: PageHeadProps) {
  if (action === undefined) return <h1>{title}</h1>
  return (
    <div class="head">
      <h1>{title}</h1>
      {action}
    </div>
  )
}

type PanelProps = {
  readonly title?: ComponentChildren
  /** Displayed beside the title, such as a link to the whole. */
  readonly link?: ComponentChildren
  readonly id?: string
  readonly children: ComponentChildren
}

/** A framed part of a page. */
export function Panel({ title, link, id, children }: PanelProps) {
  return (
    <section class="panel" id={id}>
      {title === undefined ? null : (
        <div class="panel-head">
          <h2>{title}</h2>
          {link}
        </div>
      )}
      {children}
    </section>
  )
}

type Tile = {
  readonly label: string
  readonly value: ComponentChildren
  /** A few words below the number. */
  readonly note?: ComponentChildren
}

/** A row of numbers. */
export function Tiles({ tiles }: { readonly tiles: readonly Tile[] }) {
  return (
    <dl class="tiles">
      {tiles.map(({ label, value, note }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {value}
            {note === undefined ? null : <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Changes above it are told as a multiple. */
const PERCENT_MAX = 300

type ChangeProps = { readonly now: number; readonly before: number; readonly period: string }

/** How much more or less a number is than in the period before. */
export function Change({ now, before, period }: ChangeProps) {
  if (before === 0) return <>none in {period}</>
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return <>as many as in {period}</>
  const size = percent > PERCENT_MAX ? `${formatNumber(Math.round(now / before))} times` : `${Math.abs(percent)}% vs`
  return (
    <>
      <span aria-hidden="true">{percent > 0 ? "▲" : "▼"}</span>
      <span class="unseen">{percent > 0 ? "up" : "down"}</span> {size} {period}
    </>
  )
}

type SegmentedProps = {
  /** For screen readers: what is chosen. */
  readonly label: string
  readonly choices: readonly { readonly label: string; readonly href: string; readonly isCurrent: boolean }[]
}

/** A few choices of which one holds, as links. */
export function Segmented({ label, choices }: SegmentedProps) {
  return (
    <nav class="segmented" aria-label={label}>
      {choices.map(choice => (
        <a key={choice.href} href={choice.href} {...(choice.isCurrent ? { "aria-current": "true" as const } : {})}>
          {choice.label}
        </a>
      ))}
    </nav>
  )
}

/** A share of a whole. `tone` is a class that sets the colour, such as `of-business` or `of-allow`. */
export type Share = { readonly label: string; readonly count: number; readonly tone: string }

type SplitBarProps = {
  readonly label: string
  readonly shares: readonly Share[]
  /** The whole, where the shares are only a part of it. */
  readonly total?: number
}

/** One bar that is divided in proportion to the counts. Each part has its label and count as a title. Empty when all are 0. */
export function SplitBar({ label, shares, total = 0 }: SplitBarProps) {
  const sum = shares.reduce((counted, { count }) => counted + count, 0)
  const starts = shares.map((_, index) => shares.slice(0, index).reduce((sum, { count }) => sum + count, 0))
  return (
    <div class="split">
      <svg role="img" aria-label={label} preserveAspectRatio="none" viewBox={`0 0 ${Math.max(sum, total, 1)} 1`}>
        {shares.map(({ label: name, count, tone }, index) => (
          <rect key={name} class={tone} x={starts[index]} width={count} height="1">
            <title>{`${name}: ${count}`}</title>
          </rect>
        ))}
      </svg>
    </div>
  )
}

/** The same bar, with the counts and shares below it. */
export function ShareTable({ caption, shares }: { readonly caption: string; readonly shares: readonly Share[] }) {
  const total = shares.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <SplitBar label={`${caption}. The table below has the numbers.`} shares={shares} />
      <table class="shares">
        <caption class="unseen">{caption}</caption>
        <tbody>
          {shares.map(({ label, count, tone }) => (
            <tr key={tone}>
              <th scope="row">
                <Swatch tone={tone} />
                {label}
              </th>
              <td class="number">{formatNumber(count)}</td>
              <td class="number because">{formatShare(count, total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

/** The words beside the colours of a chart. */
export function Legend({
  items,
}: {
  readonly items: readonly { readonly label: ComponentChildren; readonly tone: string }[]
}) {
  return (
    <ul class="legend">
      {items.map(({ label, tone }, at) => (
        <li key={at}>
          <Swatch tone={tone} />
          {label}
        </li>
      ))}
    </ul>
  )
}

/** A small square in the colour of a category or recommendation. The word stands beside it. */
export function Swatch({ tone }: { readonly tone: string }) {
  return (
    <svg class={`swatch ${tone}`} viewBox="0 0 9 9" aria-hidden="true">
      <rect width="9" height="9" rx="3" />
    </svg>
  )
}

type EmptyProps = {
  readonly children: ComponentChildren
  /** A button or link that leads on. */
  readonly action?: ComponentChildren
}

/** What stands in place of a table without rows. */
export function Empty({ children, action }: EmptyProps) {
  return (
    <div class="empty">
      <svg
        width="48"
        height="36"
        viewBox="0 0 48 36"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        aria-hidden="true"
      >
        <rect x="1" y="1" width="46" height="34" rx="5" opacity=".35" />
        <path d="M9 12h6M20 12h19M9 18h6M20 18h14M9 24h6M20 24h17" opacity=".55" stroke-linecap="round" />
      </svg>
      <p>{children}</p>
      {action}
    </div>
  )
}

type NoticeProps = {
  /** The colour: that of a recommendation, or none. */
  readonly tone?: "allow" | "review" | "block" | "plain"
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A sentence above the content, with a button at most. */
export function Notice({ tone = "plain", action, children }: NoticeProps) {
  return (
    <section class={`notice ${tone}`}>
      <div>{children}</div>
      {action}
    </section>
  )
}
