/** @jsxImportSource preact */
import type { ComponentChildren, JSX } from "preact"

type FieldProps = {
  /** The field's name in the form, and its id. */
  readonly name: string
  readonly label: string
  /** What to write, in a sentence. */
  readonly hint?: ComponentChildren
  /** What is wrong with what was written; null: nothing. */
  readonly fault?: string | null
}

/** A field for a line of text, with its label, hint and fault. Attributes of `input` go with it. */
export function TextField({ name, label, hint, fault, ...input }: FieldProps & JSX.IntrinsicElements["input"]) {
  return (
    <Labelled name={name} label={label} hint={hint} fault={fault ?? null}>
      <input type="text" {...input} id={name} name={name} {...describedBy(name, hint, fault ?? null)} />
    </Labelled>
  )
}

/** A field for many lines of text. */
export function TextArea({
  name,
  label,
  hint,
  fault,
  value,
  ...area
}: FieldProps & JSX.IntrinsicElements["textarea"] & { readonly value?: string }) {
  return (
    <Labelled name={name} label={label} hint={hint} fault={fault ?? null}>
      <textarea {...area} id={name} name={name} {...describedBy(name, hint, fault ?? null)}>
        {/* A line feed at the start would be taken for the one that may follow the tag (HTML §13.1.2.5). */}
        {/^[\r\n]/.test(value ?? "") ? `\n${value}` : value}
      </textarea>
    </Labelled>
  )
}

type ChoiceProps = FieldProps & {
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly chosen: string
}

/** A choice of one of a few. */
export function Choice({ name, label, hint, fault, options, chosen }: ChoiceProps) {
  return (
    <Labelled name={name} label={label} hint={hint} fault={fault ?? null}>
      <select id={name} name={name} {...describedBy(name, hint, fault ?? null)}>
        {options.map(option => (
          <option key={option.value} value={option.value} selected={option.value === chosen}>
            {option.label}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

type LabelledProps = Required<Pick<FieldProps, "name" | "label">> & {
  readonly hint: ComponentChildren
  readonly fault: string | null
  readonly children: ComponentChildren
}

function Labelled({ name, label, hint, fault, children }: LabelledProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      {fault === null ? null : (
        <p class="fault" id={`${name}-fault`} role="alert">
          {fault}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

function describedBy(name: string, hint: ComponentChildren, fault: string | null) {
  const ids = [...(fault === null ? [] : [`${name}-fault`]), ...(hint === undefined ? [] : [`${name}-hint`])]
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(fault === null ? {} : { "aria-invalid": true }),
  }
}

/** What was done, said above the page's content. */
export function Done({ says }: { readonly says: string | null }) {
  return says === null ? null : (
    <p class="done" role="status">
      {says}
    </p>
  )
}

/** What kept a whole form from being done. */
export function Refused({ says }: { readonly says: string | null }) {
  return says === null ? null : (
    <p class="fault boxed" role="alert">
      {says}
    </p>
  )
}

type ActionProps = {
  readonly path: string
  readonly label: string
  /** Names and values that are sent along. */
  readonly fields?: Readonly<Record<string, string>>
  /** For those who do not see what the button stands beside. */
  readonly about?: string
  readonly isDangerous?: boolean
}

/** A button that is a form of its own. */
export function ActionButton({ path, label, fields = {}, about, isDangerous = false }: ActionProps) {
  return (
    <form class="action" method="post" action={path}>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={isDangerous ? "danger small" : "small"}>
        {label}
        {about === undefined ? null : <span class="unseen"> {about}</span>}
      </button>
    </form>
  )
}

/** An instant, in UTC, as people read it and as programs do. */
export function Instant({ atMs }: { readonly atMs: number }) {
  const iso = new Date(atMs).toISOString()
  return (
    <time class="short" dateTime={iso}>
      {`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}
    </time>
  )
}
